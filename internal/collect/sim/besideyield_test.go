package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// TestLookersKeepUp has a thread that gives its core away until another one is ready, which works
// in steps and lets it look after each: it has waited as long as that one worked, and worked for
// next to nothing, however the host has dealt out its cores.
func TestLookersKeepUp(t *testing.T) {
	prog := compile(t, "lookers.c", "gcc -O1 -g -pthread -o OUT SRC")
	cmd, path := counting(t, nil, prog)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
		t.Fatalf("%v: %s", err, out)
	}
	const looker, worker = 1, 2
	work := worked(t, path, worker)
	if wait := waited(t, path, looker); wait*10 < work*8 {
		t.Errorf("waited for %d, while %d was done", wait, work)
	}
	if n := worked(t, path, looker); n*4 > work {
		t.Errorf("who only waited worked for %d, the other one for %d", n, work)
	}
}

// waited is how long a thread waited for others in its parts.
func waited(t *testing.T, path string, thread profile.ThreadID) (sum uint64) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for id := range p.Tables().Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range in.Parts {
				if part.Thread == thread {
					sum += part.LockWait
				}
			}
		}
	}
	return sum
}
