package sim_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/collect/sim"
	"lime/internal/profile"
)

// turned simulates a program in which a core may run so many instructions ahead of the others.
func turned(t *testing.T, cores int, turn int64, args ...string) *profile.Reader {
	t.Helper()
	return asked(t, sim.Options{Cores: cores, Turn: turn}, args...)
}

// asked simulates a program as the options say.
func asked(t *testing.T, o sim.Options, args ...string) *profile.Reader {
	t.Helper()
	bin, err := lime()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lime.data")
	var said strings.Builder
	o.Lime, o.Cmd, o.Args, o.Out, o.Stdout, o.Stderr, o.Env = bin, args[0], args[1:], path, &said, &said, os.Environ()
	res, err := sim.Run(context.Background(), o)
	if err != nil || res.Status != 0 {
		t.Fatalf("%v, status %d, said %s", err, res.Status, &said)
	}
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	addsUp(t, p)
	return p
}

// addsUp holds each thread's account of instructions to what it executed.
func addsUp(t *testing.T, p *profile.Reader) {
	t.Helper()
	sums := map[profile.ThreadID]int64{}
	for _, a := range p.Tables().Accounts {
		switch a.What {
		case profile.Executed:
			sums[a.Thread] += int64(a.Instrs)
		case profile.Unaccountable:
			t.Errorf("thread %d: %d instructions are unaccounted for", a.Thread, a.Instrs)
		default:
			sums[a.Thread] -= int64(a.Instrs)
		}
	}
	for thread, rest := range sums {
		if rest != 0 {
			t.Errorf("thread %d: the account differs by %d from what it executed", thread, rest)
		}
	}
	if len(sums) == 0 {
		t.Error("there is no account of instructions")
	}
	waitsFit(t, p)
}

// waitsFit holds what a thread waited in its part of a section to the time that the part took.
func waitsFit(t *testing.T, p *profile.Reader) {
	t.Helper()
	for id := range p.Tables().Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range in.Parts {
				if time := part.Arrive - part.Start; part.LockWait+part.OffCPU > time {
					t.Errorf("section %d: thread %d waited %d for locks and %d off its core, of %d", id, part.Thread, part.LockWait, part.OffCPU, time)
				}
			}
		}
	}
}

// ownWork is how many instructions of the program's own file are counted in its sections.
func ownWork(p *profile.Reader, file string) (sum uint64) {
	tab := p.Tables()
	for id := range tab.Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Edges {
				e := tab.Edges[c.Row]
				if e.Kind == profile.EdgeReturn || e.From == profile.None {
					continue
				}
				if n := tab.Nodes[e.From]; n.Image >= 0 && tab.Images[n.Image].Path == file {
					sum += c.N * uint64(n.Instrs)
				}
			}
		}
	}
	return sum
}

// What a program's own code does is counted in full, in whatever order its threads take their
// tasks.
func TestTasksAreCountedInAnyOrder(t *testing.T) {
	prog := compile(t, "taskwait.c", "gcc -O2 -fopenmp -g -o OUT SRC")
	want := ownWork(turned(t, 1, 0, prog, "32"), prog)
	for _, turn := range []int64{20, 50, 500, 0} {
		got := ownWork(turned(t, 32, turn, prog, "32"), prog)
		if diff := float64(got) - float64(want); diff > 0.01*float64(want) || diff < -0.01*float64(want) {
			t.Errorf("turns of %d: %d instructions of its own code are counted, on one core %d", turn, got, want)
		}
	}
}

// Tasks of some hundred instructions, each of which makes others and waits for them: all are
// counted, whoever runs them, and nobody waits for longer than a part lasts.
func TestTinyNestedTasks(t *testing.T) {
	prog := compile(t, "tinytasks.c", "gcc -O2 -fopenmp -g -o OUT SRC")
	want := ownWork(turned(t, 1, 0, prog, "8"), prog)
	for _, cores := range []int{2, 8, 32} {
		p := turned(t, cores, 0, prog, "8")
		got := ownWork(p, prog)
		if diff := float64(got) - float64(want); diff > 0.02*float64(want) || diff < -0.02*float64(want) {
			t.Errorf("%d cores: %d instructions of its own code are counted, on one core %d", cores, got, want)
		}
	}
}
