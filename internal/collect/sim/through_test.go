package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// Each scope is a section of its own with the threads that it made, and nobody else, whoever of
// them is done last.
func TestScopes(t *testing.T) {
	testenv.Tool(t, "rustc")
	for _, how := range []string{"rustc -O -g", "rustc -g", "rustc -O -C symbol-mangling-version=v0"} {
		prog := compile(t, "scopes.rs", how+" -o OUT SRC")
		for _, threads := range []int{2, 8} {
			for _, long := range []int{0, threads - 1, 99} {
				path, status, said := simulate(t, 16, prog, fmt.Sprint(threads), fmt.Sprint(long))
				if status != 0 {
					t.Fatalf("%s: status %d: %s", how, status, said)
				}
				if got := joined(t, path); got != fmt.Sprint([]int{threads, threads, threads, threads, threads}) {
					t.Errorf("%s, %d threads, thread %d works longer: sections of %s threads", how, threads, long, got)
				}
			}
		}
	}
}

// So it is where threads run in parallel, if their creator comes to wait for them: a host that keeps
// it from its core until all are done may hide one scope of each run, and no more.
func TestScopesInParallel(t *testing.T) {
	testenv.Tool(t, "rustc")
	prog := compile(t, "scopes.rs", "rustc -O -g -o OUT SRC")
	const runs, scopes = 6, 5
	whole := 0
	for _, threads := range []int{2, 8} {
		for _, long := range []int{0, threads - 1, 99} {
			cmd, path := counting(t, nil, prog, fmt.Sprint(threads), fmt.Sprint(long), "all")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			got := joined(t, path)
			whole += strings.Count(got, fmt.Sprint(threads))
			t.Logf("%d threads, thread %d works longer: sections of %s threads", threads, long, got)
		}
	}
	if whole <= runs*(scopes-1) {
		t.Errorf("%d of %d scopes are whole", whole, runs*scopes)
	}
}

// joined lists how many threads took part in each instance that is no serial stretch.
func joined(t *testing.T, path string) string {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	addsUp(t, p)
	var sizes []int
	for id, s := range p.Tables().Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Kind != "serial" && (s.Kind != "exit" || len(in.Parts) > 1) {
				sizes = append(sizes, len(in.Parts))
			}
		}
	}
	return fmt.Sprint(sizes)
}
