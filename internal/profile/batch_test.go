package profile

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// What is read many at once is what is read one by one, also by several who read at the same time
// and by one who reads others meanwhile.
func TestInstancesAreThoseReadOneByOne(t *testing.T) {
	for _, n := range []int{0, 1, batchSize - 1, batchSize, batchSize + 1, 5*batchSize + 3} {
		path := filepath.Join(t.TempDir(), "a.lime")
		w, err := Create(path, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, w, uint64(n), n)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		done := make(chan int, 8)
		for range cap(done) {
			go func() {
				seen := 0
				for s := range r.Tables().Sections {
					for in, err := range r.Instances(SectionID(s)) {
						one, other := r.Instance(SectionID(s), in.Seq)
						if err != nil || other != nil || !reflect.DeepEqual(in, one) {
							t.Errorf("%d instances: section %d, instance %d: %v, %v", n, s, in.Seq, err, other)
						}
						seen++
					}
				}
				done <- seen
			}()
		}
		for range cap(done) {
			if seen := <-done; seen != n {
				t.Errorf("%d of %d instances", seen, n)
			}
		}
	}
}

// Those before a damaged one are yielded, and the error names it.
func TestInstancesUpToADamagedOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lime")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	w.AddSection(Section{EndNode: None})
	w.AddThread(Thread{Parent: None, Entry: None})
	for i := range 3 * batchSize {
		at := uint64(i)
		if err := w.WriteInstance(&Instance{Parts: []Part{{Start: at, Arrive: at + 1, Release: at + 1, Entry: None, Exit: None}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := openDB(path, "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE instance SET parts = x'00ff' WHERE id = 20"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := 0
	for _, err := range r.Instances(0) {
		if err != nil {
			if !strings.Contains(err.Error(), "instance 20") || seen != 20 {
				t.Errorf("after %d instances: %v", seen, err)
			}
			return
		}
		seen++
	}
	t.Error("nobody noticed the damage")
}
