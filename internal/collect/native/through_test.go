package native

import (
	"os/exec"
	"path/filepath"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// The threads of a scope in Rust, which nobody joins, are through together: a section has those of
// one scope, and of the ones before it if a thread of theirs was still on its way out when its
// creator went on without a wait. Without that they would all stand in the sections of the few
// scopes at which it waits for the last one.
func TestScopes(t *testing.T) {
	needs(t, needSamples, needTracing)
	testenv.Tool(t, "rustc")
	const threads = 4
	prog := filepath.Join(t.TempDir(), "p")
	if msg, err := exec.Command("rustc", "-O", "-g", "-o", prog, "testdata/scopes.rs").CombinedOutput(); err != nil {
		t.Fatalf("rustc: %v\n%s", err, msg)
	}
	p, _ := record(t, Options{Command: []string{prog}})
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
