package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLinksStay: a profile that is made at a link's place is made where the link leads, whether
// there is something or not, and by whichever way.
func TestLinksStay(t *testing.T) {
	ways := map[string]func(path string) error{
		"made":      madeAt,
		"rewritten": rewrittenTo(t),
	}
	for name, write := range ways {
		for _, to := range []string{"file", "none", "sub/none", "link2"} {
			t.Run(name+" "+filepath.Base(to), func(t *testing.T) {
				dir := t.TempDir()
				link := filepath.Join(dir, "link")
				if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
					t.Fatal(err)
				}
				for name, to := range map[string]string{"link": to, "link2": "end"} {
					if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := write(link); err != nil {
					t.Fatal(err)
				}
				end, err := filepath.EvalSymlinks(link)
				if st, lerr := os.Lstat(link); lerr != nil || err != nil || st.Mode()&os.ModeSymlink == 0 || !isProfileAt(end) {
					t.Errorf("%v, %v: leads to %s (%v)", st, lerr, end, err)
				}
			})
		}
		t.Run(name+" into an open file", func(t *testing.T) {
			f, err := os.CreateTemp(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := write(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil {
				t.Error("an open file was replaced")
			}
			if st, err := os.Stat(f.Name()); err != nil || st.Size() != 0 {
				t.Errorf("%v, %v", st, err)
			}
		})
	}
}

func madeAt(path string) error {
	w, err := Create(path, Meta{})
	if err != nil {
		return err
	}
	return w.Close()
}

func rewrittenTo(t *testing.T) func(string) error {
	from := filepath.Join(t.TempDir(), "from")
	if err := madeAt(from); err != nil {
		t.Fatal(err)
	}
	return func(to string) error { return Rewrite(from, to, func(*Meta, *Tables) error { return nil }) }
}
