package profile

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain lets the tests start themselves as a collector to be killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("LIME_TEST_WRITE"); path != "" {
		writeForEver(path, os.Getenv("LIME_TEST_CLOSE") != "")
	}
	os.Exit(m.Run())
}

// writeForEver writes instances and says how many are in the file for sure.
func writeForEver(path string, closeSoon bool) {
	w, err := Create(path, Meta{Cores: 1})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	w.AddSection(Section{Kind: SectionBarrier, EndNode: None})
	w.AddThread(Thread{Parent: None, Entry: None})
	for i := 0; ; i++ {
		n := w.AddNode(Node{Image: None, Function: None, Addr: uint64(i), Frames: []Frame{{File: None, Line: int32(i)}}})
		w.AddEdge(Edge{From: n, To: None, Kind: EdgeEnd})
		in := &Instance{Parts: []Part{{Arrive: uint64(i), Release: uint64(i), Entry: n, Exit: None}}}
		for e := range min(int32(i), 300) {
			in.Edges = append(in.Edges, Count{Row: e, N: uint64(i)})
		}
		if err := w.WriteInstance(in); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if i%40 == 9 {
			if err := w.Flush(); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println("safe", i+1)
			if closeSoon {
				w.Close()
				os.Exit(0)
			}
			time.Sleep(time.Duration(i%7) * 10 * time.Millisecond)
		}
		if i == 20000 {
			os.Exit(0) // nobody killed it
		}
	}
}

// TestKilledWhileClosing kills a writer that is about to leave one file behind.
func TestKilledWhileClosing(t *testing.T) {
	t.Setenv("LIME_TEST_CLOSE", "1")
	for i := range 10 {
		dir := t.TempDir()
		path := filepath.Join(dir, "lime.data")
		safe := killWriter(t, path, time.Duration(i)*time.Millisecond)
		r := openFile(t, path)
		if err := Validate(r); err != nil {
			t.Fatal(err)
		}
		if n := r.InstanceCount(0); n != safe {
			t.Errorf("run %d: %d instances of %d", i, n, safe)
		}
		r.Close()
		writeFile(t, path, 1, 3) // the next run clears what lies there
		if files, _ := os.ReadDir(dir); len(files) != 1 {
			t.Errorf("files %v", files)
		}
	}
}

func TestKilledWriterLeavesFinishedInstances(t *testing.T) {
	for i := range 12 {
		path := filepath.Join(t.TempDir(), "lime.data")
		safe := killWriter(t, path, time.Duration(i*i)*3*time.Millisecond)
		if i%3 == 2 {
			os.Remove(path + "-shm") // as after a reboot, or a copy of file and log
		}
		r := openFile(t, path)
		if err := Validate(r); err != nil {
			t.Fatal(err)
		}
		if n := r.InstanceCount(0); n < safe {
			t.Errorf("run %d: %d instances, %d were safe", i, n, safe)
		}
		if s := r.Meta().EndState; s != "running" || r.Meta().Complete {
			t.Errorf("end state %q, complete %v", s, r.Meta().Complete)
		}
	}
}

// killWriter kills a writer some time after its first words and returns how
// many instances it said were safe.
func killWriter(t *testing.T, path string, after time.Duration) (safe int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LIME_TEST_WRITE="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		first := safe == 0
		if _, err := fmt.Sscanf(lines.Text(), "safe %d", &safe); err != nil {
			t.Fatal(lines.Text())
		}
		if first {
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
	}
	if ended := cmd.Wait() == nil; safe == 0 || ended && os.Getenv("LIME_TEST_CLOSE") == "" {
		t.Fatalf("the writer ended by itself, %d instances", safe)
	}
	return safe
}
