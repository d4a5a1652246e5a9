package analysis

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

// Of threads that are made anew for each instance, what the i-th of every team does counts
// together: no single one of them has samples enough, and each is there once.
func TestSampledTeams(t *testing.T) {
	for _, c := range []struct {
		name   string
		anew   bool // each instance has threads of its own
		slow   int  // member of the team that does more; -1: now one and now another
		cause  bool
		hiName string
	}{
		{"made anew, the last one does more", true, 3, true, "thread 3"},
		{"the same threads", false, 3, true, "thread 3"},
		{"made anew, each as often", true, -1, false, ""},
	} {
		p := sampledProgram(t, []uint64{1, 1, 1, 1}, []uint64{0, 0, 0, 0})
		visit, path := int32(len(p.Tables().Edges)-2), profile.PathID(1)
		const period, each = 2_000_000, 40
		for k := range each {
			in := &profile.Instance{Section: 0, Seq: k + 1}
			for i := range 4 {
				id := profile.ThreadID(i)
				if c.anew {
					id = p.AddThread(profile.Thread{Parent: 0, Entry: profile.None})
				}
				n := uint64(10)
				if i == c.slow || c.slow < 0 && k%4 == i {
					n = 13
				}
				in.Parts = append(in.Parts, profile.Part{Thread: id, Arrive: n * period, Release: 13 * period, Entry: profile.None, Exit: profile.None})
				in.Edges = append(in.Edges, profile.Count{Row: visit, Part: int32(i), N: n})
				p.AddPathSample(profile.PathSample{Path: path, Thread: id, Metric: "time", Value: float64(n * period)})
			}
			if err := p.WriteInstance(in); err != nil {
				t.Fatal(err)
			}
		}
		if err := profile.Validate(p); err != nil {
			t.Fatal(err)
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		causes := res.Sections[0].Causes
		if (len(causes) > 0) != c.cause {
			t.Errorf("%s: %d causes", c.name, len(causes))
			continue
		}
		if c.cause && !strings.Contains(causes[0].Sentence, c.hiName) {
			t.Errorf("%s: %s", c.name, causes[0].Sentence)
		}
		if told := len(res.Sections[0].Threads); c.anew && told < 4*each {
			t.Errorf("%s: the section tells of %d threads", c.name, told)
		}
	}
}
