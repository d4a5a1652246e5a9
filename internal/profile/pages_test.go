package profile

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// byDatabase opens a file so that its instances are read through the database.
func byDatabase(t testing.TB, path string) *Reader {
	t.Helper()
	r := openFile(t, path)
	r.pages.close()
	r.pages = nil
	var err error
	if r.get, err = r.db.Prepare(r.whole("", "WHERE instance.id=?")); err == nil {
		r.several, err = r.db.Prepare(r.whole("", batchCondition))
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everything is all instances of a profile by every way there is, and the errors.
func everything(r *Reader) (out []*Instance, errs []bool) {
	add := func(in *Instance) error { out = append(out, in); return nil }
	errs = append(errs, r.Scan(add) != nil)
	errs = append(errs, r.ScanParts(func(in *Instance) error {
		one := *in
		one.Parts = append([]Part{}, in.Parts...)
		return add(&one)
	}) != nil)
	for n := r.instances() - 1; n >= -1; n -= 1 + (n+1)%3 {
		errs = append(errs, r.ScanPicked([]int{n, n / 2}, func(in *Instance) error {
			one := *in
			one.Parts = append([]Part{}, in.Parts...)
			return add(&one)
		}) != nil)
	}
	for s := range r.ids {
		for in, err := range r.Instances(SectionID(s)) {
			if errs = append(errs, err != nil); err == nil {
				add(in)
			}
		}
		for seq := range r.ids[s] {
			in, err := r.Instance(SectionID(s), seq)
			if errs = append(errs, err != nil); err == nil {
				add(in)
			}
		}
	}
	return out, errs
}

// What the file's pages say is what the database says, of good profiles and of damaged ones.
func TestPagesAndDatabaseAgree(t *testing.T) {
	for seed := range uint64(30) {
		path := filepath.Join(t.TempDir(), "lime.data")
		writeFile(t, path, seed, int(seed)*3)
		agree(t, path)
	}
	for _, sql := range []string{
		"UPDATE instance SET parts=x'09' WHERE id=1", "UPDATE instance SET parts=NULL WHERE id=2",
		"UPDATE instance SET edges=x'00ffffffff7f' WHERE id=0", "UPDATE instance SET work=work+1 WHERE id=3",
		"UPDATE instance SET threads=NULL WHERE id=3", "UPDATE instance SET edges=zeroblob(100000) WHERE id=0",
		"INSERT OR REPLACE INTO host_time VALUES(2, 5, x'00ff')", "INSERT OR REPLACE INTO meeting VALUES(1, 'world', 3, x'0009')",
	} {
		if _, errs := agree(t, change(t, sql)); !errs {
			t.Errorf("%s: nobody noticed", sql)
		}
	}
}

func agree(t *testing.T, path string) (instances int, failed bool) {
	t.Helper()
	p, d := openFile(t, path), byDatabase(t, path)
	if p.pages == nil {
		t.Fatal("the database was asked for a file without a log")
	}
	got, gotErrs := everything(p)
	want, wantErrs := everything(d)
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErrs, wantErrs) || !reflect.DeepEqual(p.ids, d.ids) {
		t.Errorf("%s: %d instances, the database has %d; errors: %v and %v", path, len(got), len(want), gotErrs, wantErrs)
	}
	for _, e := range gotErrs {
		failed = failed || e
	}
	return len(got), failed
}

// A file with a log beside it is the database's to read, and so is one that is in that mode still.
func TestLogsAreReadByTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	killWriter(t, path, 200_000_000)
	if r := openFile(t, path); r.pages != nil {
		t.Error("the file's pages were read past its log")
	}
	path = filepath.Join(t.TempDir(), "lime.data")
	writeFile(t, path, 8, 6)
	db, err := openDB(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA journal_mode=WAL"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	r := openFile(t, path)
	if r.pages != nil || r.InstanceCount(0)+r.InstanceCount(1) != 6 {
		t.Errorf("pages: %v, %d instances", r.pages != nil, r.InstanceCount(0)+r.InstanceCount(1))
	}
}

// Another file that takes the place of one while it is opened is told from it.
func TestPagesOfAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	writeFile(t, path, 8, 6)
	p := openPages(path)
	defer p.close()
	if !p.same(path) {
		t.Error("it is not the same as itself")
	}
	other := path + ".new"
	writeFile(t, other, 9, 7)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if p.same(path) {
		t.Error("another file is taken for the one that was opened")
	}
}

// An error from the file's pages names the page.
func TestDamagedPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	writeFile(t, path, 8, 60)
	r := openFile(t, path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[4096:])
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := r.Scan(func(*Instance) error { return nil }); err == nil || !strings.Contains(err.Error(), "page ") {
		t.Error(err)
	}
}

// Who still reads when the profile is closed gets an error.
func TestReadingAfterClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lime.data")
	writeFile(t, path, 8, 60)
	r := openFile(t, path)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, errs := everything(r); slices.Contains(errs[:2], false) {
		t.Error("a closed profile was read")
	}
}
