package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// TestChanceIsNoCause has who took which piece of work make up more or less of what a section
// loses: what is chance does not count for what it is worth, and if it is most, nothing is a cause.
func TestChanceIsNoCause(t *testing.T) {
	for _, c := range []struct {
		name            string
		chance          uint64
		matters, causes bool
		told            int
	}{
		{"none", 0, true, true, 0},
		{"some", 100, true, true, 0},
		{"most", 300, true, false, 1},
		{"all", 500, false, false, 1},
		{"more than there is", 5000, false, false, 1},
	} {
		in := &profile.Instance{Chance: c.chance, Parts: []profile.Part{
			{Thread: 0, Arrive: 10_000, Host: profile.HostTime{CPU: 4e6, Wall: 9e6}},
			{Thread: 1, Arrive: 9_000, Host: profile.HostTime{CPU: 2e6, Wall: 9e6}}}}
		s := &summary{threads: map[profile.ThreadID]*ThreadTotal{}}
		s.worst.Seq = -1
		s.add(in)
		r := &runner{meta: &profile.Meta{ClockUnit: "instructions"}, parallel: s.span}
		sec := &Section{LostTime: s.lost, TimeToWin: s.win, InstanceCount: 1, Chance: s.luck.win, chanceLost: s.luck.lost, Host: s.luck.times(),
			Causes: []Cause{{Important: true}}}
		sec.evenButForChance()
		r.weigh(sec)
		told := 0
		chanceVerdict(sec, "instructions", func(string, string, string, ...any) { told++ })
		if sec.Matters != c.matters || sec.Causes[0].Important != c.causes || told != c.told {
			t.Errorf("%s: matters %v, a cause %v, told %d times", c.name, sec.Matters, sec.Causes[0].Important, told)
		}
		if h := sec.Host; h == nil || h.CPU != 0.006 || h.Lost != 0.002 || h.Imbalance != 0.25 || h.Wall != 0.009 || h.WallLost != 0 {
			t.Errorf("%s: on the host %+v", c.name, h)
		}
	}
}

// TestChanceIsNotClaimed has threads take pieces as they come, in even programs and in uneven ones,
// with locks on the way and without: of what the last one is waited for, what chance dealt is not
// proved and the rest is what it was. The account adds up, and what locks made late stays theirs.
func TestChanceIsNotClaimed(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 21))
		threads, instances := 2+r.IntN(6), 1+r.IntN(5)
		locks := r.IntN(2) == 1
		with, without := newLuckyRun(t, threads), newLuckyRun(t, threads)
		waited, claimed := 0.0, 0.0
		for range instances {
			parts, lead := dealtParts(r, threads, locks)
			luck := []uint64{0, lead / 3, lead, 2 * lead}[r.IntN(4)]
			with.instance(parts, luck)
			without.instance(parts, 0)
			late := float64(lead) * float64(threads)
			waited, claimed = waited+late, claimed+late-float64(min(luck, lead))*float64(threads)
		}
		got, before := with.loss(t), without.loss(t)
		name := fmt.Sprintf("seed %d, locks %t", seed, locks)
		near := func(what string, a, b float64) {
			if math.Abs(a-b) > 1e-6*waited {
				t.Errorf("%s: %s: %v, want %v of %v", name, what, a, b, waited)
			}
		}
		sum := func(l *Loss) float64 { return l.Term(TermImbalance).Time + l.Term(TermUnproved).Time }
		near("imbalance and not proved", sum(got), sum(before))
		for _, term := range []string{TermUseful, TermSerial, TermLock, TermWait, TermOffCore, TermOverhead, TermMemory} {
			near(term, got.Term(term).Time, before.Term(term).Time)
		}
		if !locks {
			near("all", sum(got), waited)
			near("imbalance", got.Term(TermImbalance).Time, claimed)
		}
		if got.Term(TermImbalance).Time > before.Term(TermImbalance).Time {
			t.Errorf("%s: more imbalance than without chance", name)
		}
	}
}

// luckyRun is a counted program of one parallel region, again and again.
type luckyRun struct {
	p   *profile.Profile
	now uint64
}

func newLuckyRun(t *testing.T, threads int) *luckyRun {
	t.Helper()
	p := profile.New(profile.Meta{Collector: "count", Model: "count", ClockUnit: "instructions", NodeTime: "visits",
		Cores: threads, Complete: true, EndState: "exited"})
	p.AddFile(profile.File{Path: "app.c"})
	p.AddSection(profile.Section{Kind: profile.SectionRegion, EndNode: profile.None,
		Frames: []profile.Frame{{File: 0, Line: 9, Function: "work"}}})
	for range threads {
		p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	}
	return &luckyRun{p: p}
}

// dealtParts are threads that take different times, and by how much the last one is later than the
// mean: a whole number.
func dealtParts(r *rand.Rand, threads int, locks bool) (parts []profile.Part, lead uint64) {
	sum, longest := uint64(0), uint64(0)
	for i := range threads {
		p := profile.Part{Thread: profile.ThreadID(i), Arrive: 30_000 + uint64(threads)*r.Uint64N(3000),
			Entry: profile.None, Exit: profile.None}
		if locks {
			p.LockWait = r.Uint64N(10_000)
		}
		parts, sum, longest = append(parts, p), sum+p.Arrive, max(longest, p.Arrive)
	}
	return parts, longest - sum/uint64(threads)
}

func (d *luckyRun) instance(parts []profile.Part, luck uint64) {
	in := &profile.Instance{Chance: luck, Parts: slices.Clone(parts)}
	last := uint64(0)
	for i := range parts {
		last = max(last, parts[i].Arrive)
	}
	for i := range in.Parts {
		p := &in.Parts[i]
		p.Start, p.Arrive, p.Release = d.now, d.now+p.Arrive, d.now+last
	}
	d.now += last
	_ = d.p.WriteInstance(in) // in memory
}

func (d *luckyRun) loss(t *testing.T) *Loss {
	t.Helper()
	d.p.Meta().RunTime = d.now
	res, err := Run(d.p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkIdentity(t, res.Loss)
	return res.Loss
}
