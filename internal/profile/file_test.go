package profile

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"
)

// sameProfile compares all that two sources hold.
func sameProfile(t *testing.T, got, want Source) {
	t.Helper()
	if !reflect.DeepEqual(got.Meta(), want.Meta()) {
		t.Errorf("meta:\n got %+v\nwant %+v", *got.Meta(), *want.Meta())
	}
	g, w := reflect.ValueOf(*got.Tables()), reflect.ValueOf(*want.Tables())
	for i := range g.NumField() {
		if g.Field(i).Len() == 0 && w.Field(i).Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("table %s:\n got %+v\nwant %+v", g.Type().Field(i).Name, g.Field(i), w.Field(i))
		}
	}
	for s := range want.Tables().Sections {
		var all []*Instance
		for in, err := range want.Instances(SectionID(s)) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, in)
		}
		sameInstances(t, got, SectionID(s), all)
	}
}

func sameInstances(t *testing.T, got Source, s SectionID, want []*Instance) {
	t.Helper()
	n := 0
	for in, err := range got.Instances(s) {
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(want) || !reflect.DeepEqual(in, want[n]) {
			t.Fatalf("section %d, instance %d:\n got %+v\nwant %+v", s, n, in, want[min(n, len(want)-1)])
		}
		n++
	}
	if n != len(want) || got.InstanceCount(s) != n {
		t.Fatalf("section %d: %d instances (says %d), want %d", s, n, got.InstanceCount(s), len(want))
	}
}

// writeFile writes the random profile of a seed.
func writeFile(t testing.TB, path string, seed uint64, instances int) {
	t.Helper()
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w, seed, instances)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func openFile(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestFileRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(20) {
		path := filepath.Join(dir, "odd name %41?#.data")
		writeFile(t, path, seed, 1+int(seed)*2)
		mem := New(Meta{})
		fill(t, mem, seed, 1+int(seed)*2)
		r := openFile(t, path)
		if err := Validate(r); err != nil {
			t.Fatal(err)
		}
		sameProfile(t, r, mem)
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lime.data")
	for _, junk := range []string{path, path + "-wal", path + "-shm", path + "-journal", path + ".tmp"} {
		if err := os.WriteFile(junk, []byte(textWord+"left by another run"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, path, 1, 10)
	openFile(t, path)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
}

func TestSameContentSameBytes(t *testing.T) {
	dir := t.TempDir()
	var first []byte
	for i, delay := range []time.Duration{0, 150 * time.Millisecond, 0} {
		path := filepath.Join(dir, "lime.data")
		w, err := Create(path, Meta{Cores: i})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay) // moves the borders of the transactions
		fill(t, w, 5, 40)
		time.Sleep(delay)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Fatalf("run %d gave other bytes", i)
		}
	}
}

func TestReaderIsConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	writeFile(t, path, 3, 60)
	mem := New(Meta{})
	fill(t, mem, 3, 60)
	r := openFile(t, path)
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for in, err := range r.Instances(SectionID(g % 2)) {
				if err != nil {
					t.Error(err)
					return
				}
				again, err := r.Instance(in.Section, in.Seq) // within the iteration
				if err != nil || !reflect.DeepEqual(in, again) {
					t.Errorf("instance %d of section %d: %v", in.Seq, in.Section, err)
				}
			}
		})
	}
	wg.Wait()
	sameProfile(t, r, mem)
}

func TestReadWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w, 9, 5)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := openFile(t, path)
	if n := r.InstanceCount(0) + r.InstanceCount(1); n != 5 {
		t.Fatalf("%d instances of 5", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	mem := New(Meta{})
	fill(t, mem, 9, 5)
	sameProfile(t, r, mem)
	r.Close()
	sameProfile(t, openFile(t, path), mem)
}

func TestCreateRefusesWhatIsNoFile(t *testing.T) {
	if _, err := Create(os.DevNull, Meta{}); err == nil {
		t.Error("no error for a device")
	}
	if _, err := Create(t.TempDir(), Meta{}); err == nil {
		t.Error("no error for a directory")
	}
	if _, err := Create("/nonexistent/lime.data", Meta{}); err == nil {
		t.Error("no error for a missing directory")
	}
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode().IsRegular() {
		t.Fatal("the device is gone")
	}
}
