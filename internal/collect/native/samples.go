package native

import (
	"encoding/binary"

	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/unwind"
)

// sampler turns the kernel's samples into call paths.
type sampler struct {
	images *images
	code   *code
	walker *unwind.Unwinder
	tree   *tree
	stubs  func(pc uint64) bool
	sps    []uint64 // stack pointers, by frame
	pcs    []uint64
	stacks *stackCount
	live   liveStack
}

// stackCount counts samples, and those whose call path is complete.
type stackCount struct {
	total, complete uint64
	broken          broken
}

func newSampler(m *images, c *code, sink profile.Sink) *sampler {
	return &sampler{images: m, code: c, walker: unwind.New(m.unwindImage), tree: newTree(sink), stacks: &stackCount{broken: broken{}}}
}

// origin is where code stood that the hooks have moved.
func (s *sampler) origin(pc uint64) uint64 {
	if s.walker.Moved == nil {
		return pc
	}
	return s.walker.Moved(pc)
}

// deepest bounds the call paths.
const deepest = 512

// take walks the sampled stack.
func (s *sampler) take(r *perf.Record) (w workSample, spins, inside bool) {
	s.stacks.total++
	s.pcs, s.sps = s.pcs[:0], s.sps[:0]
	whole := false
	var err error
	var trips []trip
	if r.HasRegs {
		trips, whole, err = s.walk(unwind.Regs(r.DWARF()), r.Regs[perf.RegSP], r.Stack)
	}
	if len(s.pcs) == 0 {
		s.pcs = append(s.pcs, s.origin(r.IP))
	}
	if whole {
		s.stacks.complete++
	} else {
		s.stacks.broken.note(err, s.images, s.pcs[len(s.pcs)-1], len(s.pcs) >= deepest)
	}
	w, spins = s.path(r.Period)
	w.trips = trips
	if whole {
		w.open, w.root = s.openCalls(), s.root()
	}
	return w, spins, s.inside()
}

// openCalls names the calls that were open, outermost first.
func (s *sampler) openCalls() []uint64 {
	out := make([]uint64, 0, len(s.pcs))
	for i := len(s.pcs) - 1; i > 0; i-- {
		out = append(out, openCall(s.pcs[i], s.sps[i]))
	}
	return out
}

// openCall names an open call by where it returns to, and by the stack pointer there.
func openCall(ret, sp uint64) uint64 { return (ret*fnvPrime ^ sp) * fnvPrime }

const fnvPrime = 1099511628211

// walk fills pcs. Frames beyond the copy of the stack count as long as each return address stands
// behind a call.
func (s *sampler) walk(regs unwind.Regs, sp uint64, stack []byte) (trips []trip, whole bool, err error) {
	s.live = liveStack{pid: s.images.pid, sp: sp, copy: stack}
	mem, sure, ends := stackMemory(sp, stack), 0, 0
	whole, err = s.walker.WalkRegs(regs, s.live.word, func(at *unwind.Regs) bool {
		if s.live.used && !s.followsCall(at[unwind.PC]) {
			return false
		}
		s.pcs, s.sps = append(s.pcs, at[unwind.PC]), append(s.sps, at[unwind.RSP])
		if !s.live.used {
			sure = len(s.pcs)
			trips = s.trips(trips, at, mem)
		}
		if s.code.look(at[unwind.PC] - 1).fn.outermost {
			ends = len(s.pcs)
		}
		return len(s.pcs) < deepest
	})
	switch {
	case whole:
	case ends > 0: // the stack that the thread runs on has ended; the one that it came from has changed meanwhile
		s.pcs, whole = s.pcs[:ends], true
	case s.live.used:
		s.pcs, err = s.pcs[:sure], unwind.ErrMemory
	}
	return trips, whole, err
}

// followsCall reports whether an address stands behind a call instruction.
func (s *sampler) followsCall(ret uint64) bool {
	if s.stubs != nil && s.stubs(ret) {
		return true
	}
	if s.images.At(ret-1) == nil {
		return false
	}
	b := s.code.look(ret - 1).b
	return b.end == ret && (b.target != 0 || b.addr != b.last || b.instrs == 1)
}

// maxTrips is the number of loops that a sample tells of.
const maxTrips = 12

// trips reads how much is left of the loops around a frame of the program's own.
func (s *sampler) trips(list []trip, at *unwind.Regs, mem unwind.Memory) []trip {
	leaf := len(s.pcs) == 1
	pc := at[unwind.PC]
	if !leaf {
		pc--
	}
	if len(list) >= maxTrips || !s.images.own(pc) {
		return list
	}
	b := s.code.look(pc).b
	for _, t := range b.tests {
		if left, ok := t.left(at, mem, leaf); ok {
			list = append(list, trip{t.b, left})
		}
	}
	return list
}

// stackMemory reads the copy of a stack that starts at sp.
func stackMemory(sp uint64, stack []byte) unwind.Memory {
	return func(addr uint64) (uint64, bool) {
		off := addr - sp
		if addr < sp || off+8 > uint64(len(stack)) || off+8 < 8 {
			return 0, false
		}
		return binary.LittleEndian.Uint64(stack[off:]), true
	}
}

// path puts the frames into the tree, outermost first. Frames of lime's own stubs are left out. A
// thread spins if a function of a runtime that waits is above all of the program's own code.
func (s *sampler) path(period uint64) (w workSample, spins bool) {
	at := int32(profile.None)
	for i := len(s.pcs) - 1; i > 0; i-- {
		if s.stubs != nil && s.stubs(s.pcs[i]) {
			continue
		}
		at = s.tree.child(at, s.code.at(s.pcs[i]-1).b.id)
	}
	leaf := s.code.at(s.leaf())
	w = workSample{b: leaf.b, period: max(period, 1)}
	w.path = s.tree.child(at, leaf.b.id)
	spins = leaf.fn.spins || leaf.b.spins
	for i := 1; i < len(s.pcs) && !spins && s.goesOn(s.pcs[i-1]-uint64(min(i-1, 1))); i++ {
		p := s.code.look(s.pcs[i] - 1)
		spins = p.fn.spins || p.b.spins
	}
	if spins {
		w.loop = s.ownLoop()
	}
	return w, spins
}

// goesOn reports whether what a thread does that stands in some code is said by who has called it.
func (s *sampler) goesOn(pc uint64) bool {
	return !s.images.own(pc) || passesOn(s.code, s.code.look(pc).fn)
}

// ownLoop is the loop of the program's own in which a thread waits, nil if it waits in a runtime: it
// may be in what that loop calls to give its core away. A call of the program's own that leads to a
// wait which no hook sees stands for a loop.
func (s *sampler) ownLoop() *block {
	unseen := false
	for i, pc := range s.pcs {
		if s.stubs != nil && s.stubs(pc) {
			continue
		}
		pc -= uint64(min(i, 1))
		p := s.code.look(pc)
		if own := s.images.own(pc); p.b.spins || own && unseen {
			return p.b
		} else if own && !passesOn(s.code, p.fn) {
			return nil
		}
		unseen = unseen || p.fn.unseen()
	}
	return nil
}

// leaf is where the sample was taken; in lime's own stubs, it is the call that led there.
func (s *sampler) leaf() uint64 {
	if len(s.pcs) > 1 && s.stubs != nil && s.stubs(s.pcs[0]) {
		return s.pcs[1] - 1
	}
	return s.pcs[0]
}

// inside reports whether code of the program's own runs inside of the innermost hooked call, or in
// a thread that is in none.
func (s *sampler) inside() bool {
	for i, pc := range s.pcs {
		if s.stubs != nil && s.stubs(pc) {
			return false
		}
		if s.images.own(pc - uint64(min(i, 1))) {
			return true
		}
	}
	return false
}

// share is the share of samples with a complete call path.
func (s *stackCount) share() float64 {
	if s.total == 0 {
		return 1
	}
	return float64(s.complete) / float64(s.total)
}

// tree is the tree of call paths.
type tree struct {
	sink profile.Sink
	ids  map[edge]int32
}

type edge struct {
	parent int32
	node   profile.NodeID
}

func newTree(sink profile.Sink) *tree { return &tree{sink: sink, ids: map[edge]int32{}} }

func (t *tree) child(parent int32, node profile.NodeID) int32 {
	k := edge{parent, node}
	id, ok := t.ids[k]
	if !ok {
		id = int32(t.sink.AddPath(profile.PathNode{Parent: profile.PathID(parent), Node: node}))
		t.ids[k] = id
	}
	return id
}
