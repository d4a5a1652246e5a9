package profile

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneWriterAFile keeps a second process from removing the file that a first one writes, until
// that one is dead.
func TestOneWriterAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	first := exec.Command(os.Args[0])
	first.Env = append(os.Environ(), "LIME_TEST_WRITE="+path)
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the first writer says nothing")
	}
	w, err := Create(path, Meta{Cores: 1})
	if err == nil {
		w.Close()
		t.Error("two processes write one file")
	} else if want := fmt.Sprintf("process %d is writing it; name another", first.Process.Pid); !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	openFile(t, path).Close()
	first.Process.Kill()
	first.Wait()
	writeFile(t, path, 1, 3)
}
