package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Killed at any moment, lime leaves a file that opens and reports, and no
// process behind.
func TestKilledAtAnyMoment(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", filepath.Join(dir, "lu"), "../../bench/lu.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	moments := 6
	if os.Getenv("LIME_LONG") != "" {
		moments = 50
	}
	for i := range moments {
		after := time.Duration(i*i%17*70+i*9) * time.Millisecond
		file := filepath.Join(dir, fmt.Sprintf("killed%d", i))
		program := []string{"./lu", "8", "200"}
		if i%2 == 1 { // a program that replaces itself is a new process image of lime's, too
			program = []string{"sh", "-c", "exec ./lu 8 200"}
		}
		killAfter(t, lime, dir, file, after, program)
		if _, err := os.Stat(file); err != nil {
			continue // killed before it began
		}
		code, stdout, stderr := run(t, dir, "", "report", "--json", file)
		cutOff := strings.Contains(stdout, `"end_state": "running"`) && strings.Contains(stdout, `"complete": false`)
		if code != 0 && code != 3 || !cutOff {
			t.Errorf("killed after %v: report ends with %d: %s%.2000s", after, code, stderr, stdout)
		}
	}
}

// killAfter starts a simulation, kills lime with no warning, and waits until
// the process that holds the program is gone.
func killAfter(t *testing.T, lime, dir, file string, after time.Duration, program []string) {
	t.Helper()
	cmd := exec.Command(lime, append([]string{"simulate", "--cores", "8", "-o", file, "--"}, program...)...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	children := childrenOf(cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, child := range children {
		for tries := 0; alive(child); tries++ {
			if tries > 6000 {
				status, _ := os.ReadFile("/proc/" + child + "/status")
				t.Fatalf("process %s outlives lime, killed after %v:\n%s", child, after, status)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func childrenOf(pid int) []string {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var out []string
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		out = append(out, strings.Fields(string(text))...)
	}
	return out
}

// alive tells whether a process is there and no zombie.
func alive(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(text, []byte(") "))
	return !bytes.HasPrefix(rest, []byte("Z")) && !bytes.HasPrefix(rest, []byte("X"))
}
