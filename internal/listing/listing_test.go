package listing

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/binfile"
	"lime/internal/testenv"
)

// built compiles a few lines of C.
func built(t *testing.T, text string, flags ...string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(src, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-g", "-O2", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id", "-o", out}, flags...)
	if b, err := exec.Command("gcc", append(args, src)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, b)
	}
	return out
}

const program = `
long sum(long *a, long n) {
	long s = 0;
	for (long i = 0; i < n; i++)
		s += a[i] * 3;
	return s;
}
void scale(double *a) {
	for (int i = 0; i < 1024; i++)
		a[i] *= 2.5;
}
`

// function lists all instructions of a function.
func function(t *testing.T, path, name string) []Instruction {
	t.Helper()
	b, err := Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	f, err := binfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, ok := f.Find(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	list, err := b.Block(s.Addr, int(s.Size))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestInstructionsHaveTextAndLine(t *testing.T) {
	list := function(t, built(t, program), "sum")
	if len(list) < 6 {
		t.Fatalf("%d instructions", len(list))
	}
	lines, text := map[int32]bool{}, ""
	for _, i := range list {
		if filepath.Base(i.File) != "a.c" || i.Text == "" {
			t.Errorf("%#x: %q at %s:%d", i.Addr, i.Text, i.File, i.Line)
		}
		lines[i.Line] = true
		text += i.Text + "\n"
	}
	for _, want := range []string{"ret", "%rdi", "lea"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if !lines[5] || !lines[4] {
		t.Errorf("lines %v", lines)
	}
}

// What the library does not know is told by the table of ours.
func TestVectorInstructionsHaveAName(t *testing.T) {
	text := ""
	for _, i := range function(t, built(t, program, "-mavx2", "-O3"), "scale") {
		text += i.Text + "\n"
	}
	if !strings.Contains(text, "vmulpd") || !strings.Contains(text, "(%rdi") || !strings.Contains(text, " to v") {
		t.Errorf("the loop is\n%s", text)
	}
}

func TestAnotherBuildIsRefused(t *testing.T) {
	path := built(t, program)
	if _, err := Open(path, "0123456789abcdef"); err == nil || !strings.Contains(err.Error(), "built anew") {
		t.Errorf("a binary with another build id: %v", err)
	}
	b, err := Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Block(1<<40, 16); err == nil {
		t.Error("there is code at an address outside of the file")
	}
}
