package sim_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// lime builds the program once for all tests, as the Makefile does.
var lime = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lime-sim-test")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "lime")
	cmd := exec.Command("go", "build", "-ldflags", "-T 0x70000000", "-o", out, "lime/cmd/lime")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return out, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := lime(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// compile builds a program of testdata with the given command line, in which OUT and SRC stand for
// the files.
func compile(t *testing.T, source, command string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c"))
	words := strings.Fields(strings.NewReplacer("OUT", out, "SRC", filepath.Join("testdata", source)).Replace(command))
	switch words[0] {
	case "go":
	case "env": // a Go program that is built with cgo
		testenv.Tool(t, "gcc")
	default:
		testenv.Tool(t, words[0])
	}
	if words[0] == "clang" && slices.Contains(words, "-fopenmp") {
		testenv.Tool(t, "libomp")
	}
	if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, text)
	}
	return out
}

// unnamed leaves functions and lines out of the profile of a test that does not look at them: to find
// those of the C library is two thirds of what a short run takes.
const unnamed = "--no-resolve"

// simulate runs a program and returns its profile, its status and what lime said.
func simulate(t *testing.T, cores int, args ...string) (path string, status int, said string) {
	t.Helper()
	path, status, said, _ = simulated(t, cores, args...)
	return path, status, said
}

// simulated returns what the program printed, too.
func simulated(t *testing.T, cores int, args ...string) (path string, status int, said, printed string) {
	t.Helper()
	return simulatedIn(t, nil, cores, args...)
}

// simulatedIn is the same in an environment, nil for that of the tests.
func simulatedIn(t *testing.T, env []string, cores int, args ...string) (path string, status int, said, printed string) {
	t.Helper()
	bin, err := lime()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "lime.data")
	var stdout, stderr bytes.Buffer
	if !slices.Contains(args, "--") {
		args = append([]string{"--"}, args...)
	}
	cmd := exec.Command(bin, append([]string{"simulate", "--cores", fmt.Sprint(cores), "-o", path}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return path, cmd.ProcessState.ExitCode(), stderr.String(), stdout.String()
}

// marks finds the lines of a source that carry END and END2.
func marks(t *testing.T, source string) map[int32]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int32]string{}
	for i, l := range strings.Split(string(text), "\n") {
		for _, m := range []string{"END", "END2"} {
			if strings.Contains(l, "/* "+m+" */") || strings.HasSuffix(l, "// "+m) {
				lines[int32(i+1)] = m
			}
		}
	}
	return lines
}

// summary prints the sections that end at a mark: kind, mark, instances, and threads in each.
func summary(t *testing.T, path, source string) (string, profile.Source) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
	lines, found := marks(t, source), map[string]string{}
	for id, s := range p.Tables().Sections {
		mark := ""
		for _, f := range s.Frames {
			if mark == "" && f.File >= 0 && filepath.Base(p.Tables().Files[f.File].Path) == source {
				mark = lines[f.Line]
			}
		}
		if mark == "" || s.Kind == profile.SectionSerial {
			continue
		}
		var threads []string
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			threads = append(threads, fmt.Sprint(len(in.Parts)))
		}
		found[mark] = fmt.Sprintf("%s %s: %s", mark, s.Kind, strings.Join(threads, " "))
	}
	return strings.TrimSpace(found["END"] + "\n" + found["END2"]), p
}

const (
	plain  = "gcc -O2 -g -pthread -o OUT SRC"
	openmp = "gcc -O2 -g -fopenmp -o OUT SRC"
)

// Every way to wait for one another must give the sections that its source marks.
func TestSections(t *testing.T) {
	for _, c := range []struct{ source, build, want string }{
		{"semaphore.c", plain, "END built-barrier: 8 8 8 8"},
		{"spinbarrier.c", plain, "END built-barrier: 8 8 8 8 8\nEND2 built-barrier: 8 8 8 8 8"},
		{"spinbarrier.c", "gcc -O0 -g -pthread -o OUT SRC", "END built-barrier: 8 8 8 8 8\nEND2 built-barrier: 8 8 8 8 8"},
		{"spinbarrier.c", "clang -O3 -g -pthread -o OUT SRC", "END built-barrier: 8 8 8 8 8\nEND2 built-barrier: 8 8 8 8 8"},
		{"spinbarrier.c", plain + " -static", "END built-barrier: 8 8 8 8 8\nEND2 built-barrier: 8 8 8 8 8"},
		{"flags.c", "gcc -O2 -DTREE -DWORK=3000+2000*id -g -pthread -o OUT SRC", "END built-barrier: 8 8 8 8 8 8 8 8"},
		{"flags.c", "clang -O0 -DTREE -DWORK=3000+2000*id -g -pthread -o OUT SRC", "END built-barrier: 8 8 8 8 8 8 8 8"},
		{"flags.c", "gcc -O2 -DWORK=3000+2000*id -g -pthread -o OUT SRC", "END built-barrier: 8 8 8 8 8 8 8 8"},
		{"yieldbarrier.c", plain, "END built-barrier: 8 8 8 8 8"},
		{"ticket.c", plain, "END barrier: 8 8 8 8"},
		{"spinlock.c", plain, "END barrier: 8 8 8 8"},
		{"groups.c", plain, "END barrier: 4 4 4\nEND2 barrier: 4 4 4"},
		{"groups.c", plain + " -static", "END barrier: 4 4 4\nEND2 barrier: 4 4 4"},
		{"waves.c", plain, "END join: 8 8 8"},
		{"nested.c", openmp, "END region-end: 2 2\nEND2 region-end: 4 4 4 4"},
		{"rwlock.c", plain, "END barrier: 8 8 8"},
		{"waitgroup.go", "go build -o OUT SRC", "END join: 16 16 16\nEND2 join: 8 8 8 8"},
		{"waitgroup.go", "go build -ldflags=-s -o OUT SRC", "END join: 16 16 16\nEND2 join: 8 8 8 8"},
		{"waitgroup.go", "go build -buildmode=pie -ldflags=-s -o OUT SRC", "END join: 16 16 16\nEND2 join: 8 8 8 8"},
		{"cond.go", "go build -o OUT SRC", "END built-barrier: 8 8 8 8\nEND2 join: 8"},
		{"cgo.go", "env CGO_ENABLED=1 go build -o OUT SRC", "END join: 8 8\nEND2 join: 8 8 8"},
	} {
		t.Run(c.source+" "+strings.Fields(c.build)[0]+strings.Fields(c.build)[1], func(t *testing.T) {
			t.Parallel()
			path, status, said := simulate(t, 16, compile(t, c.source, c.build))
			if status != 0 {
				t.Fatalf("status %d: %s", status, said)
			}
			if got, _ := summary(t, path, c.source); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Goroutines that take turns, because they are more than there are processors or because garbage is
// collected, are as many rows as there are processors, and those rows are even.
func TestGoroutinesTakeTurns(t *testing.T) {
	path, _, said := simulate(t, 3, compile(t, "preempt.go", "go build -o OUT SRC"))
	got, p := summary(t, path, "preempt.go")
	if got != "END join: 3 3" {
		t.Errorf("got %s; said %s", got, said)
	}
	for id := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for i := range in.Parts {
				if a, b := in.Parts[0].Time(), in.Parts[i].Time(); len(in.Parts) == 3 && (a > b+b/20 || b > a+a/20) {
					t.Errorf("rows worked for %d and %d", a, b)
				}
			}
		}
	}
	path, status, said := simulate(t, 4, compile(t, "collect.go", "go build -o OUT SRC"))
	if got, _ := summary(t, path, "collect.go"); status != 0 || strings.Count(got, " ") != 4 {
		t.Errorf("status %d, want three instances, got %s; said %s", status, got, said)
	}
}

func TestSectionEnd(t *testing.T) {
	path, status, said := simulate(t, 8, "--section-end", "step_end", "--", compile(t, "declared.c", plain))
	if status != 0 {
		t.Fatal(said)
	}
	if got, _ := summary(t, path, "declared.c"); got != "END custom: 8 8 8 8" {
		t.Errorf("got %s", got)
	}
}

// The wait for a lock that the program built itself is an event at the lock, and
// as long as the others hold it.
func TestLockWait(t *testing.T) {
	for _, source := range []string{"ticket.c", "spinlock.c"} {
		path, _, _ := simulate(t, 16, compile(t, source, plain))
		_, p := summary(t, path, source)
		var waited uint64
		for id, s := range p.Tables().Sections {
			if s.Kind != profile.SectionBarrier {
				continue
			}
			for in := range p.Instances(profile.SectionID(id)) {
				for _, c := range in.Costs {
					waited += c.N
				}
			}
		}
		// 8 threads, 4 rounds, about 21,000 instructions under the lock: 0+1+...+7 turns of waiting
		// a round.
		if want := uint64(4 * 28 * 21000); waited < want*8/10 || waited > want*12/10 {
			t.Errorf("%s: waited %d, want about %d", source, waited, want)
		}
	}
}

// With exact counts, the visits of the blocks times their instructions are the time of the thread.
func TestCountsAddUp(t *testing.T) {
	path, _, _ := simulate(t, 8, compile(t, "groups.c", plain))
	_, p := summary(t, path, "groups.c")
	tab := p.Tables()
	for id, s := range tab.Sections {
		if s.Kind != profile.SectionBarrier {
			continue
		}
		for in := range p.Instances(profile.SectionID(id)) {
			work := make([]uint64, len(in.Parts))
			for _, c := range in.Edges {
				if e := tab.Edges[c.Row]; e.Kind != profile.EdgeReturn && e.From != profile.None {
					work[c.Part] += c.N * uint64(tab.Nodes[e.From].Instrs)
				}
			}
			for i := range in.Parts {
				if got, want := float64(work[i]), float64(in.Parts[i].Time()); got < 0.99*want || got > 1.01*want {
					t.Errorf("section %d, thread %d: counts say %.0f instructions, the clock %.0f", id, in.Parts[i].Thread, got, want)
				}
			}
		}
	}
}

// The samples of the call paths are the threads' work, to within an interval a thread.
func TestCallPaths(t *testing.T) {
	path, _, _ := simulate(t, 8, compile(t, "groups.c", plain))
	_, p := summary(t, path, "groups.c")
	sums := map[string]float64{}
	for _, s := range p.Tables().PathSamples {
		sums[s.Metric] += s.Value
	}
	work := float64(p.Meta().CoreTime)
	if sums["time"] < 0.5*work || sums["time"] > work {
		t.Errorf("samples say %.0f, the clocks %.0f", sums["time"], work)
	}
	if sums["idleness"] == 0 {
		t.Error("no idleness at the barriers")
	}
}

// Equal runs give equal files, also with more threads than cores.
func TestRepeatable(t *testing.T) {
	for _, cores := range []int{3, 16} {
		prog := compile(t, "spinbarrier.c", plain)
		var first [32]byte
		for i := range 3 {
			path, _, _ := simulate(t, cores, prog)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(text)
			if i == 0 {
				first = sum
			} else if sum != first {
				t.Errorf("%d cores: run %d gave another profile", cores, i+1)
			}
		}
	}
}

func TestEndings(t *testing.T) {
	dead := compile(t, "deadlock.c", plain)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"own status", []string{"sh", "-c", "exit 7"}, 7, ""},
		{"signal", []string{"sh", "-c", "kill -SEGV $$"}, 128 + 11, "SIGSEGV"},
		{"no such program", []string{"./no-such-program"}, 127, "no-such-program"},
		{"not executable", []string{"./doc.go"}, 126, "doc.go"},
		{"deadlock", []string{dead}, 125, "deadlock"},
		{"names who waits", []string{dead}, 125, "in other+"},
		{"replaced by another program", []string{"sh", "-c", "exec sh -c 'exit 5'"}, 5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, status, said := simulate(t, 4, c.args...)
			if status != c.status || !strings.Contains(said, c.says) {
				t.Errorf("status %d, want %d; said %q, want %q in it", status, c.status, said, c.says)
			}
		})
	}
}

// A program's affinity masks hold: code that keeps data by core relies on them.
func TestThreadsRunWhereTheyAreLet(t *testing.T) {
	exe := compile(t, "pinned.c", "gcc -O1 -pthread -o OUT SRC")
	for _, cores := range []int{3, 8} {
		if _, status, said := simulate(t, cores, exe); status != 0 || said != "" {
			t.Errorf("%d cores: status %d: %s", cores, status, said)
		}
	}
}
