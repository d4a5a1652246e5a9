package native

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// buildGo compiles the program of testdata/go.
func buildGo(t *testing.T, flags ...string) string {
	t.Helper()
	out, cgo := filepath.Join(t.TempDir(), "p"), "CGO_ENABLED=0"
	if slices.ContainsFunc(flags, func(f string) bool { return strings.Contains(f, "external") }) { // C's linker puts it together
		testenv.Tool(t, "gcc")
		cgo = "CGO_ENABLED=1"
	}
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", out, "./testdata/go")...)
	cmd.Env = append(os.Environ(), cgo)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %v: %v\n%s", flags, err, msg)
	}
	return out
}

// TestGo runs the tests of one program.
func TestGo(t *testing.T) {
	program := buildGo(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, program string)
	}{
		{"sections", goSections}, {"attach", goAttach}, {"locks", goLockBlame}, {"locks without a core", goKept}, {"idleness", goIdleness}, {"hard", goUndisturbed},
		{"off the core", goOff}, {"handed out", goHandedOut},
		{"no processor", goNoProcessor},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, program) })
	}
}

// Every WaitGroup's wait is a section of the goroutines that counted it down, in stripped and in
// movable programs, too.
func goSections(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	for name, program := range map[string]string{"plain": program, "stripped": buildGo(t, "-ldflags=-s -w"),
		"movable": buildGo(t, "-buildmode=pie"),
		"movable, stripped, linked by C's linker": buildGo(t, "-buildmode=pie", "-ldflags=-s -w -linkmode=external")} {
		t.Run(name, func(t *testing.T) {
			p, res := record(t, Options{Command: []string{program, "teams"}})
			if res.Status != 7 || noted(p, "no-hooks") || noted(p, profile.NoteGoroutines) {
				t.Errorf("status %d, notes %v", res.Status, p.Meta().Notes)
			}
			joins := 0
			for id, s := range p.Tables().Sections {
				if s.Kind != profile.SectionJoin {
					continue
				}
				for in := range p.Instances(profile.SectionID(id)) {
					joins++
					team := map[string]int{}
					for _, part := range in.Parts {
						team[p.Tables().Threads[part.Thread].Name]++
					}
					if team["main.team.func1"] != 4 {
						t.Errorf("instance %d: goroutines by function: %v; want 4 of main.team.func1", in.Seq, team)
					}
				}
			}
			if joins != 10 {
				t.Errorf("%d instances, want 10; sections by kind %v, notes %v", joins, sections(p), p.Meta().Notes)
			}
		})
	}
}

// Goroutines that take pieces from a channel, a counter or behind a lock are even, whoever had a core,
// whether they end or wait for more; those with pieces of their own are not. The main one, which makes
// them and hands out the pieces, has other work.
func goHandedOut(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	p, _ := record(t, Options{Command: []string{program, "handed"}})
	var uneven []float64
	for id, s := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			in.Parts = slices.DeleteFunc(in.Parts, func(x profile.Part) bool { return x.Thread == 0 })
			if most, mean := longest(in); s.Kind == profile.SectionJoin {
				uneven = append(uneven, most/mean-1)
			}
		}
	}
	if len(uneven) != 5 || uneven[3] < 0.5 {
		t.Fatalf("the longest parts are by so much longer than the mean: %.3f", uneven)
	}
	if uneven = slices.Delete(uneven, 3, 4); slices.Max(uneven) >= ownWork {
		t.Errorf("the longest parts of handed out work are by so much longer than the mean: %.3f", uneven)
	}
}

// A Go program that runs already has its sections seen, and runs on afterwards as if nothing had
// been.
func goAttach(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	cmd := exec.Command(program, "until-told")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p := profile.New(profile.Meta{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // that long only if there are no hooks
	defer cancel()
	_, err := Run(ctx, Options{PID: cmd.Process.Pid, Out: &untilInstances{Profile: p, left: 20, enough: cancel}})
	if err != nil || noted(p, "no-hooks") {
		t.Fatalf("not allowed: %v, %v", err, p.Meta().Notes)
	}
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
	if found := sections(p)[profile.SectionJoin]; found[0] < 10 {
		t.Errorf("sections by kind %v; want joins", sections(p))
	}
	in.Close()
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("it ended with %v; want status 7", cmd.ProcessState)
	}
}

// The wait for a lock is charged to where its holder gave it back.
func goLockBlame(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	syms := functions(t, program)
	p, res := record(t, Options{Command: []string{program, "locks"}})
	if res.Status != 7 {
		t.Errorf("status %d, want 7", res.Status)
	}
	sums := map[string]float64{}
	for _, s := range p.Tables().PathSamples {
		if strings.HasPrefix(s.Metric, "lock-") {
			sums[s.Metric] += s.Value
			sums[s.Metric+" "+innermost(p, s.Path, syms)] += s.Value
		}
	}
	const least = 10 * 2 * 5e6 // both wait for the lock while it is held for that long, ten times
	if sums["lock-wait"] < least || sums["lock-wait main.holdShort"] < 0.99*sums["lock-wait"] {
		t.Errorf("waits %v; want at least %v ns, at main.holdShort", sums, least)
	}
	if sums["lock-blame main.holdLong"] < sums["lock-blame"]/2 {
		t.Errorf("blame %v; want most of it at main.holdLong", sums)
	}
	if d := sums["lock-blame"] - sums["lock-wait"]; d > 0.01*sums["lock-wait"] || d < -0.01*sums["lock-wait"] {
		t.Errorf("wait and blame differ: %v", sums)
	}
}

// A wait for a lock is as long as its holder worked under it, as the program itself measures that: not
// as long as the holder had no core.
func goKept(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{program, "kept"}, Stdout: &out})
	var least, most float64
	if _, err := fmt.Sscan(out.String(), &least, &most); err != nil {
		t.Fatal(err)
	}
	if got := lockCosts(p); got < 0.9*least || got > 1.1*most {
		t.Errorf("they waited for locks for %.0f ns; with cores of their own that would be %.0f to %.0f", got, least, most)
	}
}

// While one of two goroutines works, and the other waits for it, half of what there could be is
// idle, and charged to the one: as much as the program itself has measured. While both work, no
// more than the time in which one began earlier or ended later.
func goIdleness(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	syms := functions(t, program)
	const frequency = 2000
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{program, "partners"}, Frequency: frequency, Stdout: &out})
	var alone, apart float64
	if _, err := fmt.Sscan(out.String(), &alone, &apart); err != nil {
		t.Fatal(err)
	}
	sums, times := map[string]float64{}, map[string]float64{}
	for _, s := range p.Tables().PathSamples {
		if s.Metric == profile.MetricIdleness {
			sums[innermost(p, s.Path, syms)] += s.Value
		}
		if s.Metric == "time" {
			times[innermost(p, s.Path, syms)] += s.Value
		}
	}
	if idle := sums["main.alone"]; idle < mostlySampled*alone-lost(p, frequency) || idle > 1.1*alone {
		t.Errorf("idleness of main.alone: %.0f ns, the program measures %.0f ns: %v; times %v", idle, alone, sums, times)
	}
	const cuts = 2 * 2 * 5 * 1e9 / frequency // a sample at each end of each goroutine's part, five times
	if sums["main.together"] > apart+cuts {
		t.Errorf("idleness of main.together: %.0f ns, the program measures at most %.0f ns: %v", sums["main.together"], apart, sums)
	}
}

// What goroutines sleep and wait for files is told as that, as long as they measure it themselves;
// of more goroutines than have rows, no row is longer than all of it took. What begins when another
// team has come back stands behind that.
func goOff(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{program, "naps"}, Stdout: &out})
	var measured [2]struct{ slept, read, all float64 }
	lines := strings.Split(out.String(), "\n")
	for i := range measured {
		m := &measured[i]
		if n, err := fmt.Sscan(lines[i], &m.slept, &m.read, &m.all); n != 3 {
			t.Fatalf("%q: %v", out.String(), err)
		}
	}
	tab := p.Tables()
	team, behind := 0, uint64(0)
	for id, s := range tab.Sections {
		if s.Kind != profile.SectionJoin {
			continue
		}
		for in := range p.Instances(profile.SectionID(id)) {
			m := &measured[team]
			sums, longest, end := map[string]float64{}, 0.0, uint64(0)
			for _, c := range in.Costs {
				sums[tab.Kinds[tab.Events[c.Row].Kind].Name] += float64(c.N)
			}
			for i := range in.Parts {
				x := &in.Parts[i]
				if longest, end = max(longest, float64(x.Time())), max(end, x.Release); x.Start < behind {
					t.Errorf("team %d: a part begins at %d, the team before it came back at %d", team, x.Start, behind)
				}
			}
			if longest > m.all {
				t.Errorf("team %d: a part of %.0f ns, all of it took %.0f ns", team, longest, m.all)
			}
			const asked = 4 * 3 * 2 * 5e6 // ns: that many goroutines, times, sleeps, and for so long each
			if team == 0 && (sums[kindSleep] < 0.99*asked || sums[kindSleep] > m.slept || sums[kindIO] == 0 || sums[kindIO] > m.read) {
				t.Errorf("the goroutines were off their cores for %v; they asked for %v ns of sleep, and measured %v", sums, asked, *m)
			}
			team, behind = team+1, end
		}
	}
	if team != len(measured) {
		t.Errorf("%d teams, want %d; notes %v", team, len(measured), p.Meta().Notes)
	}
}

// Who comes back from a system call and finds no processor waits in the scheduler, by the kernel's futexes:
// that is no wait of the program's.
func goNoProcessor(t *testing.T, program string) {
	needs(t, needSamples, needTracing)
	p, _ := record(t, Options{Command: []string{program, "calls"}})
	tab := p.Tables()
	for id := range tab.Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Costs {
				if e := tab.Events[c.Row]; tab.Kinds[e.Kind].Name == kindFutex {
					t.Errorf("%d ns at a futex that is no lock of the program's", c.N)
				}
			}
		}
	}
}

// functions lists the functions of a program that stands where it is linked to.
func functions(t *testing.T, program string) []elf.Symbol {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return syms
}

// innermost names the function at the end of a call path.
func innermost(p *profile.Profile, path profile.PathID, syms []elf.Symbol) string {
	tab := p.Tables()
	node := tab.Paths[path].Node
	if node == profile.None {
		return "nowhere"
	}
	for _, s := range syms {
		if at := tab.Nodes[node].Addr; at >= s.Value && at < s.Value+s.Size {
			return s.Name
		}
	}
	return "elsewhere"
}

// The hooks bear with all that Go's runtime does: stacks that grow and move, collections, panics,
// signals.
func goUndisturbed(t *testing.T, program string) {
	want, err := exec.Command(program, "hard").Output()
	if len(want) == 0 {
		t.Fatal(err)
	}
	for range 2 {
		var out, msg strings.Builder
		_, res := record(t, Options{Command: []string{program, "hard"}, Stdout: &out, Stderr: &msg})
		if res.Status != 7 || out.String() != string(want) || msg.Len() > 0 {
			t.Errorf("status %d, %q; want 7, %q\n%s", res.Status, out.String(), want, msg.String())
		}
	}
}
