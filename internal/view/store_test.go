package view

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// reopened opens a profile's file as another start of lime does.
func reopened(t *testing.T, path, root string) (*Run, *store) {
	t.Helper()
	r, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	run := NewRun(r, path, analysis.DefaultOptions(), new(Heap))
	if err := run.Keep(root, analysis.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	run.kept.worth = 0
	return run, run.kept
}

// The second start answers as the first did, and makes no report for it.
func TestTheSecondStartAnswersTheSame(t *testing.T) {
	_, path := fileRun(t, fixture(t, 70, 900)) // more parts than keptParts
	root := t.TempDir()
	first, kept := reopened(t, path, root)
	a := NewAPI([]*Run{first})
	a.prepare(0, first)
	if _, err := os.Stat(kept.file(keptIndex)); err != nil {
		t.Fatal("the index is not kept:", err)
	}
	second, _ := reopened(t, path, root)
	b := NewAPI([]*Run{second})
	if _, err := second.index(); err != nil {
		t.Fatal(err)
	}
	b.prepare(0, second)
	if !second.state().Analysed {
		t.Error("the second start waits for the report")
	}
	for _, q := range questions {
		if strings.HasPrefix(q, "compare") {
			continue // of other profiles as well: it is not kept
		}
		want, err1 := answer(t, a, q)
		got, err2 := answer(t, b, q)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v", q, err1, err2)
			continue
		}
		if !bytes.Equal(want.Body, got.Body) || want.Type != got.Type {
			t.Errorf("%s: the second start answers otherwise: %.200s, before %.200s", q, got.Body, want.Body)
		}
	}
	if second.took.Load() != 0 {
		t.Error("the second start makes the report")
	}
}

// An index that was kept is the one that is made, tile by tile.
func TestAKeptIndexIsTheSame(t *testing.T) {
	x := build(t, fixture(t, 70, 40))
	x.coarse(100)
	if len(x.levels) < 3 {
		t.Fatalf("%d levels", len(x.levels))
	}
	path := filepath.Join(t.TempDir(), "index")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.write(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	y, err := mapped(path)
	if err != nil {
		t.Fatal(err)
	}
	sameIndex(t, x, y)
}

// Levels that are made from finer ones say what those say that are made from the parts.
func TestCoarseLevelsAgreeWithTheParts(t *testing.T) {
	x := build(t, fixture(t, 70, 40))
	x.coarse(100)
	for z := range x.levels {
		for tile := range 1 << z {
			for band := range x.bands() {
				got, want := mustSpan(t, x, z, tile, band), x.makeTile(x.band(band), z, tile)
				if len(got) != len(want) {
					t.Fatalf("level %d, tile %d, band %d: %d bytes, want %d", z, tile, band, len(got), len(want))
				}
				for k := range got {
					if off := int(got[k]) - int(want[k]); off < -len(x.levels)-1 || off > len(x.levels)+1 {
						t.Fatalf("level %d, tile %d, band %d: byte %d is %d, want %d", z, tile, band, k, got[k], want[k])
					}
				}
				for k := 0; k < len(got); k += int(states) {
					if sum := int(got[k]) + int(got[k+1]) + int(got[k+2]) + int(got[k+3]); sum > 255 {
						t.Fatalf("level %d, tile %d: %d parts of 255", z, tile, sum)
					}
				}
			}
		}
	}
}

// What is not an index, or was cut, is refused, and never read past its end.
func TestADamagedIndex(t *testing.T) {
	x := build(t, fixture(t, 5, 4))
	x.coarse(5)
	var w bytes.Buffer
	if err := x.write(&w); err != nil {
		t.Fatal(err)
	}
	whole := w.Bytes()
	if _, err := parseIndex(slices.Clone(whole)); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if n > 2000 && n < len(whole)-100 && n%997 != 0 {
			continue
		}
		if _, err := parseIndex(slices.Clone(whole[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for an index", n, len(whole))
		}
	}
	end := len(whole) - keptEnd
	head := end - int(binary.LittleEndian.Uint32(whole[end:]))
	for at := range whole {
		if at >= keptFront && at < head {
			continue // parts, and what is made of them
		}
		bent := slices.Clone(whole)
		bent[at] ^= 4
		if _, err := parseIndex(bent); err == nil {
			t.Fatalf("an index with another byte %d is taken", at)
		}
	}
}

// A profile that was written anew, or another lime, finds nothing; what was kept of the old one
// goes.
func TestAStoreIsOfOneState(t *testing.T) {
	root := t.TempDir()
	open := func(path, state string) *store {
		s, err := openStore(root, path, state)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := open("/x/a.lime", "1")
	a.keep("head?", &Answer{typeJSON, []byte("{}")}, time.Hour)
	a.keep("quick?", &Answer{typeJSON, []byte("{}")}, worthKeeping/2)
	open("/x/b.lime", "1")
	if got := open("/x/a.lime", "1").find("head?"); got == nil || string(got.Body) != "{}" || got.Type != typeJSON {
		t.Errorf("what was kept is %v", got)
	}
	if a.find("quick?") != nil {
		t.Error("what took no time is kept")
	}
	if b := open("/x/a.lime", "2"); b.find("head?") != nil {
		t.Error("another state of the file finds what was kept of this one")
	}
	if _, err := os.Stat(a.dir); err == nil {
		t.Error("what was kept of the old file stays for ever")
	}
	if entries, _ := os.ReadDir(root); len(entries) != 2 {
		t.Errorf("%d directories, want those of two profiles", len(entries))
	}
}

// What is used least goes first, when there is too much.
func TestTheStoreIsSwept(t *testing.T) {
	root := t.TempDir()
	now := time.Now()
	for i, name := range []string{"old", "middle", "new"} {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "x"), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now, now.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	left := func(limit int64) string {
		sweep(root, filepath.Join(root, "old"), limit)
		entries, _ := os.ReadDir(root)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		limit int64
		want  string
	}{{300, "middle new old"}, {200, "new old"}, {0, "old"}} {
		if got := left(c.limit); got != c.want {
			t.Errorf("within %d bytes stay %q, want %q", c.limit, got, c.want)
		}
	}
}

// A directory that others may write to is not trusted.
func TestAStoreOfOthers(t *testing.T) {
	root := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(root, "/x/a.lime", "1"); err == nil {
		t.Error("a directory that others may write to is taken")
	}
}

// The first start answers from the index that it keeps, as the next one does: there is no other one
// in memory, and whoever asks first has it.
func TestTheFirstAnswersAreThoseThatAreKept(t *testing.T) {
	p := fixture(t, 70, 900)
	_, path := fileRun(t, p)
	run, kept := reopened(t, path, t.TempDir())
	first, err := run.index()
	if err != nil {
		t.Fatal(err)
	}
	if first.file == nil {
		t.Error("the index is in memory")
	}
	next, err := mapped(kept.file(keptIndex))
	if err != nil {
		t.Fatal("the index is not kept:", err)
	}
	sameIndex(t, first, next)
	sameIndex(t, build(t, p), next)
}

// An index that somebody cuts short while it is served gives messages, and the server goes on.
func TestAnIndexThatVanishes(t *testing.T) {
	_, path := fileRun(t, fixture(t, 70, 900))
	root := t.TempDir()
	first, _ := reopened(t, path, root)
	if _, err := first.index(); err != nil {
		t.Fatal(err)
	}
	second, kept := reopened(t, path, root)
	a := NewAPI([]*Run{second})
	if _, err := answer(t, a, "state"); err != nil {
		t.Fatal(err)
	}
	if _, err := second.index(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(kept.file(keptIndex), 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := answer(t, a, "span?z=5&x=31&b=1"); err == nil || !strings.Contains(err.Error(), "failed") {
		t.Errorf("an index without its parts answers: %v", err)
	}
	if _, err := answer(t, a, "runs"); err != nil {
		t.Errorf("what needs no parts: %v", err)
	}
}

// Many ask at once, and each gets the same answers.
func TestSeveralUsersAtOnce(t *testing.T) {
	run, _ := fileRun(t, fixture(t, 12, 30))
	a := NewAPI([]*Run{run})
	want := map[string]string{}
	b := NewAPI([]*Run{runOf(fixture(t, 12, 30))})
	for _, q := range questions {
		if strings.HasPrefix(q, "state") || strings.HasPrefix(q, "runs") {
			continue // names, and how far it is
		}
		got, err := answer(t, b, q)
		if err != nil {
			t.Fatal(err)
		}
		want[q] = string(got.Body)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for q, body := range want { // in another order each time
				got, err := answer(t, a, q)
				if err != nil || string(got.Body) != body {
					t.Errorf("%s: another answer among many (%v)", q, err)
				}
			}
		})
	}
	all.Wait()
}

// What a lime that was killed left of a file that it kept is used again.
func TestKilledStoresDoNotAddUp(t *testing.T) {
	s := &store{dir: t.TempDir()}
	for range 3 {
		var killed sync.WaitGroup
		killed.Go(func() {
			_ = s.write("answer", func(f *os.File) error {
				f.Close() // as SIGKILL leaves it: not locked, not renamed, not removed
				runtime.Goexit()
				return nil
			})
		})
		killed.Wait()
	}
	if err := s.write("answer", func(f *os.File) error { _, err := f.WriteString("whole"); return err }); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) != 1 || files[0].Name() != "answer" {
		t.Errorf("left: %v, %v", files, err)
	}
}
