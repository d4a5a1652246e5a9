package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// slowSweep looks at every unit of time by itself.
func slowSweep(spans []span, cores int, run float64) *timeline {
	out := &timeline{cores: cores, flows: map[flowKey]*flow{}, awaited: map[awaits]float64{}}
	first, last := uint64(math.MaxUint64), uint64(0)
	for _, s := range spans {
		first, last = min(first, s.lo), max(last, s.hi, s.end)
	}
	for at := first; at < last; at++ {
		current := map[profile.ThreadID]*span{}
		order := slices.Clone(spans)
		slices.SortFunc(order, func(a, b span) int { return compareSpans(&a, &b) })
		for i, s := range order {
			if s.lo <= at && at < max(s.hi, s.end) {
				current[s.thread] = &order[i]
			}
		}
		rate := func(s *span) float64 {
			if at >= s.hi {
				return 0
			}
			return min(1, s.useful/float64(s.hi-s.lo))
		}
		running, waiting := 0.0, 0.0
		for _, s := range current {
			running, waiting = running+rate(s), waiting+1-rate(s)
		}
		have := max(float64(cores), running)
		share, rest := 1.0, have-running-waiting
		if rest < 0 {
			share, rest = (have-running)/waiting, 0
		}
		out.total += have
		if len(current) == 0 {
			out.nobody += rest
		}
		runs, idle := map[profile.SectionID]float64{}, map[profile.SectionID]float64{}
		for _, s := range current {
			runs[s.section] += rate(s)
			if at >= s.hi {
				idle[s.section] += share
			}
		}
		for who, x := range idle {
			for whom, r := range runs {
				if runs[who] == 0 && r > 0 {
					out.awaited[awaits{who, whom}] += x * r / running
				}
			}
		}
		for _, s := range current {
			k := flowKey{s.section, s.thread}
			if out.flows[k] == nil {
				out.flows[k] = &flow{}
			}
			f := out.flows[k]
			f.busy, f.absent = f.busy+rate(s), f.absent+rest/float64(len(current))
			switch {
			case s.opening:
				f.opening += share * (1 - rate(s))
			case at >= s.hi:
				f.idle += share
			default:
				f.held += share * (1 - rate(s))
			}
		}
	}
	out.finish(run, float64(last-min(first, last)))
	return out
}

func randomSpans(r *rand.Rand) []span {
	out := make([]span, 1+r.IntN(12))
	for i := range out {
		lo := r.Uint64N(40)
		hi := lo + r.Uint64N(20)
		out[i] = span{thread: profile.ThreadID(r.IntN(5)), section: profile.SectionID(r.IntN(3)), lo: lo, hi: hi,
			end: hi + r.Uint64N(10), useful: r.Float64() * float64(hi-lo)}
		if r.IntN(4) == 0 {
			out[i].end, out[i].useful, out[i].opening = hi, 0, true
		}
	}
	return out
}

func TestSweepIsTheSlowOne(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		spans, cores := randomSpans(r), 1+r.IntN(6)
		got, want := sweep(byBegin(spans), cores, 80), slowSweep(spans, cores, 80)
		near := func(what string, a, b float64) {
			if math.Abs(a-b) > 1e-9 {
				t.Fatalf("seed %d: %s: %v, want %v", seed, what, a, b)
			}
		}
		near("total", got.total, want.total)
		near("nobody", got.nobody, want.nobody)
		for k, x := range want.awaited {
			near(fmt.Sprint(k, " awaited"), got.awaited[k], x)
		}
		near("pairs that await", float64(len(got.awaited)), float64(len(want.awaited)))
		sum := got.nobody
		for k, w := range want.flows {
			g := got.flows[k]
			if g == nil {
				g = &flow{}
			}
			near(fmt.Sprint(k, " busy"), g.busy, w.busy)
			near(fmt.Sprint(k, " held"), g.held, w.held)
			near(fmt.Sprint(k, " idle"), g.idle, w.idle)
			near(fmt.Sprint(k, " opening"), g.opening, w.opening)
			near(fmt.Sprint(k, " absent"), g.absent, w.absent)
			sum += g.busy + g.held + g.idle + g.opening + g.absent
		}
		near("sum of all flows", sum, got.total)
	}
}

// checkIdentity holds an account against what it promises.
func checkIdentity(t *testing.T, l *Loss) {
	t.Helper()
	sum, time := 0.0, 0.0
	for i := range l.Terms {
		term := &l.Terms[i]
		sum, time = sum+term.Share, time+term.Time
		places := 0.0
		for k, p := range term.Places {
			places += p.Share
			if p.Time < 0 || k > 0 && p.Time > term.Places[k-1].Time || p.File == "" && p.Function == "" &&
				p.Address == "" && p.Image == "" && p.Why == "" && p.Section < 0 {
				t.Errorf("%s: place %+v", term.Name, p)
			}
		}
		if math.Abs(places-term.Share) > 1e-9 || !(term.Share >= 0 && term.Share <= 1+1e-9) {
			t.Errorf("%s: share %v, of its places %v", term.Name, term.Share, places)
		}
	}
	if l.CoreTime > 0 && math.Abs(sum-1) > 1e-9 || math.Abs(time-l.CoreTime) > 1e-9*l.CoreTime {
		t.Errorf("shares add up to %v, times to %v of %v", sum, time, l.CoreTime)
	}
	e := l.Efficiency
	if product := e.LoadBalance * e.Serialisation * e.Transfer; math.Abs(product-e.Parallel) > 1e-9 {
		t.Errorf("efficiencies %+v: the product is %v", e, product)
	}
}

// randomLoss makes a profile at random, hostile ones among them: parts that overlap, costs beyond all
// times, work that is in no section.
func randomLoss(t *testing.T, seed uint64) *profile.Profile {
	t.Helper()
	kinds := []string{profile.KindLockWait, profile.KindSpinWait, profile.KindSleep, profile.KindOffCPU, "l1d-miss", "unheard-of"}
	r := rand.New(rand.NewPCG(seed, 4))
	meta := profile.Meta{RunTime: r.Uint64N(200), ClockUnit: "cycles", Cores: r.IntN(9), CoreTime: r.Uint64N(2000), Complete: true,
		NodeTime: []string{"visits", "stored"}[r.IntN(2)]}
	p := profile.New(meta)
	file := p.AddFile(profile.File{Path: "main.c"})
	for i, name := range []string{"work", "pthread_mutex_lock"} {
		fn := p.AddFunction(profile.Function{Name: name, Image: profile.None, File: file, Line: int32(i)})
		p.AddNode(profile.Node{Image: profile.None, Addr: uint64(i), LastAddr: uint64(i), Instrs: 3, Function: fn,
			Frames: []profile.Frame{{File: file, Line: int32(10 + i), Function: name}}})
		p.AddEdge(profile.Edge{From: 0, To: profile.NodeID(i)})
	}
	for i, k := range kinds {
		p.AddKind(profile.NewKind(profile.Measured, k))
		p.AddEvent(profile.Event{Kind: int32(i), Node: profile.NodeID(i % 2), Addr: uint64(i + 1)})
	}
	for range 3 {
		p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: 0})
	}
	for range 5 {
		p.AddThread(profile.Thread{})
	}
	for range r.IntN(8) {
		in := &profile.Instance{Section: profile.SectionID(r.IntN(3))}
		for _, th := range r.Perm(5)[:1+r.IntN(4)] {
			start := r.Uint64N(150)
			arrive := start + r.Uint64N(50)
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(th), Start: start, Arrive: arrive, Release: arrive + r.Uint64N(20),
				LockWait: r.Uint64N(60), OffCPU: r.Uint64N(60), Entry: profile.None, Exit: profile.None})
		}
		for part := range in.Parts {
			in.Edges = append(in.Edges, profile.Count{Row: 1, Part: int32(part), N: r.Uint64N(30)})
			in.Times = append(in.Times, profile.Count{Row: 1, Part: int32(part), N: r.Uint64N(30)})
			for e := range kinds {
				if r.IntN(2) == 0 {
					in.Costs = append(in.Costs, profile.Count{Row: int32(e), Part: int32(part), N: r.Uint64() >> r.UintN(64)})
				}
			}
		}
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestLossAddsUp(t *testing.T) {
	for seed := range uint64(300) {
		p := randomLoss(t, seed)
		meta := p.Meta()
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkIdentity(t, res.Loss)
		if least := float64(res.Loss.Cores) * float64(meta.RunTime); res.Loss.CoreTime < least*(1-1e-9) {
			t.Errorf("seed %d: core time %v, cores x run time is %v", seed, res.Loss.CoreTime, least)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestAskedCores: to ask for more cores than the program used adds their time, for which there was
// never a thread, and changes no other.
func TestAskedCores(t *testing.T) {
	for seed := range uint64(100) {
		p := randomLoss(t, seed)
		was, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Meta().Asked = true
		is, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, is.Loss)
		used, cores := was.Loss.Cores, max(p.Meta().Cores, was.Loss.Cores)
		idle := float64(cores-used) * is.Whole.RunTime
		if is.Loss.Cores != cores || math.Abs(is.Loss.CoreTime-was.Loss.CoreTime-idle) > 1e-6 {
			t.Errorf("seed %d: %d cores, %v; of %d it was %v", seed, is.Loss.Cores, is.Loss.CoreTime, used, was.Loss.CoreTime)
		}
		for i := range is.Loss.Terms {
			now, more := &is.Loss.Terms[i], 0.0
			if now.Name == TermSerial {
				more = idle
			}
			if math.Abs(now.Time-was.Loss.Terms[i].Time-more) > 1e-6 {
				t.Errorf("seed %d: %s: %v, it was %v", seed, now.Name, now.Time, was.Loss.Terms[i].Time)
			}
		}
	}
}

// lossProfile is two threads in a run of 200: one alone for 50; then both work for 100, of which
// thread 1 waits 30 for a lock whose place is known for 20, sleeps 10, and thread 0 arrives 40
// earlier, having worked as long; nobody is there for the last 50.
func lossProfile(t *testing.T) *profile.Profile {
	p := profile.New(profile.Meta{RunTime: 200, ClockUnit: "instructions", Complete: true, CoreTime: 150})
	file := p.AddFile(profile.File{Path: "main.c"})
	at := func(line int32) []profile.Frame { return []profile.Frame{{File: file, Line: line, Function: "f"}} }
	p.AddSection(profile.Section{Kind: profile.SectionSerial, EndNode: profile.None, Frames: at(1)})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None, Frames: at(2)})
	p.AddThread(profile.Thread{})
	p.AddThread(profile.Thread{})
	lock, sleep := p.AddKind(profile.NewKind(profile.Measured, profile.KindLockWait)),
		p.AddKind(profile.NewKind(profile.Measured, profile.KindSleep))
	p.AddEvent(profile.Event{Kind: lock, Node: profile.None, Addr: 1, Frames: at(3), Detail: "on m"})
	p.AddEvent(profile.Event{Kind: sleep, Node: profile.None, Addr: 2, Frames: at(4)})
	none := profile.NodeID(profile.None)
	for _, in := range []*profile.Instance{
		{Section: 0, Parts: []profile.Part{{Thread: 0, Arrive: 50, Release: 50, Entry: none, Exit: none}}},
		{Section: 1, Parts: []profile.Part{{Thread: 0, Start: 50, Arrive: 110, Release: 150, Entry: none, Exit: none},
			{Thread: 1, Start: 50, Arrive: 150, Release: 150, LockWait: 30, OffCPU: 10, Entry: none, Exit: none}},
			Costs: []profile.Count{{Row: 0, Part: 1, N: 20}, {Row: 1, Part: 1, N: 10}}},
	} {
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestLossTerms(t *testing.T) {
	res, err := Run(lossProfile(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := res.Loss
	checkIdentity(t, l)
	if l.Cores != 2 || l.CoreTime != 400 {
		t.Errorf("%d cores, %v", l.Cores, l.CoreTime)
	}
	// CoreTime is 150, and the sections' parts ran for 170: no work is missing.
	for name, want := range map[string]float64{TermUseful: 170, TermImbalance: 0, TermSerial: 150, TermLock: 60,
		TermOffCore: 20, TermWait: 0, TermOverhead: 0, TermMemory: 0} {
		if got := l.Term(name).Time; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	lock := l.Term(TermLock)
	if p := lock.Places[0]; p.Line != 3 || math.Abs(p.Time-40) > 1e-9 || math.Abs(p.Behind-20) > 1e-9 || p.Data != "m" || len(p.Threads) != 1 || p.Threads[0].Thread != 1 {
		t.Errorf("lock at %+v", p)
	}
	if p := lock.Places[1]; p.Why == "" || math.Abs(p.Time-20) > 1e-9 {
		t.Errorf("lock whose place is not known: %+v", p)
	}
	if p := l.Term(TermOffCore).Places[0]; p.Line != 4 || p.Event != profile.KindSleep {
		t.Errorf("off the core: %+v", p)
	}
	serial := l.Term(TermSerial)
	if serial.Places[0].Why == "" || serial.Places[0].Time != 100 || serial.Places[1].Line != 1 || serial.Places[1].Time != 50 {
		t.Errorf("too few threads: %+v", serial.Places)
	}
	if most := l.Largest(); most.Name != TermSerial {
		t.Errorf("the largest is %s", most.Name)
	}
}

// Work that the collector counted, but that is in no section, is not said to be idleness.
func TestWorkInNoSection(t *testing.T) {
	p := lossProfile(t)
	p.Meta().CoreTime = 200
	res, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkIdentity(t, res.Loss)
	found := 0.0
	for _, x := range res.Loss.Term(TermSerial).Places {
		if x.Why == ranElsewhere {
			found = x.Time
		}
	}
	if math.Abs(found-30) > 1e-9 {
		t.Errorf("%v ran in no section, want 30", found)
	}
}

// Where threads are more than cores, those that wait lose only what those that run leave over.
func TestMoreThreadsThanCores(t *testing.T) {
	spans := func(waits float64) (out []span) {
		for i := range 4 {
			out = append(out, span{thread: profile.ThreadID(i), hi: 100, end: 100, useful: 100 - waits})
		}
		return out
	}
	if got := sweep(byBegin(spans(50)), 2, 100); got.total != 200 || got.busy != 200 || got.flows[flowKey{0, 0}].held != 0 {
		t.Errorf("the cores are never idle: %+v", got)
	}
	if got := sweep(byBegin(spans(75)), 2, 100); got.busy != 100 || math.Abs(got.flows[flowKey{0, 0}].held-25) > 1e-9 {
		t.Errorf("they are for half of the time: %+v, %+v", got, got.flows[flowKey{0, 0}])
	}
}
