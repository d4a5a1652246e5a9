package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// Whatever a program does to itself, it ends as it does alone, and the profile holds what it did so
// far.
func TestHostilePrograms(t *testing.T) {
	program := compile(t, "hostile.c", "gcc -O1 -g -pthread -o OUT SRC")
	for _, c := range []struct {
		what     string
		status   int
		barriers int // in the profile; the profile of a program that replaced itself is that of the last one
		threads  int
	}{
		{"fork", 3, 3, 2}, {"exec", 5, 3, 2}, {"setuid", 4, 6, 2}, {"crash", 139, 3, 2}, {"close", 7, 6, 2}, {"signals", 6, 3, 2},
		{"threads", 8, 6, 1000},
	} {
		t.Run(c.what, func(t *testing.T) {
			path, status, said := simulate(t, 4, program, c.what)
			if status != c.status {
				t.Errorf("status %d, want %d; lime said %q", status, c.status, said)
			}
			r, err := profile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			barriers, threads := 0, 0
			for id, s := range r.Tables().Sections {
				for in, err := range r.Instances(profile.SectionID(id)) {
					if err != nil {
						t.Fatal(err)
					}
					if s.Kind == profile.SectionBarrier {
						barriers, threads = barriers+1, max(threads, len(in.Parts))
					}
				}
			}
			if barriers != c.barriers || threads != c.threads {
				t.Errorf("%d barriers of %d threads, want %d of %d", barriers, threads, c.barriers, c.threads)
			}
		})
	}
}
