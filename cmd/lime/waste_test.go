package main

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/testenv"
)

// wasteProgram compiles the program with planted waste, and reads where its marked lines are.
func wasteProgram(t *testing.T) (program string, line func(mark string) int) {
	t.Helper()
	testenv.Tool(t, "gcc")
	program = filepath.Join(t.TempDir(), "waste")
	const source = "testdata/waste.c"
	if out, err := exec.Command("gcc", "-O1", "-g", "-pthread", "-fno-tree-loop-distribute-patterns", "-o", program,
		source).CombinedOutput(); err != nil {
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

type wasteReport struct {
	Waste *struct {
		Label string
		Kinds []struct {
			Kind  string
			Share struct{ Value, Low, High float64 }
			Of    uint64
		}
		Pairs []struct {
			Kind          string
			First, Second struct{ Line int }
		}
	}
	Notes []struct{ Code, Text string }
}

// TestSampledWaste: shares that are known by arithmetic, and the lines of the worst pair. All
// shares of the table must lie within twice the stated bounds; the bounds themselves are for 95 of
// 100.
func TestSampledWaste(t *testing.T) {
	program, line := wasteProgram(t)
	seconds := "0.6"
	if testenv.Long() {
		seconds = "3"
	}
	held, all := 0, 0
	for _, row := range []struct {
		mode                string
		dead, silent, loads float64 // -1: there is none to look at
		kind, first, second string
	}{
		{"dead", 0.5, 0.5, 0, "dead-store", "SET", "SET"},
		{"alldead", 1, 0, -1, "dead-store", "SET", "SET"},
		{"paths", 0.5, 0.5, 0, "dead-store", "SET", "SET"},
		{"none", 0, 0, 0, "", "", ""},
		{"silent", 0, 0.5, 0.5, "silent-store", "SAME", "SAME"},
		{"loads", 0, 0, 2. / 3, "silent-load", "USE", "USE"},
		{"first", 0, 0, 0, "", "", ""},
		{"stack", 1, 0.5, -1, "dead-store", "LOCAL", "LOCAL"},
		{"update", 0, 0, 0, "", "", ""},
		{"hand", 0, -1, -1, "", "", ""},
	} {
		file := filepath.Join(t.TempDir(), "p.lime")
		if code, stdout, stderr := run(t, ".", "", "record", "--waste", "-o", file, "--", program, row.mode,
			seconds); code != 0 || stdout != "begun\ndone\n" {
			t.Fatalf("%s: status %d, %q, %s", row.mode, code, stdout, stderr)
		}
		_, stdout, stderr := run(t, ".", "", "report", "--json", file)
		var r wasteReport
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		if r.Waste == nil {
			for _, n := range r.Notes {
				if n.Code == "no-waste" {
					testenv.Skip(t, testenv.NoSampling)
				}
			}
			t.Fatalf("%s: no waste in the report: %v", row.mode, r.Notes)
		}
		truth := map[string]float64{"dead-store": row.dead, "silent-store": row.silent, "silent-load": row.loads}
		for _, k := range r.Waste.Kinds {
			want := truth[k.Kind]
			if want < 0 {
				continue
			}
			all++
			if s := k.Share; want >= s.Low && want <= s.High {
				held++
			} else if slack := 0.03; want < s.Value-2*(s.Value-s.Low)-slack || want > s.Value+2*(s.High-s.Value)+slack {
				t.Errorf("%s: %s %.3f (%.3f to %.3f), planted %.3f", row.mode, k.Kind, s.Value, s.Low, s.High, want)
			}
		}
		if row.kind == "" {
			continue
		}
		found := false
		for _, p := range r.Waste.Pairs {
			if p.Kind == row.kind {
				found = p.First.Line == line(row.first) && p.Second.Line == line(row.second)
				break
			}
		}
		if !found {
			t.Errorf("%s: the worst pair of %s is not the planted one: %+v", row.mode, row.kind, r.Waste.Pairs)
		}
	}
	t.Logf("%d of %d shares lie within the stated bounds", held, all)
}

// TestKilledWhileItWatches: whatever lime was about to do when it was killed, the program goes on
// and ends as it should.
func TestKilledWhileItWatches(t *testing.T) {
	program, _ := wasteProgram(t)
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	kills := 12
	if testenv.Long() {
		kills = 200
	}
	dir := t.TempDir()
	for i := range kills {
		mode := []string{"dead", "hand", "loads"}[i%3]
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(lime, "record", "--waste", "-o", filepath.Join(dir, "p.lime"), "--", program, mode, "0.4")
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
		_ = cmd.Process.Kill() // it may be done
		_ = cmd.Wait()
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
}
