package ledger

import (
	"fmt"
	"math"
	"testing"

	"lime/internal/profile"
)

// TestThreadsOwnFunction: threads that begin in a library, behind any number of its frames, each
// with a function of its own: which one is settled in the library, and the row stands at what the
// function does.
func TestThreadsOwnFunction(t *testing.T) {
	for layers := range 5 {
		lines := map[string]int32{"few": 40, "many": 50, "turn": 51, "body": 51, "f": 60, "g": 60}
		w := newWorld(6, lines, map[string]uint32{"body": 9, "g": 9})
		libc := w.prof.AddImage(profile.Image{Path: "/lib/libc.so.6"})
		for p := range 6 {
			tr := w.thread("clone")
			w.prof.Nodes[w.node("clone")].Image = libc
			enter(tr, libc, layers, func() {
				if p == 4 {
					tr.call("many", profile.EdgeCallInd, func() { tr.loop("turn", "body", 300, nil) })
				} else {
					tr.call("few", profile.EdgeCallInd, func() { tr.loop("f", "g", 10, nil) })
				}
				tr.fall("back")
				w.prof.Nodes[w.node("back")].Image = libc
			})
			tr.end()
		}
		w.barrier(t)
		a := w.account(t)
		near(t, a, Entry, 51, 1)
		nothing(t, a, 51)
	}
}

// enter calls through so many functions of a library.
func enter(tr *track, image profile.ImageID, layers int, body func()) {
	if layers == 0 {
		body()
		return
	}
	name := fmt.Sprintf("layer%d", layers)
	tr.w.prof.Nodes[tr.w.node(name)].Image = image
	tr.call(name, profile.EdgeCallInd, func() { enter(tr, image, layers-1, body) })
	tr.fall(name + "-back")
	tr.w.prof.Nodes[tr.w.node(name+"-back")].Image = image
}

// TestWorkForOneThread: where a runtime chooses the thread, by a call or at the line of a directive,
// the row stands at the work, and says where the test is.
func TestWorkForOneThread(t *testing.T) {
	for _, c := range []struct {
		called, text string
		kind         Kind
		line         int32
	}{
		{"GOMP_single_start", "", Chosen, 30},
		{"__kmpc_single@plt", "", Chosen, 30},
		{"first_one", "", Branch, 20}, // the program's own
		{"me", "#pragma omp master", Chosen, 30},
		{"me", "!$OMP MASKED filter(2)", Chosen, 30},
		{"me", "#pragma omp for", Branch, 20},
	} {
		w := newWorld(4, map[string]int32{"start": 10, "test": 20, "do": 25, "guard": 30, "body": 30, "end": 40},
			map[string]uint32{"body": 9})
		w.prof.Files[w.file].Lines = map[int32]string{20: c.text}
		for p := range 4 {
			tr := w.thread("start")
			tr.call(c.called, profile.EdgeCall, func() {})
			tr.fall("test")
			if p == 1 {
				tr.take("do")
				tr.loop("guard", "body", 200, nil)
			}
			tr.fall("end")
			tr.end()
		}
		w.prof.Nodes[w.node(c.called)].Function = w.prof.AddFunction(profile.Function{Name: c.called, File: profile.None})
		w.prof.Nodes[w.node("test")].Kind = profile.EndCond
		w.barrier(t)
		a := w.account(t)
		r := a.find(c.kind, c.line)
		if math.Abs(r.Share-1) > 0.02 || (r.Test != nil) != (c.kind == Chosen) || r.Test != nil && r.Test.Line != 20 {
			t.Errorf("%s, %q: %+v", c.called, c.text, a.Rows)
		}
	}
}
