package ledger

import (
	"slices"
	"testing"

	"lime/internal/profile"
)

// libraryWorld has a loop in a library, which lines 10 and, if both do, 20 of the program call; two
// threads' runs longer.
func libraryWorld(image string, both bool) *world {
	lines := map[string]int32{"start": 1, "sort": 10, "more": 20, "guard": 70, "body": 70, "end": 30}
	w := newWorld(8, lines, map[string]uint32{"body": 5, "end": 1000})
	libc := w.prof.AddImage(profile.Image{Path: image})
	for _, name := range []string{"msort", "guard", "body", "guard-skip"} {
		w.prof.Nodes[w.node(name)].Image = libc
	}
	for p := range 8 {
		tr := w.thread("start")
		for _, from := range []string{"sort", "more"} {
			tr.fall(from)
			if from == "sort" || both {
				tr.call("msort", profile.EdgeCall, func() { tr.loop("guard", "body", 100+40*(p/6)*(p-5), nil) })
			}
		}
		tr.fall("end")
		tr.end()
	}
	return w
}

// TestLibraryCodeIsItsCallers: what a library does stands at the line of the program that called
// it, if one line alone did.
func TestLibraryCodeIsItsCallers(t *testing.T) {
	w := libraryWorld("/lib/libc.so.6", false)
	w.barrier(t)
	a := w.account(t)
	near(t, a, Call, 10, 1)
	nothing(t, a, 10)
	if r := a.find(Call, 10); r.Inside == nil || r.Inside.Line != 70 || len(r.Edges) != 0 {
		t.Errorf("inside: %+v, edges %v", r.Inside, r.Edges)
	}
}

// What the dynamic linker binds at the first call is not the linker's: each function stands at the
// line that calls it.
func TestBoundFunctionIsItsCallers(t *testing.T) {
	w := newWorld(8, map[string]int32{"start": 1, "moves": 10, "waits": 20}, map[string]uint32{"body": 5, "end": 1000})
	libc := w.prof.AddImage(profile.Image{Path: "/lib/libc.so.6"})
	linker := w.prof.AddImage(profile.Image{Path: "/lib64/ld-linux-x86-64.so.2"})
	for name, image := range map[string]profile.ImageID{"memmove": libc, "guard": libc, "body": libc,
		"body-done": libc, "guard-skip": libc, "wait": libc, "bind": linker} {
		w.prof.Nodes[w.node(name)].Image = image
	}
	for _, name := range []string{"memmove@plt", "wait@plt"} {
		w.prof.Nodes[w.node(name)].Function = w.prof.AddFunction(profile.Function{Name: name, File: profile.None})
	}
	for p := range 8 {
		tr := w.thread("start")
		for round := range 3 {
			call := func(from, stub, to string, body func()) {
				tr.fall(from)
				tr.call(stub, profile.EdgeCall, func() {
					if round == 0 {
						tr.to("bind", profile.EdgeJumpInd)
					}
					tr.to(to, profile.EdgeJumpInd)
					body()
				})
			}
			call("moves", "memmove@plt", "memmove", func() { tr.loop("guard", "body", 100+40*(p/6)*(p-5), nil) })
			call("waits", "wait@plt", "wait", func() {})
		}
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Call, 10, 1)
	nothing(t, a, 10)
}

// The events of a block that was split meanwhile stand where its parts do.
func TestSplitBlockIsItsCallers(t *testing.T) {
	w := libraryWorld("/lib/libc.so.6", false)
	whole := w.prof.Nodes[w.node("body")]
	whole.Instrs++
	id := w.prof.AddNode(whole)
	kind := w.prof.AddKind(profile.EventKind{Name: "llc-miss"})
	event := w.prof.AddEvent(profile.Event{Kind: kind, Node: id, Addr: whole.Addr})
	for p := range 8 {
		w.inst.Costs = append(w.inst.Costs, profile.Count{Row: int32(event), Part: int32(p), N: uint64(10 + p)})
		w.inst.Parts[p].Arrive += uint64(10 + p)
	}
	w.barrier(t)
	a := w.account(t)
	if r := a.find(Price, 10); r.Event != "llc-miss" {
		t.Errorf("no misses at line 10: %+v", a.Rows)
	}
}

// A recursion in a library without lines is the program's call, once: rows that stand there already
// are not netted again.
func TestLibraryRecursionIsItsCallers(t *testing.T) {
	w := newWorld(8, map[string]int32{"trees": 72, "tree": 72}, map[string]uint32{"walk": 20})
	libc := w.prof.AddImage(profile.Image{Path: "/lib/libc.so.6"})
	for _, name := range []string{"walk", "leaf", "children", "child", "call", "next", "done", "other"} {
		w.prof.Nodes[w.node(name)].Image = libc
	}
	for p := range 8 {
		tr := w.thread("start")
		tr.loop("trees", "tree", 16, func(i int) {
			depth, children := 5, 3 // 364 nodes
			if i < 2*p {
				depth, children = 4, 4 // 341 nodes
			}
			if i == 15 && p%2 == 1 { // a decision of the program's own at the same line
				tr.call("other", profile.EdgeCall, func() {})
				return
			}
			tr.call("walk", profile.EdgeCall, func() { walk(tr, depth, children) })
			tr.fall("back")
		})
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Call, 72, 1)
	nothing(t, a, 72)
}

// TestSharedLibraryCodeStays: with two lines that call it nobody knows whose time it was; and what
// the dynamic linker does once is no fault of the line that was the first to call.
func TestSharedLibraryCodeStays(t *testing.T) {
	for _, w := range []*world{libraryWorld("/lib/libc.so.6", true), libraryWorld("/lib64/ld-linux-x86-64.so.2", false)} {
		w.barrier(t)
		a := w.account(t)
		near(t, a, Loop, 70, 1)
		if i := slices.IndexFunc(a.Rows, func(r Row) bool { return r.Inside != nil }); i >= 0 {
			t.Errorf("%+v is said to be within the library", a.Rows[i].Place)
		}
	}
}

// TestTheLinkerLeadsNowhere: the dynamic linker goes on to whatever is called for the first time,
// so that two functions of a library meet in it. That hides neither's caller.
func TestTheLinkerLeadsNowhere(t *testing.T) {
	lines := map[string]int32{"start": 1, "sort": 10, "wait": 20, "guard": 70, "body": 70, "waiting": 80, "end": 30}
	w := newWorld(8, lines, map[string]uint32{"body": 5, "end": 1000})
	libc, ld := w.prof.AddImage(profile.Image{Path: "/lib/libc.so.6"}), w.prof.AddImage(profile.Image{Path: "/lib64/ld-linux-x86-64.so.2"})
	for _, name := range []string{"msort", "guard", "body", "guard-skip", "waiting"} {
		w.prof.Nodes[w.node(name)].Image = libc
	}
	w.prof.Nodes[w.node("resolve")].Image = ld
	for instance := range 2 { // in the first one all threads are equal, and have all looked up
		for p := range 8 {
			tr := w.thread("start")
			call := func(name string, body func()) {
				tr.openers = append(tr.openers, tr.at)
				kind := profile.EdgeCall
				if instance == 0 {
					tr.to("resolve", kind)
					kind = profile.EdgeJumpInd
				}
				tr.to(name, kind)
				body()
				tr.ret()
			}
			tr.fall("wait")
			call("waiting", func() {})
			tr.fall("sort")
			call("msort", func() { tr.loop("guard", "body", 100+instance*40*(p/6)*(p-5), nil) })
			tr.fall("end")
			tr.end()
		}
		w.barrier(t)
	}
	near(t, w.account(t), Call, 10, 1)
}

// What libraries do as they are loaded, which only the dynamic linker calls, is no line's: it is
// one row, without a place. The program may live where libraries do: then it is not what is loaded.
func TestLoadingIsNobodys(t *testing.T) {
	for _, direct := range []bool{false, true} {
		w := newWorld(8, map[string]int32{"start": 1, "guard": 70, "body": 70, "early": 71, "end": 30}, map[string]uint32{"body": 5, "end": 1000})
		libc := w.prof.AddImage(profile.Image{Path: "/lib/libc.so.6"})
		linker := w.prof.AddImage(profile.Image{Path: "/lib64/ld-linux-x86-64.so.2"})
		for name, image := range map[string]profile.ImageID{"ctor": libc, "guard": libc, "body": libc,
			"guard-skip": libc, "early": libc, "early-skip": libc, "more": libc,
			"load": linker, "loaded": linker} {
			w.prof.Nodes[w.node(name)].Image = image
		}
		for p := range 8 {
			tr := w.thread("load")
			body := func() {
				tr.loop("guard", "body", 100+40*(p/6)*(p-5), nil)
				tr.loop("early", "more", 10*p, nil)
			}
			if direct {
				tr.fall("ctor")
				body()
			} else {
				tr.call("ctor", profile.EdgeCallInd, body)
			}
			tr.fall("start")
			tr.fall("end")
			tr.end()
		}
		w.barrier(t)
		a := w.account(t)
		i := slices.IndexFunc(a.Rows, func(r Row) bool { return r.Kind == Loading })
		switch {
		case direct && i >= 0:
			t.Errorf("nothing is loaded, but %+v", a.Rows[i])
		case !direct && (i < 0 || a.Rows[i].Share < 0.99 || a.Rows[i].Place.Node != profile.None):
			t.Errorf("what is loaded is not one row: %+v", a.Rows)
		}
	}
}
