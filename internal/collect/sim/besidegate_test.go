package sim_test

import (
	"fmt"
	"testing"

	"lime/internal/profile"
)

// TestOwnBarriersInParallel has threads wait for one another in ways of the program's own: barriers
// end sections once they are found out, all threads take part in each passage, and each has done
// what it is made to do; locks, semaphores and rings of flags are no barriers. (Turns at a condition,
// which simulate tells from a barrier, may be a passage or two there until the first thread looks in
// vain: one run in twelve had one of 200.)
func TestOwnBarriersInParallel(t *testing.T) {
	const threads, rounds = 4, 200
	for _, c := range []struct {
		kind    string
		barrier bool
		inline  bool // is found where it is inlined, too: it has a place at which all threads meet
	}{
		{"sense", true, true}, {"tree", true, false}, {"yield", true, true}, {"later", true, true}, {"futex", true, false},
		{"halves", true, true}, {"condition", true, true},
		{"ticket", false, true}, {"ttas", false, true}, {"chain", false, true},
		{"mutex", false, true}, {"permits", false, true},
	} {
		for _, form := range []string{"", " -DINLINE"} {
			if form != "" && !c.inline {
				continue
			}
			t.Run(c.kind+form, func(t *testing.T) {
				prog := compile(t, "ownbarrier.c", "gcc -O2 -g -pthread -DKIND="+c.kind+form+" -o OUT SRC")
				cmd, path := counting(t, []string{unnamed}, prog, fmt.Sprint(threads), fmt.Sprint(rounds))
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
					t.Fatalf("%v: %s", err, out)
				}
				found := builtBarriers(t, path, threads)
				if c.barrier && found == 0 || !c.barrier && found > 0 {
					t.Errorf("%d passages of barriers", found)
				}
				t.Logf("%d of %d", found, rounds)
			})
		}
	}
}

// builtBarriers counts the instances that end at barriers of the program's own; each is to have all
// threads.
func builtBarriers(t *testing.T, path string, threads int) (found int) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
	for id, s := range p.Tables().Sections {
		if s.Kind != profile.SectionBuilt {
			continue
		}
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			found++
			if len(in.Parts) != threads {
				t.Errorf("passage %d has %d threads", in.Seq, len(in.Parts))
			}
		}
	}
	return found
}
