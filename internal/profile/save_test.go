package profile

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	if err := Save(file, false, p); err != nil {
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

// TestSavedInHalf looks at what somebody would find who kills a Save: the old file, and beside it one
// that says that it is not complete, whatever the whole one is.
func TestSavedInHalf(t *testing.T) {
	dir := t.TempDir()
	path, looked := filepath.Join(dir, "saved"), false
	old := New(Meta{})
	fill(t, old, 3, 2)
	if err := Save(path, false, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	p := New(Meta{})
	fill(t, p, 8, 6)
	if !p.Meta().Complete || p.Meta().EndState != "exited" {
		t.Fatal("the whole profile is not complete")
	}
	half := watched{p, func() {
		looked = true
		sameProfile(t, openFile(t, path), old)
		r := openFile(t, path+tmpSuffix)
		if m := r.Meta(); m.Complete || m.EndState != "running" {
			t.Errorf("half a profile is complete: %v, %s", m.Complete, m.EndState)
		}
		r.Close()
	}}
	if err := Save(path, false, half); err != nil || !looked {
		t.Fatal(err, looked)
	}
	sameProfile(t, openFile(t, path), p)
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
		t.Errorf("its mode is not that of the old one: %v, %v", st, err)
	}
	onlyFile(t, dir, "saved")
}

// onlyFile demands that a directory holds one file.
func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != name {
		t.Errorf("files left: %v, %v", files, err)
	}
}

// TestSavedBesideALog: the log that a killed run left beside the old file does not spoil the new one,
// and nothing of the old one is lost where there is no new one.
func TestSavedBesideALog(t *testing.T) {
	p := New(Meta{})
	fill(t, p, 8, 6)
	for what, prepare := range map[string]func(path string) error{
		"of a killed run":  func(path string) error { killWriter(t, path, 100*time.Millisecond); return nil },
		"of a missing one": func(path string) error { return os.WriteFile(path+"-wal", []byte("log"), 0o666) },
		"of one in text": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(textWord+"1\n"), 0o666), os.WriteFile(path+"-wal", []byte("log"), 0o666))
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "saved")
		if err := prepare(path); err != nil {
			t.Fatal(err)
		}
		stop := errors.New("stop")
		if err := Whole(path, false, Meta{}, func(Sink) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("log %s: %v", what, err)
		}
		if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
			t.Errorf("log %s: nothing was saved, and it is gone: %v", what, err)
		}
		if err := Save(path, false, p); err != nil {
			t.Fatalf("log %s: %v", what, err)
		}
		sameProfile(t, openFile(t, path), p)
		onlyFile(t, dir, "saved")
	}
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
