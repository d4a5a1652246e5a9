package profile

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTracesThatCannotBe(t *testing.T) {
	const base = "lime-profile 1\nthread 0\nnode 0\npath 0 node=0\n"
	for _, c := range []struct{ text, want string }{
		{"trace thread=0 at=10:5:0 at=20:10:0", ""},
		{"trace thread=1 at=10:5:0", "thread 1"},
		{"trace at=10:5:0", "thread -1"},
		{"trace thread=0 at=10:5:1", "path 1"},
		{"trace thread=0 at=10:5:-1", "path -1"},
		{"trace thread=0 at=10:5:0 at=9:1:0", "sample 1 is at 9"},
		{"trace thread=0 every=0", "none of its samples"},
		{"trace thread=0 at=10:5", "no AT:LENGTH:PATH"},
	} {
		_, err := ParseText(base + c.text + "\n")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// A file that says that a trace holds more than it can is refused before it takes the memory.
func TestAHostileTrace(t *testing.T) {
	p, err := ParseText("lime-profile 1\nthread 0\nnode 0\npath 0 node=0\ntrace thread=0 at=10:5:0\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, blob := range []string{"x'00ffffffffffffff7f'", "x'000105'", "x'0001'", "x'02'", "NULL", "7", "x'000114080000'"} {
		path := filepath.Join(t.TempDir(), "a.lime")
		if err := Save(path, false, p); err != nil {
			t.Fatal(err)
		}
		db, err := openDB(path, "mode=rw")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE trace SET samples = " + blob); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err := Open(path); err == nil {
			r.Close()
			t.Errorf("%s is taken", blob)
		}
	}
}
