package analysis

import (
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
