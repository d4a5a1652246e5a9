package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

// tiny is a directory on a device of its own with that many bytes.
func tiny(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		testenv.Skip(t, testenv.NoMount, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil { // somebody may look at it just now
			t.Error(err)
		}
	})
	return dir
}

// On a full device the error says so, and what is left behind opens or is not there.
func TestNoRoomLeft(t *testing.T) {
	for _, size := range []string{"16k", "100k", "200k", "300k"} {
		path := filepath.Join(tiny(t, size), "lime.data")
		w, err := Create(path, Meta{Tool: "lime", ClockUnit: "ns"})
		if err == nil {
			for i := range 3000 {
				w.AddThread(Thread{Name: strings.Repeat("a thread ", 20), TID: int32(i)})
			}
			err = w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "no room left") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", size, err)
		}
		p, err := Open(path)
		if err == nil {
			p.Close()
		} else if _, gone := os.Stat(path); gone == nil && !strings.Contains(err.Error(), "full") {
			t.Errorf("%s: left behind: %v", size, err)
		}
	}
}

// What keeps a file from being made is named, with what to do.
func TestWhereNoProfileCanBe(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none", "lime.data"): "there is no directory " + filepath.Join(dir, "none"),
		filepath.Join(file, "lime.data"):        file + " is not a directory",
		dir:                                     "not a regular file",
	} {
		w, err := Create(path, Meta{})
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "-o") {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
