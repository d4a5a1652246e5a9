// Barriers behind what one thread does alone (OpenMP's single).
//
// Compilers give the call of the barrier at the end of a single the line of whatever they have moved
// next to it: often that of the barrier before, for the body, to which only one thread comes, is put
// elsewhere. The two are no copies of one call, though: the single begins between them.

package resolve

import (
	"fmt"
	"slices"
	"strings"

	"lime/internal/profile"
	"lime/internal/x86"
)

// singles finds the barriers that end a single, and gives those a line of it that have the line of a
// barrier that ends none.
func singles(r *resolver) (ends map[profile.SectionID]bool) {
	ends = map[profile.SectionID]bool{}
	others, f := map[string]bool{}, newBlockFlow(r)
	lines := map[profile.SectionID]profile.Frame{}
	for i := range r.t.Sections {
		s, id := &r.t.Sections[i], profile.SectionID(i)
		if s.Kind != profile.SectionBarrier || s.EndNode == profile.None || len(s.Frames) == 0 {
			continue
		}
		if line, ok := f.behindSingle(s.EndNode); ok {
			ends[id], lines[id] = true, line
		} else {
			others[fmt.Sprint(s.Frames)] = true
		}
	}
	for id, line := range lines {
		if s := &r.t.Sections[id]; line.Line > 0 && others[fmt.Sprint(s.Frames)] {
			s.Frames = []profile.Frame{line}
			f.asks(s.EndNode, s.Frames)
		}
	}
	return ends
}

// blockFlow is which blocks of a function come before which.
type blockFlow struct {
	r     *resolver
	preds map[profile.NodeID][]profile.NodeID
}

func newBlockFlow(r *resolver) *blockFlow {
	f := &blockFlow{r, map[profile.NodeID][]profile.NodeID{}}
	for i := range r.t.Edges {
		e := &r.t.Edges[i]
		if e.From < 0 || e.To < 0 || slices.Contains([]profile.EdgeKind{profile.EdgeCall, profile.EdgeCallInd, profile.EdgeOdd}, e.Kind) {
			continue
		}
		if r.t.Nodes[e.From].Function == r.t.Nodes[e.To].Function {
			f.preds[e.To] = append(f.preds[e.To], e.From)
		}
	}
	return f
}

// behindSingle reports whether the last call of the runtime on a way to a barrier begins a single, and
// is the last line of what stands in between, on the ways by the fewest blocks: that is the single's
// body.
func (f *blockFlow) behindSingle(end profile.NodeID) (line profile.Frame, ok bool) {
	seen, layer := map[profile.NodeID]bool{end: true}, f.preds[end]
	for found := false; len(layer) > 0; {
		var next []profile.NodeID
		for _, v := range layer {
			if seen[v] {
				continue
			}
			seen[v] = true
			name := f.callee(v)
			if single := beginsSingle(name); single || runtimeCall(name) {
				ok = ok || single
				continue
			}
			n := &f.r.t.Nodes[v]
			if name != "" && len(n.Frames) > 0 && (!found || n.Frames[0].Line > line.Line) {
				line = n.Frames[len(n.Frames)-1]
			}
			next = append(next, f.preds[v]...)
		}
		found, layer = found || line.Line > 0, next
	}
	return line, ok
}

// asks gives the branches in front of a barrier that ask whether a thread does the single a line of it.
func (f *blockFlow) asks(end profile.NodeID, line []profile.Frame) {
	for _, v := range f.preds[end] {
		for _, u := range f.preds[v] {
			if n := &f.r.t.Nodes[v]; n.Kind == profile.EndCond && beginsSingle(f.callee(u)) {
				n.Frames = line
			}
		}
	}
}

func beginsSingle(name string) bool {
	return strings.HasPrefix(name, "GOMP_single") || name == "__kmpc_single"
}

// runtimeCall reports whether a function is one by which compilers call an OpenMP runtime, but for what
// only one thread of a single calls at its end.
func runtimeCall(name string) bool {
	return name != "__kmpc_end_single" && (strings.HasPrefix(name, "GOMP_") || strings.HasPrefix(name, "__kmpc_"))
}

// callee names the function that a block calls in the end, "" if it calls none directly.
func (f *blockFlow) callee(v profile.NodeID) string {
	r := f.r
	n := &r.t.Nodes[v]
	if n.Image == profile.None || r.image(n.Image) == nil {
		return ""
	}
	base := r.t.Images[n.Image].Base
	var in x86.Inst
	pc := n.LastAddr - base
	if x86.Decode(r.images[n.Image].bin.ReadAddr(pc, x86.MaxLen), &in) != nil || in.Branch != x86.BranchCall {
		return ""
	}
	name, _, _ := strings.Cut(r.image(n.Image).Lookup(in.Target(pc)).Func.Name, "@")
	return name
}
