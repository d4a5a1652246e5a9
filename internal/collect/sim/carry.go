// What was counted for the segment under way, added up.

package sim

// adder adds up counts of one edge. All threads of a run share one.
type adder struct {
	at []int32 // by edge, while counts are added up: which of them is its first, counted from 1
}

// fewEdges is the number of counts below which adding up takes longer than it saves.
const fewEdges = 256

// sum adds up counts of one edge where they are, if there are many: each edge stands where it first
// stood.
func (a *adder) sum(list []edgeCount) []edgeCount {
	if len(list) < fewEdges {
		return list
	}
	out := list[:0]
	for _, e := range list {
		if more := int(e.id) + 1 - len(a.at); more > 0 {
			a.at = append(a.at, make([]int32, more)...)
		}
		if i := a.at[e.id]; i > 0 {
			out[i-1].n += e.n
			continue
		}
		out = append(out, e)
		a.at[e.id] = int32(len(out))
	}
	for _, e := range out {
		a.at[e.id] = 0
	}
	return out
}

// carries lets counts go on in the segment under way. They are looked through at each wait, and a
// thread may wait a hundred thousand times for a lock in one segment: their number stays within
// twice that of the edges.
func (t *thread) carries(list ...edgeCount) {
	t.carry = append(t.carry, list...)
	if len(t.carry) < 2*max(t.summed, fewEdges) {
		return
	}
	older := t.carry[:min(t.doing.from, len(t.carry))]
	newer := t.carry[len(older):]
	older = t.adder.sum(older)
	if len(newer) > 0 {
		t.doing.from = len(older)
	}
	t.carry = append(older, t.adder.sum(newer)...)
	t.summed = len(t.carry)
}
