package analysis

import (
	"testing"

	"lime/internal/profile"
)

// What a thread does alone between two parallel parts is told from samples, too.
func TestSampledAlone(t *testing.T) {
	for _, c := range []struct {
		name        string
		even, extra uint64 // samples of the thread that is alone
		line        int    // 0: too few to say
		share       float64
	}{
		{"most of it in a loop that is called", 10, 90, 31, 0.9},
		{"most of it outside of that loop", 70, 30, 20, 0.7},
		{"none", 0, 0, 0, 0},
	} {
		p := sampledProgram(t, []uint64{100, 98, 101, 99}, []uint64{0, 120, 0, 0})
		const period = 2_000_000
		alone := p.AddSection(profile.Section{Kind: profile.SectionSerial, EndNode: profile.None})
		in := &profile.Instance{Section: alone, Parts: []profile.Part{{Thread: 0, Start: 1e12, Arrive: 2e12,
			Release: 2e12, Entry: profile.None, Exit: profile.None}}}
		for i, n := range []uint64{c.even, c.extra} {
			if n == 0 {
				continue
			}
			visit := profile.EdgeID(len(p.Tables().Edges) - 2 + i)
			in.Edges = append(in.Edges, profile.Count{Row: int32(visit), N: n})
			p.AddPathSample(profile.PathSample{Path: profile.PathID(1 + 2*i), Section: alone, Metric: "time", Value: float64(n * period)})
		}
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Serial) != 1 {
			t.Fatalf("%s: %d serial sections", c.name, len(res.Serial))
		}
		switch s := res.Serial[0].Spent; {
		case c.line == 0 && s == nil:
		case s == nil || int(s.Line) != c.line || s.Share < c.share-0.01 || s.Share > c.share+0.01:
			t.Errorf("%s: %+v, want line %d with %v", c.name, s, c.line, c.share)
		}
	}
}
