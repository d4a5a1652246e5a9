// Recursions in the call paths of samples.

package analysis

import "lime/internal/profile"

// begins is the call that stands for all those by which one loop of a function begins a recursion:
// compilers make many of one where they put the first rounds of it into the function that calls.
func (ps *procs) begins(v profile.NodeID, callee profile.FunctionID) profile.NodeID {
	k := beginning{ps.tab.Nodes[v].Function, callee, profile.None}
	if p := ps.of(k.in); p != nil {
		if x, ok := p.at[v]; ok && p.Inner[x] != graphNone {
			k.loop = p.nodes[p.Loops[p.Inner[x]].Header]
		}
	}
	if ps.begun == nil {
		ps.begun = map[beginning]profile.NodeID{}
	}
	if first, ok := ps.begun[k]; ok {
		return first
	}
	ps.begun[k] = v
	return v
}

// beginning is where a function begins the recursion of another one: in which of its loops.
type beginning struct {
	in, callee profile.FunctionID
	loop       profile.NodeID
}

// folded takes recursions out of a path: of the frames of one function, with what lies between
// them, only the innermost stays. recursive tells, by index in the result, the call that led there
// again.
func (ps *procs) folded(frames []profile.NodeID) (out []profile.NodeID, recursive map[int]profile.NodeID) {
	at := map[profile.FunctionID]int{}
	recursive = map[int]profile.NodeID{}
	for i, v := range frames {
		f := ps.tab.Nodes[v].Function
		if k, seen := at[f]; seen && f >= 0 {
			for _, u := range out[k+1:] {
				delete(at, ps.tab.Nodes[u].Function)
			}
			if _, ok := ps.again[f]; !ok {
				ps.again[f] = frames[i-1]
			}
			for j := k + 1; j < len(out); j++ {
				delete(recursive, j)
			}
			out = append(out[:k], v)
			recursive[k] = ps.again[f]
			continue
		}
		at[f] = len(out)
		out = append(out, v)
	}
	return out, recursive
}
