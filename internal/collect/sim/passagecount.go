// Passages of the program's own barriers, counted. Of barriers that are found by who lets whom go, a
// thread that need not wait is not seen to come through: its part goes on, and holds the work of
// several passages. How often it came through is in its counts all the same.

package sim

import (
	"fmt"
	"slices"

	"lime/internal/engine"
	"lime/internal/graph"
	"lime/internal/section"
	"lime/internal/unit"
)

// passageCount knows the places that every thread comes past which comes to a barrier, whether it
// waits there, opens it or finds it open: in the innermost function that is common to those who were
// seen, the last block before all ways to where they were.
type passageCount struct {
	eng    gone
	start  func(pc uint64) uint64 // of the function there
	learnt map[string]bool        // functions, and calls in them
	places []passagePlace
}

// gone is where threads have gone so far (the engine).
type gone interface {
	Blocks() []engine.Block
	Edges() []engine.Edge
	Parted(engine.EdgeID) bool
	Parts(engine.EdgeID, func(engine.EdgeID))
}

// passagePlace is one of them: a block of a function.
type passagePlace struct {
	fn, pc uint64
	users  map[section.ThreadID]bool // who came past it ever
	behind map[uint64]bool           // whether all ways to another place in the function lead past it, as far as was asked
	ways   int                       // that were known then
}

// newPassageCount is nil where threads run one at a time: there it is seen where they stand when a
// barrier opens.
func newPassageCount(r *run) *passageCount {
	if r.beside == nil {
		return nil
	}
	return &passageCount{eng: r.eng, start: r.images.start, learnt: map[string]bool{}}
}

// uneven is what the profile says of what is told apart.
const uneven = "Threads came through a barrier that the program built itself, and not all of them were seen there each " +
	"time: where one of them had come through more often than another since they were seen last, they are not held " +
	"against each other"

// same reports whether all parts of an instance hold as many passages of each barrier.
func (x *passageCount) same(in *section.Instance) bool {
	if x == nil || in.Kind == section.Custom || in.Kind == section.Meeting {
		return true
	}
	fn, calls := common(in.Parts)
	if in.Kind == section.Built && fn != 0 {
		x.learn(fn, calls)
	}
	counts := make([][]uint64, len(in.Parts))
	for i := range in.Parts {
		counts[i] = x.passages(&in.Parts[i])
	}
	for k := range x.places {
		p := placeUse{users: x.places[k].users, whole: in.Kind == section.Built && fn != 0}
		for i := range in.Parts {
			p.add(&in.Parts[i], counts[i][k])
		}
		if p.uneven || p.misses(in.Parts) {
			return false
		}
	}
	return true
}

// placeUse is what the parts of an instance have to do with one place.
type placeUse struct {
	users  map[section.ThreadID]bool
	whole  bool // all parts end where all come past, so nobody was missed before
	any    bool // a user has part in the instance, and has come past so often:
	count  uint64
	uneven bool
	since  unit.Cycles // when the latest part of a user began that began behind a passage
}

func (u *placeUse) add(p *section.Part, n uint64) {
	if !u.users[p.Thread] {
		return
	}
	u.uneven = u.uneven || u.any && n != u.count
	u.any, u.count = true, n
	if p.Number > 0 && !u.whole {
		u.since = max(u.since, p.Start)
	}
}

// misses reports whether somebody who was never seen to come past has a part that began before that:
// it holds more than the others' does.
func (u *placeUse) misses(parts []section.Part) bool {
	return slices.ContainsFunc(parts, func(p section.Part) bool { return !u.users[p.Thread] && p.Start < u.since })
}

// passages is how often a part came past each place.
func (x *passageCount) passages(p *section.Part) []uint64 {
	n := make([]uint64, len(x.places))
	if len(n) == 0 {
		return n
	}
	past := func(i int, k uint64) {
		n[i] += k
		x.places[i].users[p.Thread] = true
	}
	count := func(id engine.EdgeID, k uint64) {
		d := &x.eng.Edges()[id]
		if i := x.at(d.Target); i >= 0 && d.To != engine.NoBlock {
			past(i, k)
		}
	}
	for _, s := range p.Spans {
		for _, e := range s.(*segment).edges {
			if x.eng.Parted(e.id) {
				x.eng.Parts(e.id, func(id engine.EdgeID) { count(id, e.n) })
			} else {
				count(e.id, e.n)
			}
		}
	}
	for i := range x.places {
		if x.begunBehind(p, &x.places[i]) {
			past(i, 1)
		}
	}
	return n
}

// begunBehind reports whether a thread had come past a place for the first time when its first part
// began: what it did on its way from where its runtime had it is counted in no part.
func (x *passageCount) begunBehind(p *section.Part, at *passagePlace) bool {
	if p.Number > 0 || len(p.Spans) == 0 {
		return false
	}
	start := &p.Spans[0].(*segment).start
	pcs := []uint64{start.pc}
	for _, f := range start.stack {
		pcs = append(pcs, f.ret-1)
	}
	k := slices.IndexFunc(pcs, func(pc uint64) bool { return x.start(pc) == at.fn })
	if k < 0 {
		return false
	}
	if ways := len(x.eng.Blocks()) + len(x.eng.Edges()); at.ways != ways { // one of them may lead round it
		at.ways, at.behind = ways, map[uint64]bool{}
	}
	behind, asked := at.behind[pcs[k]]
	if !asked {
		behind = x.before(at.fn, []uint64{at.pc, pcs[k]}) == at.pc
		at.behind[pcs[k]] = behind
	}
	return behind
}

// at is the index of the place with an address, -1 if there is none.
func (x *passageCount) at(pc uint64) int {
	return slices.IndexFunc(x.places, func(q passagePlace) bool { return q.pc == pc })
}

// learn notes where those come past who take part in a passage.
func (x *passageCount) learn(fn uint64, calls []uint64) {
	key := fmt.Sprint(fn, calls)
	if x.learnt[key] {
		return
	}
	x.learnt[key] = true
	if pc := x.before(fn, calls); pc != 0 && x.at(pc) < 0 {
		x.places = append(x.places, passagePlace{fn: fn, pc: pc, users: map[section.ThreadID]bool{}})
	}
}

// common is the innermost function in which all stood, and where they did; 0 if there is none.
func common(parts []section.Part) (fn uint64, calls []uint64) {
	for _, f := range parts[0].Stack() {
		calls = calls[:0]
		for i := range parts {
			s := parts[i].Stack()
			if k := slices.IndexFunc(s, func(g section.Frame) bool { return g.Func == f.Func }); k >= 0 {
				calls = append(calls, uint64(s[k].Call))
			}
		}
		if len(calls) == len(parts) && f.Func != 0 {
			slices.Sort(calls)
			return uint64(f.Func), slices.Compact(calls)
		}
	}
	return 0, nil
}

// before is the last block of a function that is on all ways from its entry to each of some calls in
// it, as far as threads have gone; 0 if there is none.
func (x *passageCount) before(fn uint64, calls []uint64) uint64 {
	list, succ := x.flow(fn)
	blocks, tree := x.eng.Blocks(), graph.Dominators(succ)
	last := int32(graph.None)
	for i, call := range calls {
		at := slices.IndexFunc(list, func(id engine.BlockID) bool {
			return call-blocks[id].PC < uint64(blocks[id].Size)
		})
		if at < 0 {
			return 0
		}
		if i == 0 {
			last = int32(at)
		}
		for last != graph.None && !graph.Above(last, int32(at), tree) {
			last = tree[last]
		}
	}
	if last == graph.None {
		return 0
	}
	return blocks[list[last]].PC
}

// flow lists the blocks of a function, and which follow each in it.
func (x *passageCount) flow(fn uint64) (list []engine.BlockID, succ [][]int32) {
	number := map[engine.BlockID]int32{}
	for id, b := range x.eng.Blocks() {
		if b.Front == engine.NoBlock && x.start(b.PC) == fn {
			number[engine.BlockID(id)] = int32(len(list))
			list = append(list, engine.BlockID(id))
		}
	}
	succ = make([][]int32, len(list))
	for _, d := range x.eng.Edges() {
		from, inside := number[d.From]
		to, stays := number[d.To]
		if inside && stays && !isCall(d.Kind) {
			succ[from] = append(succ[from], to)
		}
	}
	return list, succ
}
