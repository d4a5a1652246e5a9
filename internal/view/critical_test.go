package view

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// meshRun makes threads that meet in changing groups, now and then with something of their own
// between two meetings, or inside of a part.
func meshRun(t *testing.T, r *rand.Rand) *profile.Profile {
	p := profile.New(profile.Meta{ClockUnit: "ns"})
	p.AddNode(profile.Node{Image: profile.None, Function: profile.None})
	for range 3 {
		p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	}
	p.AddSection(profile.Section{Kind: profile.SectionJoin, EndNode: profile.None})
	threads := 2 + r.IntN(4)
	clock := make([]uint64, threads)
	for i := range threads {
		parent := profile.ThreadID(profile.None)
		if i > 0 {
			parent = profile.ThreadID(r.IntN(i))
			clock[i] = clock[parent] + uint64(r.IntN(6))
			clock[parent] = clock[i] // it goes on then
		}
		p.AddThread(profile.Thread{Parent: parent, Entry: profile.None, Start: clock[i]})
	}
	for range 1 + r.IntN(10) {
		in := &profile.Instance{Section: profile.SectionID(r.IntN(2))}
		end := uint64(0)
		for i := range threads {
			if r.IntN(4) == 0 {
				continue
			}
			start := clock[i] + uint64(r.IntN(3)*r.IntN(4))
			arrive := start + uint64(r.IntN(30))
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Start: start, Arrive: arrive})
			if arrive > start+3 && r.IntN(3) == 0 {
				put(t, p, &profile.Instance{Section: 2,
					Parts: []profile.Part{{Thread: profile.ThreadID(i), Start: start + 1, Arrive: start + 2, Release: start + 2}}})
			}
			end = max(end, arrive)
		}
		if len(in.Parts) == 0 {
			continue
		}
		for k := range in.Parts {
			in.Parts[k].Release = end + uint64(r.IntN(3))
			clock[in.Parts[k].Thread] = in.Parts[k].Release
		}
		put(t, p, in)
	}
	if r.IntN(2) == 0 {
		joinAll(t, p, r, clock)
	}
	return p
}

// joinAll has thread 0 wait for the ends of those that it made, and go on.
func joinAll(t *testing.T, p *profile.Profile, r *rand.Rand, clock []uint64) {
	in, end := &profile.Instance{Section: 3}, clock[0]
	for i, th := range p.Tables().Threads {
		if th.Parent == 0 {
			arrive := clock[i] + uint64(r.IntN(20))
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Start: clock[i], Arrive: arrive})
			end = max(end, arrive+uint64(r.IntN(3)))
		}
	}
	for k := range in.Parts {
		in.Parts[k].Release = max(end, in.Parts[k].Arrive)
	}
	put(t, p, in)
	put(t, p, &profile.Instance{Section: 2, Parts: []profile.Part{{Thread: 0, Start: end, Arrive: end + 5, Release: end + 5}}})
}

// A thread that made others and waits for their ends is not on the path meanwhile.
func TestTheCriticalPathGoesThroughJoins(t *testing.T) {
	p := profile.New(profile.Meta{ClockUnit: "ns"})
	p.AddNode(profile.Node{Image: profile.None, Function: profile.None})
	p.AddSection(profile.Section{Kind: profile.SectionSerial, EndNode: profile.None})
	p.AddSection(profile.Section{Kind: profile.SectionJoin, EndNode: profile.None})
	for i := range 3 {
		p.AddThread(profile.Thread{Parent: profile.ThreadID(min(i, 1) - 1), Entry: profile.None, Start: uint64(min(i, 1)) * 100})
	}
	put(t, p, &profile.Instance{Section: 0, Parts: []profile.Part{{Thread: 0, Start: 0, Arrive: 100, Release: 100}}})
	put(t, p, &profile.Instance{Section: 1, Parts: []profile.Part{
		{Thread: 1, Start: 100, Arrive: 300, Release: 910}, {Thread: 2, Start: 100, Arrive: 900, Release: 910}}})
	put(t, p, &profile.Instance{Section: 0, Parts: []profile.Part{{Thread: 0, Start: 910, Arrive: 1000, Release: 1000}}})
	var got []step
	for _, s := range build(t, p).critical(p.Tables()) {
		got = append(got, step{from: s.from, to: s.to, thread: s.thread, kind: s.kind})
	}
	want := []step{{from: 0, to: 100}, {from: 100, to: 900, thread: 2}, {from: 900, to: 910, kind: stepRelease}, {from: 910, to: 1000}}
	if !slices.Equal(got, want) {
		t.Errorf("the path is %+v, want %+v", got, want)
	}
}

// The path covers the run without a gap, and every change of thread has its reason: a thread that
// waited goes to the one that came last, when that came; a thread before its first part to the one
// that made it.
func TestTheCriticalPathHasReasons(t *testing.T) {
	for seed := range uint64(500) {
		p := meshRun(t, rand.New(rand.NewPCG(seed, 9)))
		x := build(t, p)
		if x.parts == 0 {
			continue
		}
		steps := x.critical(p.Tables())
		if len(steps) == 0 || steps[0].from != x.from {
			t.Fatalf("seed %d: the path is %v", seed, steps)
		}
		for i := range steps {
			s := &steps[i]
			if s.from >= s.to || i > 0 && steps[i-1].to != s.from {
				t.Fatalf("seed %d: step %d from %d to %d after %v", seed, i, s.from, s.to, steps[max(i-1, 0)])
			}
			checkStep(t, p, s)
			if i > 0 && steps[i-1].thread != s.thread {
				checkChange(t, p, &steps[i-1], s)
			}
		}
	}
}

// partOf finds a thread's part of an instance.
func partOf(t *testing.T, p *profile.Profile, section, seq, thread int32) (*profile.Instance, *profile.Part) {
	t.Helper()
	in, err := p.Instance(profile.SectionID(section), int(seq))
	if err != nil {
		t.Fatal(err)
	}
	for k := range in.Parts {
		if in.Parts[k].Thread == profile.ThreadID(thread) {
			return in, &in.Parts[k]
		}
	}
	t.Fatalf("thread %d took no part in section %d, instance %d", thread, section, seq)
	return nil, nil
}

// checkStep holds a step against what the thread did.
func checkStep(t *testing.T, p *profile.Profile, s *step) {
	t.Helper()
	if s.kind == stepUnknown || s.section < 0 {
		return
	}
	_, part := partOf(t, p, s.section, s.seq, s.thread)
	lo, hi := part.Start, part.Arrive
	if s.kind == stepRelease {
		lo, hi = part.Arrive, part.Release
	}
	if s.from < lo || s.to > hi {
		t.Fatalf("step %+v is not within %d to %d", s, lo, hi)
	}
}

// checkChange holds that the path may change from one thread to another: by steps that take no
// time, each from one that waited to the last that came, or from a thread that began to the one
// that made it.
func checkChange(t *testing.T, p *profile.Profile, before, after *step) {
	t.Helper()
	at := after.from
	reached := map[profile.ThreadID]bool{profile.ThreadID(after.thread): true}
	if after.kind == stepRelease && after.section >= 0 {
		in, _ := partOf(t, p, after.section, after.seq, after.thread)
		last := slices.MaxFunc(in.Parts, func(a, b profile.Part) int { return int(a.Arrive) - int(b.Arrive) })
		if last.Arrive == at {
			reached[last.Thread] = true
		}
	}
	for range p.Tables().Threads {
		for i, th := range p.Tables().Threads {
			if reached[profile.ThreadID(i)] && th.Start == at && th.Parent >= 0 {
				reached[th.Parent] = true
			}
		}
		p.ScanParts(func(in *profile.Instance) error {
			last := uint64(0)
			for k := range in.Parts {
				last = max(last, in.Parts[k].Arrive)
			}
			for k := range in.Parts {
				th := in.Parts[k].Thread
				if in.Section == 3 && in.Parts[k].Arrive == at && last == at && reached[p.Tables().Threads[th].Parent] {
					reached[th] = true
				}
				for m := range in.Parts {
					waits, came := &in.Parts[k], &in.Parts[m]
					if reached[waits.Thread] && waits.Arrive <= at && waits.Release >= at && came.Arrive == at && last == at {
						reached[came.Thread] = true
					}
				}
			}
			return nil
		})
	}
	if !reached[profile.ThreadID(before.thread)] {
		t.Fatalf("the path goes from %+v to %+v for no reason", before, after)
	}
}

// What is told of a stretch adds up to it, however many steps there are.
func TestTheCriticalPathAddsUp(t *testing.T) {
	x := build(t, fixture(t, 8, 600))
	steps := x.critical(fixture(t, 8, 1).Tables())
	for _, w := range [][2]uint64{{x.from, x.to}, {5000, 9000}, {5001, 5002}, {x.to / 2, x.to}} {
		c := criticalIn(steps, w[0], w[1])
		if sum := c.Work + c.Release + c.Unknown; sum > float64(w[1]-w[0]) || w[1] <= steps[len(steps)-1].to && sum != float64(w[1]-w[0]) {
			t.Errorf("%v: %v of %d", w, sum, w[1]-w[0])
		}
		if len(c.Thread) > mostSteps || len(c.Thread) != len(c.Begin) || len(c.Thread) != len(c.Kind) {
			t.Errorf("%v: %d steps are listed", w, len(c.Thread))
		}
		for k := 1; k < len(c.Begin); k++ {
			if c.Begin[k] < c.End[k-1] {
				t.Fatalf("%v: step %d begins at %d, before %d", w, k, c.Begin[k], c.End[k-1])
			}
		}
	}
	if c := criticalIn(steps, x.from, x.to); !c.Thinned || c.Steps <= mostSteps || len(c.Sections) == 0 || c.Sections[0].ID != 0 {
		t.Errorf("%d steps, thinned %v, sections %v", c.Steps, c.Thinned, c.Sections)
	}
}

// In the fixture the last thread comes last everywhere: the path never leaves it.
func TestTheCriticalPathFollowsTheLast(t *testing.T) {
	p := fixture(t, 6, 5)
	x := build(t, p)
	for _, s := range x.critical(p.Tables()) {
		if s.kind == stepWork && s.section == 0 && s.thread != 5 {
			t.Errorf("%+v: thread 5 has most to do", s)
		}
	}
}
