package profile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestTextRoundTrip(t *testing.T) {
	for seed := range uint64(30) {
		p := New(Meta{})
		fill(t, p, seed, int(seed)*3)
		var b bytes.Buffer
		if err := WriteText(&b, p); err != nil {
			t.Fatal(err)
		}
		q, err := ParseText(b.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		sameProfile(t, q, p)
	}
}

func TestTextByHand(t *testing.T) {
	hand, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseText(string(hand))
	if err != nil {
		t.Fatal(err)
	}
	var in *Instance
	for in = range p.Instances(0) {
	}
	want := []Count{{0, 0, 10}, {0, 1, 4}, {1, 2, 6}, {2, 0, 1}, {2, 1, 1}, {2, 2, 1}}
	if !reflect.DeepEqual(in.Edges, want) {
		t.Errorf("edges %v", in.Edges)
	}
	if in.Parts[1].Release != 100 || in.Parts[2].Release != 120 {
		t.Errorf("releases %d, %d", in.Parts[1].Release, in.Parts[2].Release)
	}
	if in.Parts[0].EntryStack != nil || in.Parts[2].EntryStack == nil {
		t.Error("unknown and empty stacks are not kept apart")
	}
	golden(t, "small.golden", p)
}

func golden(t *testing.T, file string, s Source) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s:\n%s", path, b.String())
	}
}

func TestTextErrors(t *testing.T) {
	const base = "lime-profile 1\nsection 0\nthread 0\nnode 0\nedge 0 from=0\n"
	for _, c := range []struct{ text, want string }{
		{"", "empty: a profile in text starts with"},
		{"lime-profile 3\n", "line 1: a profile in text starts with"},
		{base + "node 7\n", "line 6: node: the next id is 1"},
		{base + "node\n", "line 6: node: the next id is 1"},
		{base + "node 1 sort=3\n", `line 6: node: 1: "sort=3" is not a key=value of this line`},
		{base + "node 1 addr=zz\n", `line 6: node: 1: addr: "zz" is no number`},
		{base + "node 1 size=4294967296\n", `out of range`},
		{base + "node 1 kind=loop\n", `kind: "loop" is none of fall, cond`},
		{base + "node 1 at=0:x\n", `at: position 0:x: "x" is no number`},
		{base + "node 1 at=-1:0:0:\"f\"+x\n", `at: position -1:0:0:"f"+x: "x" is no number`},
		{base + "node 1 at=-1:0:0:\"f\"0x1\n", "is not a quoted string"},
		{base + "node 1 image=4\n", "node 1: image 4 does not exist (there are 0)"},
		{base + "file 0 path=\"x\n", "quote without end"},
		{base + "line file=0 n=1\n", "line 1 of file 0 cannot be"},
		{base + "zebra 1\n", "line 6: zebra: unknown word"},
		{base + "part thread=0\n", "part: outside of an instance"},
		{base + "edges 0 1\n", "edges: outside of an instance"},
		{base + "instance section=1\npart thread=0\n", "instance of line 6: section 1 does not exist"},
		{base + "instance section=0\n", "instance of line 6: it has no parts"},
		{base + "instance section=0\npart thread=0\npart thread=0\n", "part 1: thread 0 takes part twice"},
		{base + "instance section=0\npart thread=0 start=5\n", "times are out of order: start 5, arrive 0"},
		{base + "instance section=0\npart thread=0\nedges 0 1 2\n", "edges: part 1 does not exist (there are 1)"},
		{base + "instance section=0\npart thread=0\nedges 1 1\n", "edges: row 1 does not exist (there are 1)"},
		{base + "instance section=0\npart thread=0\nedges 0 1\nedges 0 1\n", "is out of order or there twice"},
		{base + "instance section=0\npart thread=0\nedges 0 -1\n", "is no number that fits"},
		{base + "path 0 parent=0\n", "path 0: path 0 does not exist"},
		{base + "sample value=-1\n", "path_sample 0: value -1"},
		{base + "sample metric=time value=-1\n", "path_sample 0: value -1"},
		{base + "node 1 function=\xff\n", "not UTF-8"},
	} {
		if _, err := ParseText(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	hand, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(hand))
	p := New(Meta{})
	fill(f, p, 4, 3)
	var b bytes.Buffer
	if err := WriteText(&b, p); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseText(s)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteText(&b, p); err != nil {
			t.Fatal(err)
		}
		q, err := ParseText(b.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		sameProfile(t, q, p)
	})
}
