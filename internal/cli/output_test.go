package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputKeepsWhatIsThere: the input and other profiles stay, links are followed, modes are
// kept, and nothing is left over.
func TestOutputKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	text, err := os.ReadFile("testdata/uneven8.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"in": string(text), "other": string(text), "old": "old"} {
		if err := os.WriteFile(file(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"to-in": "in", "to-old": "old", "to-new": "new"} {
		if err := os.Symlink(to, file(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ out, says string }{
		{"in", "that is the file that is read"}, {"to-in", "that is the file that is read"},
		{"other", "there is a profile"}, {"to-old", ""}, {"to-new", ""},
	} {
		for _, args := range [][]string{{"report"}, {"report", "--html"}, {"report", "--json"}, {"export", "--csv"},
			{"diff", "testdata/even8.txt"}} {
			if c.out == "to-old" || c.out == "to-new" {
				args = []string{"report", "--html"}
			}
			code, _, stderr := lime(t, append(args, "-o", file(c.out), file("in"))...)
			if (code == ExitOK) != (c.says == "") || !strings.Contains(stderr, c.says) {
				t.Errorf("%v -o %s: status %d, %q, want %q", args, c.out, code, stderr, c.says)
			}
		}
	}
	for _, name := range []string{"in", "other"} {
		if b, err := os.ReadFile(file(name)); err != nil || string(b) != string(text) {
			t.Errorf("%s is not what it was: %v", name, err)
		}
	}
	if st, err := os.Lstat(file("old")); err != nil || st.Mode() != 0o600 || st.Size() < 1000 {
		t.Errorf("old: %v, %v", st, err)
	}
	if b, err := os.ReadFile(file("new")); err != nil || len(b) < 1000 {
		t.Errorf("new: %d bytes, %v", len(b), err)
	}
	for _, link := range []string{"to-old", "to-new"} {
		if st, err := os.Lstat(file(link)); err != nil || st.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	for _, args := range [][]string{{"export", "--text", "-o", file("other"), file("in")}} {
		if code, _, stderr := lime(t, args...); code != ExitOK {
			t.Errorf("%v: status %d, %q", args, code, stderr)
		}
	}
	if code, _, stderr := lime(t, "whatif", "--erase", "top", "--save", file("in"), file("in")); code != ExitUsage ||
		!strings.Contains(stderr, "that is read") {
		t.Errorf("whatif --save over its input: status %d, %q", code, stderr)
	}
	if list, _ := filepath.Glob(file("*.tmp")); len(list) > 0 {
		t.Errorf("left over: %v", list)
	}
}

// TestOutputIntoOpenFiles: a way to what a process has open, over links or by name, is written at
// its place, behind what stands there already; no link is replaced, and no file by another one.
func TestOutputIntoOpenFiles(t *testing.T) {
	for _, kind := range []string{"file", "pipe"} {
		for name, way := range map[string]string{"proc": "/proc/self/fd/%d", "dev": "/dev/fd/%d", "link": "", "chain": ""} {
			t.Run(kind+" by "+name, func(t *testing.T) { intoOpen(t, kind, name, way) })
		}
	}
}

func intoOpen(t *testing.T, kind, name, way string) {
	dir := t.TempDir()
	link, chain := filepath.Join(dir, "link"), filepath.Join(dir, "chain")
	into, err := os.Create(filepath.Join(dir, "log"))
	from := into
	if kind == "pipe" {
		from, into, err = os.Pipe()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	for name, to := range map[string]string{link: fmt.Sprintf("/proc/self/fd/%d", into.Fd()), chain: "link"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if way == "" {
		way = filepath.Join(dir, name)
	} else {
		way = fmt.Sprintf(way, into.Fd())
	}
	if _, err := into.WriteString("before "); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := lime(t, "export", "--csv", "-o", way, "testdata/uneven8.txt"); code != ExitOK {
		t.Fatalf("status %d, %q", code, stderr)
	}
	if _, err := into.WriteString("after"); err != nil {
		t.Fatal(err)
	}
	var text []byte
	if kind == "pipe" {
		into.Close()
		text, err = io.ReadAll(from)
	} else {
		text, err = os.ReadFile(into.Name())
	}
	_, want, _ := lime(t, "export", "--csv", "testdata/uneven8.txt")
	if err != nil || string(text) != "before "+want+"after" {
		t.Errorf("%d bytes, %v, want %d", len(text), err, len("before "+want+"after"))
	}
	for _, name := range []string{link, chain} {
		if st, err := os.Lstat(name); err != nil || st.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
}
