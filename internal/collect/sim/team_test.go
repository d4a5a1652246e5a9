package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// TestTeamReduces has a thread reduce before the others of its team have begun: how the runtime
// does that depends on the size of the team, and is the same for all.
func TestTeamReduces(t *testing.T) {
	prog := compile(t, "reduce.c", "clang -fopenmp -O1 -g -o OUT SRC")
	for _, c := range []struct {
		threads  string
		together int // who take part in the barrier of the reduction
	}{{"3", 0}, {"8", 8}} {
		cmd, path := counting(t, nil, prog, c.threads)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		p, err := profile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		passages := 0
		for id, s := range p.Tables().Sections {
			if s.Kind != profile.SectionBarrier {
				continue
			}
			for in, err := range p.Instances(profile.SectionID(id)) {
				if err != nil {
					t.Fatal(err)
				}
				if passages++; len(in.Parts) != c.together {
					t.Errorf("%s threads: %d of them reduce together in passage %d", c.threads, len(in.Parts), in.Seq)
				}
			}
		}
		if want := 3 * min(c.together, 1); passages != want {
			t.Errorf("%s threads: %d passages, want %d", c.threads, passages, want)
		}
		p.Close()
	}
}
