package safe

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTemp makes files beside one: what was left is used again, and what somebody writes is not.
func TestTemp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	names := func() (out []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			out = append(out, e.Name())
		}
		return out
	}
	for range 3 { // killed: closed, with the file left behind
		f, err := Temp(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("half"); err != nil {
			t.Fatal(err)
		}
		if st, err := f.Stat(); err != nil || st.Size() != 4 {
			t.Errorf("it holds what was left: %v, %v", st, err)
		}
		f.Close()
	}
	if got := names(); len(got) != 1 {
		t.Errorf("three that were killed leave %v", got)
	}
	first, err1 := Temp(path)
	second, err2 := Temp(path)
	if err1 != nil || err2 != nil || first.Name() == second.Name() {
		t.Fatalf("two at once: %v, %v, %v", names(), err1, err2)
	}
	if !stands(first, first.Name()) || !stands(second, second.Name()) {
		t.Error("the second took what the first one writes")
	}
	other := filepath.Join(dir, "b.csv")
	if err := os.Symlink(path, other+".lime.tmp"); err != nil {
		t.Fatal(err)
	}
	f, err := Temp(other)
	if err != nil || f.Name() == other+".lime.tmp" {
		t.Errorf("beside a link: %v", err)
	}
}
