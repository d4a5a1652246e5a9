package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// startsApart is a section of some instances: its threads begin when chance will have it, each one
// works, and all leave when the last one has come.
func startsApart(t *testing.T, r *rand.Rand, apart uint64) *profile.Profile {
	p := profile.New(profile.Meta{RunTime: 100_000, ClockUnit: "instructions", Complete: true})
	p.AddSection(profile.Section{Kind: profile.SectionJoin, EndNode: profile.None})
	n := 2 + r.IntN(6)
	for range n {
		p.AddThread(profile.Thread{})
	}
	for at := range uint64(3) {
		in := &profile.Instance{}
		end := uint64(0)
		for th := range n {
			start := at*30_000 + r.Uint64N(apart)
			arrive := start + 1 + r.Uint64N(20_000)
			end = max(end, arrive)
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(th), Start: start, Arrive: arrive, Entry: profile.None, Exit: profile.None})
		}
		for i := range in.Parts {
			in.Parts[i].Release = end
		}
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestLostIsWaitedFor: what a section is said to lose is what the account of all time says of it: no
// thread that does less, because it began later, is waited for longer than the others wait.
func TestLostIsWaitedFor(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 17))
		apart := []uint64{1, 100, 9_000}[seed%3]
		res, err := Run(startsApart(t, r, apart), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sec := &res.Sections[0]
		if imbalance := res.Loss.Term(TermImbalance).Time; math.Abs(sec.LostTime-imbalance) > 1e-6*(1+imbalance) {
			t.Errorf("seed %d: a section loses %v, the account says %v", seed, sec.LostTime, imbalance)
		}
		if apart == 1 && sec.Unwaited != 0 {
			t.Errorf("seed %d: all begin at once, and %v is not waited for", seed, sec.Unwaited)
		}
		if s := sec.LostTime / float64(len(sec.Threads)); math.Abs(s-sec.TimeToWin) > 1e-6*(1+s) {
			t.Errorf("seed %d: %v to win, of %v", seed, sec.TimeToWin, s)
		}
	}
}

// TestWhoBeginsLaterDoesLess: where all end together, nothing that threads did more of is a loss that
// matters, however much they differ.
func TestWhoBeginsLaterDoesLess(t *testing.T) {
	for _, c := range []struct {
		name          string
		end           uint64
		matters, told bool
	}{
		{"together", 20_000, false, true},
		{"nearly", 19_900, false, true},
		{"the first one is waited for", 11_000, true, false},
	} {
		in := &profile.Instance{Parts: []profile.Part{{Arrive: 20_000, Release: 20_000},
			{Thread: 1, Start: 8_000, Arrive: c.end, Release: 20_000}}}
		s := &summary{threads: map[profile.ThreadID]*ThreadTotal{}}
		s.worst.Seq = -1
		s.add(in)
		win, lost := s.waitedFor()
		r := &runner{meta: &profile.Meta{ClockUnit: "instructions"}, parallel: s.span}
		sec := &Section{LostTime: lost, TimeToWin: win, Unwaited: s.unwaited.win, InstanceCount: 1}
		r.weigh(sec)
		told := false
		unwaitedVerdict(sec, "instructions", func(string, string, string, ...any) { told = true })
		if sec.Matters != c.matters || told != c.told {
			t.Errorf("%s: matters: %v, told: %v", c.name, sec.Matters, told)
		}
	}
}
