package safe

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestFollow has a row for each kind of way to a file. Names are below a directory of the test's,
// unless they begin with a slash.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	at := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	for _, d := range []string{"sub", "far/away"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	descriptor := fmt.Sprintf("/proc/self/fd/%d", log.Fd())
	for name, to := range map[string]string{
		"link": "log", "dangling": "sub/none", "absolute": at("log"), "chain": "link", "loop": "loop", "todir": "sub",
		"door": "far/away", "far/away/up": "../above", "magic": descriptor, "chained": "magic",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, want string
		open       bool
	}{
		{"log", "log", false},
		{"none", "none", false},
		{"link", "log", false},
		{"chain", "log", false},
		{"absolute", "log", false},
		{"dangling", "sub/none", false},
		{"todir", "sub", false},
		{"door/up", "far/above", false}, // not "above": the link's directory is the real one
		{"magic", descriptor, true},
		{"chained", descriptor, true},
		{descriptor, descriptor, true},
		{"/dev/fd/" + filepath.Base(descriptor), "/dev/fd/" + filepath.Base(descriptor), true},
		{"/proc/self/cwd/none", "/proc/self/cwd/none", false},
		{"/dev/null", "/dev/null", false},
	} {
		got, open, err := Follow(at(c.path))
		if err != nil || open != c.open || !samePlace(got, at(c.want)) {
			t.Errorf("%s leads to %s, open %v (%v), want %s, %v", c.path, got, open, err, at(c.want), c.open)
		}
	}
	if got, _, err := Follow(at("loop")); err == nil {
		t.Errorf("a loop of links leads to %s", got)
	}
}

// samePlace reports whether two paths name one entry of one directory.
func samePlace(a, b string) bool {
	x, errA := filepath.EvalSymlinks(a[:len(a)-len(filepath.Base(a))])
	y, errB := filepath.EvalSymlinks(b[:len(b)-len(filepath.Base(b))])
	return errA == nil && errB == nil && x == y && filepath.Base(a) == filepath.Base(b)
}
