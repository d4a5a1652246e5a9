package resolve

import (
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/symbol"
)

// ownFrames drops the innermost frames that are inlined code of a standard library or of an
// installed header: people look for the line of their own that called it (the head of
// a loop over a list, not the comparison of its iterators). Where all frames are
// such code, all are kept.
func (r *resolver) ownFrames(fs []symbol.Frame) []symbol.Frame {
	if r.o.AllFrames {
		return fs
	}
	for i := range fs {
		if !origin.LibraryFile(fs[i].File) {
			return fs[i:]
		}
	}
	return fs
}

// wrappers names the first blocks of functions that a standard library wraps around the program's
// own code (a thread's function, a task) by the first line of the program's own in them: that is
// what people call the function.
func (r *resolver) wrappers() {
	first := map[profile.FunctionID]*profile.Node{}
	for i := range r.t.Nodes {
		n := &r.t.Nodes[i]
		if n.Function == profile.None || !r.ownLine(n.Frames) {
			continue
		}
		if f := first[n.Function]; f == nil || n.Addr < f.Addr {
			first[n.Function] = n
		}
	}
	for i := range r.t.Nodes {
		n := &r.t.Nodes[i]
		if n.Function == profile.None || n.Addr != r.t.Functions[n.Function].Entry || len(n.First) == 0 || r.ownLine(n.First) {
			continue
		}
		if f := first[n.Function]; f != nil {
			n.First = f.Frames[r.outermost(f.Frames):]
		}
	}
}

// outermost is the outermost frame at a line of the program's own: what it calls in turn may be
// inlined, too.
func (r *resolver) outermost(fs []profile.Frame) int {
	for i := len(fs) - 1; i > 0; i-- {
		if r.ownLine(fs[i:]) {
			return i
		}
	}
	return 0
}

// ownLine reports whether the innermost frame is a line of the program's own.
func (r *resolver) ownLine(fs []profile.Frame) bool {
	return len(fs) > 0 && fs[0].Line > 0 && fs[0].File != profile.None && !origin.LibraryFile(r.t.Files[fs[0].File].Path)
}
