package safe

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// killed leaves what a run does that is killed: a directory with a file, not locked any more.
func killed(t *testing.T) string {
	t.Helper()
	d, err := TempDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Path, "half"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.held.Close()
	return d.Path
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}

// TestTempDir: what killed runs left goes, what others use stays, and at the end nothing is there.
func TestTempDir(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TMPDIR", root)
	used, err := TempDir()
	if err != nil {
		t.Fatal(err)
	}
	left := []string{killed(t), killed(t)}
	next, err := TempDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if !gone(path) {
			t.Errorf("the next run leaves %s", path)
		}
	}
	if gone(used.Path) || gone(next.Path) {
		t.Error("what is used is gone")
	}
	for _, d := range []*Dir{used, next} {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
	if all, err := os.ReadDir(root); err != nil || len(all) > 0 {
		t.Errorf("at the end there are %v, %v", all, err)
	}
}

// TestTempDirsAtOnce: many at a time do not take one another's away.
func TestTempDirsAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var runs sync.WaitGroup
	for range 8 {
		runs.Go(func() {
			for range 20 {
				d, err := TempDir()
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.Path, "x"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	runs.Wait()
}

// TestTempDirOfOthers: a place that others may write to is not used, and nothing in it touched.
func TestTempDirOfOthers(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TMPDIR", root)
	left := killed(t)
	home := filepath.Dir(left)
	if err := os.Chmod(home, 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := TempDir()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(d.Path, home+"/") || gone(left) {
		t.Errorf("it is %s, and what stands at %s gone: %v", d.Path, left, gone(left))
	}
	if err := d.Remove(); err != nil || gone(root) {
		t.Error(err, gone(root))
	}
	if err := os.Remove(home); err == nil {
		t.Error("the place of others is empty")
	}
}
