package profile

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSavedProfileReadsTheSame(t *testing.T) {
	text, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseText(string(text))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "saved")
	if err := Save(file, p); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want, got strings.Builder
	if err := WriteText(&want, p); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(&got, r); err != nil {
		t.Fatal(err)
	}
	if want.String() != got.String() {
		t.Errorf("saved:\n%s\nwant:\n%s", &got, &want)
	}
}

// watched is a profile that calls look before its instances are read.
type watched struct {
	*Profile
	look func()
}

func (w watched) Instances(s SectionID) iter.Seq2[*Instance, error] {
	w.look()
	return w.Profile.Instances(s)
}

// TestSavedInHalf looks at the file that somebody would find who kills a Save: it is not complete,
// whatever the whole one is.
func TestSavedInHalf(t *testing.T) {
	p := New(Meta{})
	fill(t, p, 8, 6)
	if !p.Meta().Complete || p.Meta().EndState != "exited" {
		t.Fatal("the whole profile is not complete")
	}
	path, looked := filepath.Join(t.TempDir(), "saved"), false
	half := watched{p, func() {
		looked = true
		if m := openFile(t, path).Meta(); m.Complete || m.EndState != "running" {
			t.Errorf("half a profile is complete: %v, %s", m.Complete, m.EndState)
		}
	}}
	if err := Save(path, half); err != nil || !looked {
		t.Fatal(err, looked)
	}
	sameProfile(t, openFile(t, path), p)
}

// TestForeignFilesStay: a profile takes the place of a profile or of an empty file, of nothing
// else.
func TestForeignFilesStay(t *testing.T) {
	for _, c := range []struct {
		content string
		stays   bool
	}{{"", false}, {textWord + "1\n", false}, {"int main(void) { return 0; }\n", true}, {sqliteMagic + strings.Repeat("\x00", 200), true}} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		w, err := Create(path, Meta{})
		if c.stays != (err != nil) {
			t.Errorf("%.20q: %v", c.content, err)
		}
		if err == nil {
			w.Close()
		} else if b, _ := os.ReadFile(path); string(b) != c.content {
			t.Errorf("%.20q became %.20q", c.content, b)
		}
	}
}
