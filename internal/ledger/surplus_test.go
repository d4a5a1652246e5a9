package ledger

import (
	"fmt"
	"math"
	"testing"

	"lime/internal/profile"
)

// TestOtherWork: a thread that comes in at a place of its own is charged where it spends its time,
// not where it came in.
func TestOtherWork(t *testing.T) {
	w := newWorld(4, map[string]int32{"start": 1, "guard": 10, "body": 10, "in": 50, "turn": 60, "write": 60},
		map[string]uint32{"body": 5, "write": 9})
	for range 3 {
		tr := w.thread("start")
		tr.loop("guard", "body", 20, nil)
		tr.end()
	}
	tr := w.thread("in")
	tr.loop("turn", "write", 500, nil)
	tr.end()
	w.barrier(t)
	a := w.account(t)
	if r := a.find(Entry, 60); r == nil || math.Abs(r.Share-1) > 0.01 {
		t.Errorf("rows: %+v", a.Rows)
	}
	if s := a.Spent; s == nil || s.Line != 60 || s.Share < 1 {
		t.Errorf("spent: %+v", s)
	}
}

// TestSpent: the decision is one line's, and the time goes to a function that it calls, and to a
// library for which that line stands.
func TestSpent(t *testing.T) {
	for _, in := range []string{"work", "sort"} {
		w := newWorld(4, map[string]int32{"start": 1, "if": 10, "do": 11, "f": 69, "guard": 70, "body": 70,
			"end": 30}, map[string]uint32{"body": 5})
		if in == "sort" {
			libc := w.prof.AddImage(profile.Image{Path: "/lib/libc.so.6"})
			for _, name := range []string{"f", "guard", "body", "guard-skip"} {
				w.prof.Nodes[w.node(name)].Image = libc
			}
		}
		for p := range 4 {
			tr := w.thread("start")
			tr.fall("if")
			if p == 2 {
				tr.take("do")
				tr.call("f", profile.EdgeCall, func() { tr.loop("guard", "body", 300, nil) })
				tr.fall("end")
			} else {
				tr.fall("end")
			}
			tr.end()
		}
		w.barrier(t)
		a := w.account(t)
		near(t, a, Branch, 10, 1)
		if s, want := a.Spent, map[string]int32{"work": 70, "sort": 11}[in]; s == nil || s.Line != want || s.Share < 0.9 {
			t.Errorf("%s: spent: %+v, want line %d", in, s, want)
		}
	}
}

// TestSpentOfAll: what the threads of a section do, whether alike or not; the library's time is its
// caller's.
func TestSpentOfAll(t *testing.T) {
	w := newWorld(2, map[string]int32{"start": 1, "do": 11, "f": 69, "guard": 70, "body": 70, "end": 30},
		map[string]uint32{"body": 5, "end": 100})
	libc := w.prof.AddImage(profile.Image{Path: "/lib/libc.so.6"})
	for _, name := range []string{"f", "guard", "body", "guard-skip"} {
		w.prof.Nodes[w.node(name)].Image = libc
	}
	for range 2 {
		tr := w.thread("start")
		tr.fall("do")
		tr.call("f", profile.EdgeCall, func() { tr.loop("guard", "body", 300, nil) })
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a, err := New(w.prof).Alone(0)
	if err != nil {
		t.Fatal(err)
	}
	if s := a.Spent; s == nil || s.Line != 11 || s.Share < 0.9 || s.Share > 1 {
		t.Errorf("%+v", a.Spent)
	}
}

// TestParting: the thread that comes in at a place of its own is charged at the first line, from
// there on, that leads to its work, and not deep in what it calls; in a function that the others
// call as well the decision in it is charged; of functions inlined into one another the outermost
// line stands at which no other thread has been.
func TestParting(t *testing.T) {
	for _, c := range []struct {
		name           string
		shared, inline bool
		kind           Kind
		want           int32
		role           bool // the function that it comes in at is its own
	}{{"called", false, false, Entry, 52, false}, {"shared", true, false, Branch, 70, false},
		{"inlined", false, true, Entry, 52, false}, {"a role of its own", false, false, Entry, 80, true}} {
		lines := map[string]int32{"start": 1, "do": 10, "in": 50, "next": 51, "write": 52, "f": 70, "part": 71, "turn": 80, "put": 80, "end": 30}
		w := newWorld(4, lines, map[string]uint32{"put": 9})
		for range 3 {
			tr := w.thread("start")
			if c.shared {
				tr.fall("do")
				tr.call("f", profile.EdgeCall, func() {})
			}
			tr.fall("end")
			tr.end()
		}
		tr := w.thread("in")
		tr.fall("next")
		if c.inline {
			tr.loop("turn", "put", 500, nil)
			for _, name := range []string{"turn", "put"} {
				n := &w.prof.Nodes[w.nodes[name]]
				n.Frames = append(n.Frames, profile.Frame{File: w.file, Line: 52, Function: "worker"})
			}
		} else {
			tr.fall("write")
			tr.call("f", profile.EdgeCall, func() {
				tr.fall("part")
				tr.loop("turn", "put", 500, nil)
			})
			tr.fall("end")
		}
		tr.end()
		if c.role {
			for _, name := range []string{"in", "next", "write"} {
				w.prof.Nodes[w.nodes[name]].Frames = []profile.Frame{{File: w.file, Line: lines[name], Function: "writer"}}
			}
		}
		w.barrier(t)
		a := w.account(t)
		if r := a.find(c.kind, c.want); r.Share < 0.5 {
			t.Errorf("%s: nothing at line %d: %+v", c.name, c.want, a.Rows)
		}
	}
}

// TestHotWay: many lines share the time, none of which stands out; most of it is come to through
// one call of the program's own. What two calls share is neither's.
func TestHotWay(t *testing.T) {
	lines, size := map[string]int32{"start": 1, "make": 11, "parse": 12, "end": 30}, map[string]uint32{}
	var parts []string
	for i := range 40 {
		name := fmt.Sprint("part", i)
		lines[name], size[name] = int32(100+i), 20
		parts = append(parts, name)
	}
	lines["shared"], size["shared"] = 200, 1
	w := newWorld(2, lines, size)
	in := func(function string, names ...string) {
		id := w.prof.AddFunction(profile.Function{Name: function})
		for _, name := range names {
			w.prof.Nodes[w.node(name)].Function = id
		}
	}
	in("main", "start", "make", "parse", "end")
	in("made", parts[:10]...)
	in("parsed", parts[10:]...)
	in("shared", "shared")
	for range 2 {
		tr := w.thread("start")
		walk := func(names []string) func() {
			return func() {
				for _, name := range names[1:] {
					tr.fall(name)
				}
				tr.call("shared", profile.EdgeCall, func() {})
			}
		}
		tr.fall("make")
		tr.call(parts[0], profile.EdgeCall, walk(parts[:10]))
		tr.fall("parse")
		tr.call(parts[10], profile.EdgeCall, walk(parts[10:]))
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a, err := New(w.prof).Alone(0)
	if err != nil {
		t.Fatal(err)
	}
	if s := a.Spent; s == nil || s.Line != 12 || s.Share < 0.7 || s.Share > 0.75 {
		t.Errorf("%+v, want line 12 with 0.73", a.Spent)
	}
}
