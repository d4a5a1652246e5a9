package profile

import (
	"bytes"
	"fmt"
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

// TestNoRoomKeepsTheOld: what finds no room leaves the file that it was to replace, and nothing beside
// it, whether the device is full at the beginning, in the middle or at the end.
func TestNoRoomKeepsTheOld(t *testing.T) {
	dir := tiny(t, "2m")
	path := filepath.Join(dir, "lime.data")
	old := New(Meta{})
	fill(t, old, 3, 2)
	if err := Save(path, false, old); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fillUp(t, dir, 1<<12)
	if w, err := Create(path, Meta{}); err == nil {
		w.Close()
		t.Error("a run begins where there is no room")
	}
	sameProfile(t, openFile(t, path), old)
	big := New(Meta{})
	for i := range 2000 {
		big.AddThread(Thread{Name: strings.Repeat("a thread ", 20) + fmt.Sprint(i), TID: int32(i), Parent: None, Entry: None})
	}
	failures := 0
	for left := 1 << 12; left < 1<<21; left += 1 << 15 {
		fillUp(t, dir, left)
		err := Save(path, false, big)
		if os.Remove(filepath.Join(dir, "rest")) != nil || err == nil {
			break
		}
		failures++
		if b, rerr := os.ReadFile(path); rerr != nil || !bytes.Equal(b, before) || !strings.Contains(err.Error(), path+":") {
			t.Fatalf("room for %d bytes: %v; the old file: %v", left, err, rerr)
		}
		onlyFile(t, dir, "lime.data")
	}
	if failures < 10 {
		t.Errorf("there was no room %d times", failures)
	}
	if n := len(openFile(t, path).Tables().Threads); n != 2000 {
		t.Errorf("with room enough it has %d threads", n)
	}
}

// fillUp leaves room for so many bytes on the device of a directory.
func fillUp(t *testing.T, dir string, left int) {
	t.Helper()
	rest := filepath.Join(dir, "rest")
	_ = os.Remove(rest) // of the time before
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rest, make([]byte, max(0, int(fs.Bavail)*int(fs.Bsize)-left)), 0o666); err != nil {
		t.Fatal(err)
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
