package analysis

import (
	"testing"

	"lime/internal/profile"
)

// Who waits for a lock comes later than the others, now one and now another, whenever a holder has
// to leave its core: why threads differ is only told where it is the same ones again and again.
func TestLockWaitsOfChance(t *testing.T) {
	for name, c := range map[string]struct {
		who   func(k int) int // that waits in an instance
		every int             // in one instance of so many
		want  bool
	}{
		"now one and now another":            {func(k int) int { return k * 7 % 4 }, 3, false},
		"now one and now another, 6 % of it": {func(k int) int { return k * 7 % 4 }, 2, true},
		"the same one":                       {func(int) int { return 2 }, 3, true},
	} {
		p := sampledProgram(t, []uint64{1, 1, 1, 1}, []uint64{0, 0, 0, 0})
		lock := p.AddEvent(profile.Event{Kind: p.AddKind(profile.NewKind(profile.Measured, profile.KindLockWait)), Node: 1, Addr: 0x10b8})
		visit, path := int32(len(p.Tables().Edges)-2), profile.PathID(1)
		const period = 2_000_000
		for k := range 60 {
			in := &profile.Instance{Section: 0, Seq: k + 1}
			for i := range 4 {
				part := profile.Part{Thread: profile.ThreadID(i), Arrive: 10 * period, Release: 15 * period, Entry: profile.None, Exit: profile.None}
				if i == c.who(k) && k%c.every == 0 {
					part.Arrive, part.LockWait = 15*period, 5*period
					in.Events = append(in.Events, profile.Count{Row: int32(lock), Part: int32(i), N: 1})
					in.Costs = append(in.Costs, profile.Count{Row: int32(lock), Part: int32(i), N: 5 * period})
				}
				in.Parts = append(in.Parts, part)
				in.Edges = append(in.Edges, profile.Count{Row: visit, Part: int32(i), N: 10})
				p.AddPathSample(profile.PathSample{Path: path, Thread: profile.ThreadID(i), Metric: "time", Value: 10 * period})
			}
			if err := p.WriteInstance(in); err != nil {
				t.Fatal(err)
			}
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if causes := res.Sections[0].Causes; (len(causes) > 0) != c.want {
			t.Errorf("%s: %d causes: %+v", name, len(causes), causes)
		}
	}
}
