package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/perf"
	"lime/internal/testenv"
)

// wasteProgram compiles the program with planted waste, and reads where its marked lines are.
func wasteProgram(t *testing.T) (program string, line func(mark string) int) {
	t.Helper()
	return markedLines(t, "testdata/waste.c", "-O1", "-pthread", "-falign-loops=64", "-fno-tree-loop-distribute-patterns")
}

// markedLines compiles a program, and reads where its lines are that have a mark.
func markedLines(t *testing.T, source string, options ...string) (program string, line func(mark string) int) {
	t.Helper()
	testenv.Tool(t, "gcc")
	program = filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("gcc", append(options, "-g", "-o", program, source)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	return program, func(mark string) int {
		for i, l := range strings.Split(string(text), "\n") {
			if strings.Contains(l, "/* "+mark+" */") {
				return i + 1
			}
		}
		return 0
	}
}

type wastePair struct {
	Kind, Data, Why string
	Threads         int
	First, Second   struct{ Line int }
}

type wasteReport struct {
	Waste *struct {
		Label string
		Kinds []struct {
			Kind  string
			Share struct{ Value, Low, High float64 }
			Of    uint64
		}
		Threads []struct {
			Thread int
			Shares map[string]struct{ Value, Low, High float64 }
		}
		Sections []struct {
			Kind    string
			EndsAt  struct{ Line int } `json:"ends_at"`
			Share   float64
			Threads []struct{ Thread, Count int }
		}
		Pairs []wastePair
	}
	Notes []struct{ Code, Text string }
}

// sampledRow is a mode of the program with what it wastes, by arithmetic; -1: there is none to look
// at.
type sampledRow struct {
	mode                string
	dead, silent, loads float64
	kind, first, second string // the pair that wastes most
}

func sampledRows() []sampledRow {
	return []sampledRow{
		{"dead", 0.5, 0.5, 0, "dead-store", "SET", "SET"},
		{"alldead", 1, 0, -1, "dead-store", "SET", "SET"},
		{"paths", 0.5, 0.5, 0, "dead-store", "SET", "SET"},
		{"none", 0, 0, 0, "", "", ""},
		{"silent", 0, 0.5, 0.5, "silent-store", "SAME", "SAME"},
		{"loads", 0, 0, 2. / 3, "silent-load", "USE", "USE"},
		{"first", 0, 0, 0, "", "", ""},
		{"stack", 1, 0.5, -1, "dead-store", "LOCAL", "LOCAL"},
		{"update", 0, 0, 0, "", "", ""},
		{"near", 1, 1, -1, "silent-store", "NUMBERS", "NUMBERS"}, // a thousandth at most, but for rounds that wrap
		{"far", 1, 0, -1, "dead-store", "NUMBERS", "NUMBERS"},
		{"part", 1. / 3, 1. / 3, 0, "dead-store", "BOTH", "ONLYX"},
		{"letter", 0.5, 0.5, 0, "dead-store", "LETTERS", "LETTERS"},
		{"onheap", 1, 0.5, -1, "dead-store", "SETHEAP", "SETHEAP"},
		{"search", -1, -1, 1, "silent-load", "SEARCH", "SEARCH"},
		{"output", 0, 0, -1, "", "", ""},
		{"input", 0, 0, -1, "", "", ""},
		{"hand", 0, -1, -1, "", "", ""},
	}
}

// sampled records a mode of the program and returns its report.
func sampled(t *testing.T, program, mode, seconds string) *wasteReport {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.lime")
	if code, stdout, stderr := run(t, ".", "", "record", "--waste", "-o", file, "--", program, mode,
		seconds); code != 0 || stdout != "begun\ndone\n" {
		t.Fatalf("%s: status %d, %q, %s", mode, code, stdout, stderr)
	}
	return wasteOf(t, file)
}

// wasteOf is the part of a profile's report; where nothing can be sampled, the test ends.
func wasteOf(t *testing.T, file string) *wasteReport {
	t.Helper()
	_, stdout, stderr := run(t, ".", "", "report", "--json", file)
	var r wasteReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if r.Waste == nil {
		for _, n := range r.Notes {
			if n.Code == "no-waste" {
				testenv.Skip(t, testenv.NoWatching)
			}
		}
		t.Fatalf("no waste in the report: %v", r.Notes)
	}
	return &r
}

// TestWasteKernels: in kernels of what was found in real programs, both collectors name the lines.
func TestWasteKernels(t *testing.T) {
	program, line := markedLines(t, "testdata/wasted.c", "-O2")
	for _, row := range []struct {
		kernel, few, many string // rounds for the simulator, and for a second of a native run
		option, kind      string
		first, second     string
	}{
		{"hmm", "1000", "3000000", "dead", "dead-store", "CELL", "CELL"},
		{"sort", "1000", "1500000", "loads", "silent-load", "LETTERS", "LETTERS"},
		{"ray", "2000", "3000000", "dead", "dead-store", "RAY CLEAR", "RAY SET"},
		{"search", "1000", "800000", "loads", "silent-load", "SEARCH LOW", "SEARCH LOW"},
		{"train", "1000", "1500000", "silent", "silent-store", "TRAIN WEIGHT", "TRAIN WEIGHT"},
		{"particles", "100", "100000", "loads", "silent-load", "BOX", "BOX"},
		{"sparse", "50", "40000", "silent", "silent-store", "LU", "LU"},
		{"reserve", "3000", "3500000", "loads", "silent-load", "RESERVE", "RESERVE"},
	} {
		t.Run(row.kernel, func(t *testing.T) {
			first, second := line(row.first), line(row.second)
			for _, how := range [][]string{{"simulate", "--cores", "1", row.few}, {"record", row.many}} {
				file := filepath.Join(t.TempDir(), "p.lime")
				args := append(slices.Clone(how[:len(how)-1]), "--waste="+row.option, "-o", file, "--", program, row.kernel, how[len(how)-1])
				if code, _, stderr := run(t, ".", "", args...); code != 0 {
					t.Fatalf("%v: status %d, %s", args, code, stderr)
				}
				if r := wasteOf(t, file); !r.has(row.kind, first, second, 5) {
					t.Errorf("%s: lines %d and %d are not among the worst pairs: %+v", how[0], first, second, r.Waste.Pairs[:min(5, len(r.Waste.Pairs))])
				}
			}
		})
	}
}

// TestWasteOfATeam: all collectors say which thread wastes, and in which section.
func TestWasteOfATeam(t *testing.T) {
	program, line := markedLines(t, "testdata/wasteteam.c", "-O1", "-pthread", "-falign-loops=64")
	for _, how := range [][]string{{"simulate", "--cores", "2", "3", "40"}, {"count", "3", "40"}, {"record", "100", "1000"}} {
		file, n := filepath.Join(t.TempDir(), "p.lime"), len(how)-2
		args := append(slices.Clone(how[:n]), "--waste=dead", "-o", file, "--", program, how[n], how[n+1])
		if code, _, stderr := run(t, ".", "", args...); code != 0 {
			t.Fatalf("%v: status %d, %s", args, code, stderr)
		}
		w := wasteOf(t, file).Waste
		share := map[int]struct{ Value, Low, High float64 }{}
		for _, th := range w.Threads {
			share[th.Thread] = th.Shares["dead-store"]
		}
		if counted := how[0] != "record"; share[1].Low <= share[0].Value || counted && math.Abs(share[1].Value-0.78) > 0.01 {
			t.Errorf("%s: thread 1 stores for nothing 39 times of 50, thread 0 never: %v", how[0], share)
		}
		if len(w.Sections) == 0 {
			t.Fatalf("%s: no section has waste", how[0])
		}
		if s := &w.Sections[0]; s.EndsAt.Line != line("WASTEFUL") || s.Share < 0.9 || s.Threads[len(s.Threads)-1].Thread != 1 {
			t.Errorf("%s: waste is before line %d, in thread 1: %+v", how[0], line("WASTEFUL"), w.Sections)
		}
		if p := &w.Pairs[0]; p.First.Line != line("SET") || p.Threads != 1 {
			t.Errorf("%s: the worst pair is one thread's, at line %d: %+v", how[0], line("SET"), p)
		}
	}
}

// TestSampledWhy: the reasons that the code around a sampled pair tells, once there are enough samples
// to be sure, and silence where none does. How many there are in a second is the machine's affair:
// lime takes no more than its budget allows, and says how many. A reason that is told is never another.
func TestSampledWhy(t *testing.T) {
	program, _ := markedLines(t, "testdata/why.c", "-O1", "-fno-tree-loop-distribute-patterns")
	// A pair that a sixth of the samples meet is among far fewer but for one run in a million; so many leave
	// no doubt of what it takes several pairs' bounds to be sure of, either.
	const enough = 400
	for _, row := range []struct{ mode, kind, why string }{
		{"cleared", "dead-store", "initialisation"},
		{"running", "dead-store", "running-value"},
		{"constant", "silent-store", "invariant-store"},
		{"bound", "silent-load", "invariant-load"},
		{"spilled", "silent-load", "spill"},
		{"search", "silent-load", "search"},
		{"copied", "silent-load", ""},
		{"replaced", "dead-store", ""},
		{"computed", "silent-store", "recomputation"},
		{"shifted", "silent-store", ""},
		{"moved", "silent-store", ""},
	} {
		for _, seconds := range []string{"0.6", "4", "16"} {
			file := filepath.Join(t.TempDir(), "p.lime")
			if code, _, stderr := run(t, ".", "", "record", "--waste=dead,silent,loads", "-o", file, "--", program, row.mode, seconds); code != 0 {
				t.Fatalf("%s: status %d, %s", row.mode, code, stderr)
			}
			r := wasteOf(t, file)
			i := slices.IndexFunc(r.Waste.Pairs, func(p wastePair) bool { return p.Kind == row.kind })
			if i >= 0 && r.Waste.Pairs[i].Why == row.why {
				break
			}
			n := r.samples()
			if told := i >= 0 && r.Waste.Pairs[i].Why != ""; told || n >= enough || seconds == "16" {
				t.Errorf("%s: %d samples in %s s, want %q of a %s: %+v", row.mode, n, seconds, row.why, row.kind, r.Waste.Pairs)
				break
			}
			t.Logf("%s: %d samples in %s s are too few to be sure: once more", row.mode, n, seconds)
		}
	}
}

// samples is how many accesses were sampled, as the recording itself says.
func (r *wasteReport) samples() (n int) {
	for _, x := range r.Notes {
		if _, text, _ := strings.Cut(x.Text, ": "); x.Code == "waste-samples" {
			_, _ = fmt.Sscanf(text, "%d accesses were sampled", &n) // 0 if it says nothing
		}
	}
	return n
}

// tally counts of how many it holds.
type tally struct{ held, all int }

func (c *tally) add(held bool) bool {
	c.all++
	if held {
		c.held++
	}
	return held
}

// TestSampledWaste: shares that are known by arithmetic lie within the stated bounds, which are for
// 95 of 100 runs, and the planted pair comes first. LIME_LONG repeats it: what may be missed in so
// many runs is what chance makes one of a thousand such tests miss.
func TestSampledWaste(t *testing.T) {
	program, line := wasteProgram(t)
	runs := 1
	if testenv.Long() {
		runs = 100
		if n, err := strconv.Atoi(os.Getenv("LIME_RUNS")); err == nil {
			runs = n
		}
	}
	var shares, firsts tally
	for _, row := range sampledRows() {
		truth := map[string]float64{"dead-store": row.dead, "silent-store": row.silent, "silent-load": row.loads}
		of := map[string]*tally{}
		for range runs {
			r := sampled(t, program, row.mode, "0.6")
			for _, k := range r.Waste.Kinds {
				want, known := truth[k.Kind]
				if !known || want < 0 {
					continue
				}
				if of[k.Kind] == nil {
					of[k.Kind] = &tally{}
				}
				held := want >= k.Share.Low && want <= k.Share.High
				of[k.Kind].add(held)
				if !shares.add(held) {
					t.Logf("%s: %s %.3f (%.3f to %.3f), planted %.3f: %+v", row.mode, k.Kind, k.Share.Value, k.Share.Low, k.Share.High,
						want, r.Waste.Pairs)
				}
			}
			if row.kind != "" && !firsts.add(r.has(row.kind, line(row.first), line(row.second), 1)) {
				t.Logf("%s: the worst pair of %s is not the planted one: %+v", row.mode, row.kind, r.Waste.Pairs)
			}
		}
		for kind, c := range of {
			if c.held < c.all-mostMissed(c.all) {
				t.Errorf("%s: %s lay within its bounds in %d of %d runs", row.mode, kind, c.held, c.all)
			}
		}
	}
	if firsts.held < firsts.all-mostMissed(firsts.all) {
		t.Errorf("the planted pair came first in %d of %d", firsts.held, firsts.all)
	}
	t.Logf("%d of %d shares lie within the stated bounds, the planted pair comes first in %d of %d", shares.held,
		shares.all, firsts.held, firsts.all)
}

// has reports whether one of the n worst pairs of a kind is at two lines.
func (r *wasteReport) has(kind string, first, second, n int) bool {
	for _, p := range r.Waste.Pairs {
		if p.Kind != kind {
			continue
		}
		if p.First.Line == first && p.Second.Line == second {
			return true
		}
		if n--; n == 0 {
			break
		}
	}
	return false
}

// mostMissed is how many of n runs a bound that holds in 95 of 100 may miss, but for one test in a
// thousand.
func mostMissed(n int) int {
	const miss, rare = 0.05, 0.001
	p, sum := math.Pow(1-miss, float64(n)), 0.0
	for k := 0; ; k++ {
		if sum += p; 1-sum < rare {
			return k
		}
		p *= float64(n-k) / float64(k+1) * miss / (1 - miss)
	}
}

// TestWasteTroubled: programs that use traps or a debug register of their own, trace a child, are
// confined or stopped, fork, replace themselves, give their rights away, die, or have many threads
// with tiny stacks end and say the same under record --waste.
func TestWasteTroubled(t *testing.T) {
	program, _ := markedLines(t, "testdata/troubled.c", "-O1", "-pthread", "-w")
	for _, mode := range []string{"handler", "forks", "execs", "confined", "threads", "debugged", "stopped", "dies", "demoted", "watches"} {
		cmd := exec.Command(program, mode)
		want, _ := cmd.Output() // its status is compared
		status := cmd.ProcessState.ExitCode()
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			status = 128 + int(ws.Signal())
		}
		file := filepath.Join(t.TempDir(), "p.lime")
		code, stdout, stderr := run(t, ".", "", "record", "--waste", "-o", file, "--", program, mode)
		if code != status || stdout != string(want) {
			t.Errorf("%s: status %d, %q; without lime %d, %q: %s", mode, code, stdout, status, want, stderr)
		}
	}
}

// childOf is the process that another one has started, 0 if there is none.
func childOf(pid int) int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range tasks {
		text, _ := os.ReadFile(file)
		if list := strings.Fields(string(text)); len(list) > 0 {
			child, _ := strconv.Atoi(list[0])
			return child
		}
	}
	return 0
}

// mustBeFree checks that no debug register of a process is taken, if there still is one: all four can
// be had.
func mustBeFree(t *testing.T, pid int) {
	t.Helper()
	for range perf.Slots {
		trap, err := perf.OpenWatch(pid, perf.Watchpoint{Addr: 4096, Bytes: 8}, 0)
		if err == nil {
			defer trap.Close()
		} else if !errors.Is(err, syscall.ESRCH) {
			t.Errorf("a debug register of the program is taken: %v", err)
		}
	}
}

// TestKilledWhileItWatches: whatever lime was about to do when it was killed, the program goes on
// without watchpoints, and ends as it should.
func TestKilledWhileItWatches(t *testing.T) {
	if err := perf.WatchTraps(); err != nil {
		testenv.Skip(t, testenv.NoWatching, err)
	}
	binary, _ := wasteProgram(t)
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	kills := 12
	if testenv.Long() {
		kills = 200
	}
	dir, looked := t.TempDir(), 0
	for i := range kills {
		mode := []string{"dead", "hand", "loads"}[i%3]
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(lime, "record", "--waste", "-o", filepath.Join(dir, "p.lime"), "--", binary, mode, "0.4")
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = write, write, &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		write.Close()
		lines := bufio.NewReader(read)
		if text, err := lines.ReadString('\n'); text != "begun\n" {
			t.Fatalf("%s: the program said %q, %v", mode, text, err)
		}
		after := time.Duration(rand.IntN(600)) * time.Millisecond
		time.Sleep(after)
		program := childOf(cmd.Process.Pid)
		_ = cmd.Process.Kill() // it may be done
		_ = cmd.Wait()
		if program != 0 {
			looked++
			mustBeFree(t, program)
		}
		out := make(chan string, 1)
		go func() {
			text, _ := lines.ReadString('\n')
			out <- text
		}()
		select {
		case text := <-out:
			if text != "done\n" {
				t.Errorf("%s, killed after %v: the program said %q", mode, after, text)
			}
		case <-time.After(2 * time.Minute): // far more than it takes on a busy machine
			t.Fatalf("%s, killed after %v: the program does not end", mode, after)
		}
		read.Close()
		_ = os.Remove(filepath.Join(dir, "p.lime"))
	}
	if looked < kills/4 {
		t.Errorf("of %d programs only %d ran on", kills, looked)
	}
	t.Logf("lime was killed %d times, the program had its registers back %d times", kills, looked)
}
