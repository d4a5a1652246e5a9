package ledger

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// alone is what one thread of a world does that goes its way once.
func (w *world) alone(t *testing.T, way func(tr *track)) Alone {
	t.Helper()
	tr := w.thread("start")
	way(tr)
	tr.fall("end")
	tr.end()
	w.barrier(t)
	a, err := New(w.prof).Alone(0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// in puts blocks into an image.
func (w *world) in(image string, names ...string) {
	id := w.prof.AddImage(profile.Image{Path: image})
	for _, n := range names {
		w.prof.Nodes[w.node(n)].Image = id
	}
}

// function makes a block the first one of a function of a name.
func (w *world) function(block, name string) {
	n := &w.prof.Nodes[w.node(block)]
	n.Function = w.prof.AddFunction(profile.Function{Name: name, File: profile.None, Entry: n.Addr})
}

func wantAlone(t *testing.T, a Alone, line int32, share, loading float64, about bool) {
	t.Helper()
	s := a.Spent
	if s == nil || s.Line != line || math.Abs(s.Share-share) > 0.03 || s.About != about || math.Abs(a.Loading-loading) > 0.02 {
		t.Errorf("%+v of which %.3f is loading; want line %d with %.3f, and %.3f", s, a.Loading, line, share, loading)
	}
}

// A loop whose lines share the time is what takes it, and no line of it, nor the call around it.
func TestLoopAlone(t *testing.T) {
	w := newWorld(1, map[string]int32{"start": 1, "do": 10, "head": 20, "a": 21, "b": 22, "c": 23, "d": 24, "end": 30},
		map[string]uint32{"a": 5, "b": 5, "c": 5, "d": 5})
	wantAlone(t, w.alone(t, func(tr *track) {
		tr.fall("do")
		tr.call("head", profile.EdgeCall, func() {
			for range 50 {
				tr.fall("a")
				tr.fall("b")
				tr.fall("c")
				tr.fall("d")
				tr.take("head")
			}
			tr.take("out")
		})
	}), 20, 1, 0, false)
}

// A library's function that is called from elsewhere as well does not hide who has most of it.
func TestSharedLibraryAlone(t *testing.T) {
	w := newWorld(1, map[string]int32{"start": 1, "x": 31, "y": 32, "last": 50, "end": 60}, map[string]uint32{"x": 2, "y": 2, "alloc": 9})
	w.in("/lib/libc.so.6", "alloc")
	wantAlone(t, w.alone(t, func(tr *track) {
		for range 100 {
			tr.take("x")
			tr.call("alloc", profile.EdgeCall, func() {})
			tr.fall("y")
			tr.call("alloc", profile.EdgeCall, func() {})
		}
		tr.fall("last")
		tr.call("alloc", profile.EdgeCall, func() {})
	}), 31, 1, 0, true)
}

// What the dynamic linker does is no line's, however much it is.
func TestLoadingIsNoLines(t *testing.T) {
	for _, rounds := range []int{10, 100, 1000} {
		w := newWorld(1, map[string]int32{"start": 1, "do": 10, "guard": 20, "body": 20, "end": 30}, map[string]uint32{"body": 9, "fixup": 9})
		w.in("/lib64/ld-linux-x86-64.so.2", "ld", "fixup")
		w.in("/lib/libc.so.6", "init", "init-guard", "init-body", "init-guard-skip", "init-body-done")
		own, all := 9.0*1000, 9.0*(1000+float64(rounds))+float64(rounds)
		wantAlone(t, w.alone(t, func(tr *track) {
			tr.call("ld", profile.EdgeCall, func() {
				for range rounds {
					tr.fall("fixup")
				}
				tr.call("init", profile.EdgeCall, func() { tr.loop("init-guard", "init-body", rounds, nil) })
				tr.fall("ld")
			})
			tr.fall("do")
			tr.loop("guard", "body", 1000, nil)
		}), 20, own/all, 1-own/all, false)
	}
}

// A function that is called once, through the dynamic linker, is its caller's, whatever of the
// program's own it calls in turn.
func TestBoundOnceAlone(t *testing.T) {
	w := newWorld(1, map[string]int32{"start": 1, "do": 10, "compare": 40, "end": 30}, map[string]uint32{"sort": 5, "compare": 5})
	w.in("/lib/libc.so.6", "sort", "sort-next")
	w.in("/lib64/ld-linux-x86-64.so.2", "bind")
	w.function("stub", "qsort@plt")
	w.function("sort", "qsort")
	w.function("compare", "compare")
	wantAlone(t, w.alone(t, func(tr *track) {
		tr.fall("do")
		tr.call("stub", profile.EdgeCall, func() {
			tr.to("bind", profile.EdgeJumpInd)
			tr.to("sort", profile.EdgeJumpInd)
			for range 100 {
				tr.call("compare", profile.EdgeCallInd, func() {})
				tr.fall("sort")
			}
		})
	}), 10, 1, 0, false)
}
