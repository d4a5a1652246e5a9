// Lines of calls that a compiler makes by itself.
//
// gcc gives its calls of the OpenMP runtime (and the tests of their results) the line of whatever
// was expanded before them, which may be the end of another function that was inlined there; the
// call itself is in no copy of it. Of functions that hold the body of a construct such a line can
// be refuted: an address that is not inlined has a line of its function's body, and that begins at
// the directive and holds no other function. What is refuted gets the nearest line of the body.

package resolve

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lime/internal/profile"
)

// NoteStaleLine says which lines were refuted, and what stands for them.
const NoteStaleLine = "stale-line"

// farthest is how far from a call a line of its own is looked for, in bytes.
const farthest = 1024

// sourceLine is a line of a source file.
type sourceLine struct {
	file profile.FileID
	line int32
}

// start is where a function begins.
type start struct {
	line int32
	name string
}

// stale refutes lines.
type stale struct {
	r      *resolver
	owners map[sourceLine]map[string]bool // functions whose code stands on the line, inlined or not
	names  map[string]bool                // of functions that are bodies of no construct
	starts map[profile.FileID][]start     // of functions that are not inlined
	calls  map[uint64]string              // call -> whom it calls
	told   []string
}

// outlined reports whether a function is the body of a construct that gcc made one of: the
// directive stands where it begins. Those of clang need no care.
func outlined(name string) bool { return strings.Contains(name, "._omp_fn.") }

// ends reports whether the code that a call of the runtime belongs to stands before it.
func ends(callee string) bool {
	return strings.Contains(callee, "_end") || strings.Contains(callee, "barrier")
}

// staleLines looks at all places that are known so far, and from then on at every further one.
func (r *resolver) staleLines() {
	s := &stale{r: r, owners: map[sourceLine]map[string]bool{}, calls: map[uint64]string{},
		names: map[string]bool{}, starts: map[profile.FileID][]start{}}
	bodies := false
	for _, loc := range r.places {
		for _, f := range loc.frames {
			if f.File == profile.None { // no line is known of this function
				continue
			}
			if outlined(f.Function) {
				bodies = true
			} else {
				s.names[bare(f.Function)] = true
			}
			k := sourceLine{f.File, f.Line}
			if s.owners[k] == nil {
				s.owners[k] = map[string]bool{}
			}
			s.owners[k][f.Function] = true
		}
	}
	if !bodies {
		return
	}
	for i := range r.t.Functions {
		f := &r.t.Functions[i]
		if loc, ok := r.raw(f.Image, f.Entry); ok {
			outer := loc.frames[len(loc.frames)-1]
			s.starts[outer.File] = append(s.starts[outer.File], start{outer.Line, outer.Function})
		}
	}
	for i := range r.t.Edges {
		e := &r.t.Edges[i]
		if e.Kind != profile.EdgeCall || e.From < 0 || e.To < 0 || int(e.From) >= len(r.t.Nodes) || int(e.To) >= len(r.t.Nodes) {
			continue
		}
		if fn := r.t.Nodes[e.To].Function; fn >= 0 && int(fn) < len(r.t.Functions) {
			s.calls[r.t.Nodes[e.From].LastAddr] = r.t.Functions[fn].Name
		}
	}
	r.stale = s
	for i := range r.t.Nodes {
		n := &r.t.Nodes[i]
		if loc, ok := r.at(n.Image, n.LastAddr); ok && len(loc.frames) == 1 && len(n.Frames) == 1 {
			n.Frames = loc.frames
		}
		if loc, ok := r.at(n.Image, n.Addr); ok && len(loc.frames) == 1 && len(n.First) == 1 {
			n.First = loc.frames
		}
	}
}

// repair gives a place whose line is refuted the nearest one of its function's body.
func (s *stale) repair(image profile.ImageID, addr uint64, loc location) location {
	if !s.refuted(image, loc) {
		return loc
	}
	const forth, back = 1, ^uint64(0)
	steps := []uint64{forth, back}
	if ends(s.calls[addr]) {
		steps = []uint64{back, forth}
	}
	for _, step := range steps {
		if line, ok := s.nearest(image, addr, step, loc.fn); ok {
			s.tell(loc.frames[0], line)
			loc.frames, loc.entries = []profile.Frame{line}, []uint64{0}
			return loc
		}
	}
	return loc
}

// nearest is the first line of a function's own that comes in a direction. What is inlined has the
// line of its call.
func (s *stale) nearest(image profile.ImageID, addr, step uint64, fn profile.FunctionID) (profile.Frame, bool) {
	for range farthest {
		addr += step
		next, ok := s.r.raw(image, addr)
		if !ok || next.fn != fn {
			break
		}
		if outer := next.frames[len(next.frames)-1]; outer.Line > 0 && (len(next.frames) > 1 || !s.refuted(image, next)) {
			return outer, true
		}
	}
	return profile.Frame{}, false
}

// refuted reports whether a place's line cannot be one of its function.
func (s *stale) refuted(image profile.ImageID, loc location) bool {
	if len(loc.frames) != 1 || loc.trimmed || loc.fn < 0 || !outlined(loc.frames[0].Function) || loc.frames[0].Line == 0 {
		return false
	}
	f := loc.frames[0]
	first, ok := s.r.raw(image, s.r.t.Functions[loc.fn].Entry)
	if !ok || len(first.frames) != 1 || first.frames[0].Line == 0 {
		return false
	}
	if begin := first.frames[0]; f.File != begin.File || f.Line < begin.Line {
		return true
	}
	of, _, _ := strings.Cut(f.Function, "._omp_fn.")
	if !s.names[bare(of)] || lambda(of) { // it is not known what else is written in the same function
		return false
	}
	for other := range s.owners[sourceLine{f.File, f.Line}] {
		if apart(of, other) {
			return true
		}
	}
	begin := first.frames[0].Line
	return slices.ContainsFunc(s.starts[f.File], func(x start) bool {
		return x.line > begin && x.line <= f.Line && apart(of, x.name)
	})
}

// apart reports whether a function cannot have a line in common with another: that is no part of
// it. What is written within a function (a lambda, a class, the body of a construct) has lines of
// it.
func apart(of, other string) bool {
	return !lambda(other) && !strings.HasPrefix(other, bare(of)+"(") && bare(of) != bare(other)
}

func lambda(name string) bool {
	return strings.Contains(name, "operator()") || strings.Contains(name, "lambda")
}

// bare is a function's name without its parameters, and without what compilers append.
func bare(name string) string {
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimSpace(name)
}

// tell notes what was refuted.
func (s *stale) tell(was, is profile.Frame) {
	name := func(f profile.Frame) string {
		if f.File < 0 || int(f.File) >= len(s.r.t.Files) {
			return fmt.Sprintf("line %d", f.Line)
		}
		return fmt.Sprintf("%s:%d", path.Base(s.r.t.Files[f.File].Path), f.Line)
	}
	if text := fmt.Sprintf("%s (was %s)", name(is), name(was)); !slices.Contains(s.told, text) {
		s.told = append(s.told, text)
	}
}

// note says it of all places that were asked for.
func (s *stale) note() {
	if s != nil && len(s.told) > 0 {
		slices.Sort(s.told)
		s.r.note(NoteStaleLine, "The compiler gave calls that it makes itself the line of another function; the nearest line "+
			"of the parallel region stands for it: "+examples(s.told), uint64(len(s.told)))
	}
}
