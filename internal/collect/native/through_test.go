package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// rust builds a program in Rust.
func rust(t *testing.T, source string) (prog string) {
	t.Helper()
	needs(t, needSamples, needTracing)
	testenv.Tool(t, "rustc")
	prog = filepath.Join(t.TempDir(), "p")
	if msg, err := exec.Command("rustc", "-O", "-g", "-o", prog, filepath.Join("testdata", source)).CombinedOutput(); err != nil {
		t.Fatalf("rustc: %v\n%s", err, msg)
	}
	return prog
}

// rustOf builds a program in Rust from its text.
func rustOf(t *testing.T, text string) (prog string) {
	t.Helper()
	needs(t, needSamples, needTracing)
	testenv.Tool(t, "rustc")
	src := filepath.Join(t.TempDir(), "p.rs")
	prog = strings.TrimSuffix(src, ".rs")
	if err := os.WriteFile(src, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("rustc", "-A", "warnings", "-O", "-g", "-o", prog, src).CombinedOutput(); err != nil {
		t.Fatalf("rustc: %v\n%s", err, msg)
	}
	return prog
}

// The threads of a scope in Rust, which nobody joins, are through together: a section has those of
// one scope, and of the ones before it if a thread of theirs was still on its way out when its
// creator went on without a wait. Without that they would all stand in the sections of the few
// scopes at which it waits for the last one.
func TestScopes(t *testing.T) {
	const threads = 4
	p, _ := record(t, Options{Command: []string{rust(t, "scopes.rs")}})
	seen, instances := 0, 0
	for id, s := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			if s.Kind == profile.SectionSerial || s.Kind == profile.SectionTail {
				continue
			}
			seen, instances = seen+len(in.Parts), instances+1
		}
	}
	if seen > instances*(2*threads+1) { // their creator may have worked beside them
		t.Errorf("%d threads in %d instances, %d at a time", seen, instances, threads)
	}
	const scopes = 100
	if seen < scopes*threads*3/4 { // of the others one had ended before the next one began
		t.Errorf("%d threads in sections, %d scopes have %d each", seen, scopes, threads)
	}
}

// A mutex of Rust's for which one of two threads waits is a lock, and no barrier, though the function
// that makes the system call is one of the program's own file and has a name that says nothing.
func TestRustMutexIsALock(t *testing.T) {
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{rust(t, "shards.rs")}, Stdout: &out})
	for _, s := range p.Tables().Sections {
		if s.Kind == profile.SectionBuilt {
			t.Errorf("a lock is taken for a barrier at %#x", s.EndAddr)
		}
	}
	var waited float64
	if _, err := fmt.Sscan(out.String(), &waited); err != nil {
		t.Fatal(err)
	}
	blamed := uint64(0)
	for _, l := range p.Tables().LockHolds {
		blamed += l.Waited
	}
	if blamed == 0 { // who gives it back jumps to the system call
		t.Error("nobody held a lock for which others waited")
	}
	costs, _ := offCosts(p)
	if sum := lockCosts(p); sum < 0.5*waited {
		t.Errorf("%.0f ns of waiting for locks; the program measures %.0f ns; of others %v", sum, waited, costs)
	}
}

// lockCosts is the sum of the waits for locks.
func lockCosts(p *profile.Profile) (sum float64) {
	tab := p.Tables()
	for id := range tab.Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Costs {
				if tab.Kinds[tab.Events[c.Row].Kind].Name == profileLockWait {
					sum += float64(c.N)
				}
			}
		}
	}
	return sum
}
