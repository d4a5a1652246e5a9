package cli

import (
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
