package sim

import (
	"sort"

	"lime/internal/waste"
	"lime/internal/waste/calls"
	"lime/internal/waste/quick"
)

// Call paths, exactly: every call and every return is in the log, with the address at which the
// return address stands. So the open calls of a thread are those whose return address is above the
// place of the last one that was pushed or popped.

// callTree is the tree of call paths. A function that is open already leads back to where it was
// entered first: recursion does not make the tree grow.
type callTree struct {
	nodes []callNode
	ids   map[callKey]int32
	full  bool // a call was left out
}

// callNode is a path: the call that led here, and what it called.
type callNode struct {
	parent int32 // -1: the thread's start
	thread int32
	block  *wasteBlock // the call's
	entry  uint64
}

type callKey struct {
	from  int32
	call  *wasteBlock
	entry uint64
}

// maxPaths is how many paths are told apart; what would be another one counts for its caller. A
// path and what is counted at it take a kilobyte.
const maxPaths = 1 << 20

func newCallTree() callTree { return callTree{ids: map[callKey]int32{}} }

// root makes the path of a thread that nobody has called.
func (x *callTree) root(thread int32) int32 {
	x.nodes = append(x.nodes, callNode{parent: -1, thread: thread})
	return int32(len(x.nodes) - 1)
}

// into is the path of a function that a block at path from has called.
func (x *callTree) into(from int32, call *wasteBlock, entry uint64) int32 {
	key := callKey{from, call, entry}
	if id, ok := x.ids[key]; ok {
		return id
	}
	id := x.find(from, entry)
	if id < 0 {
		if len(x.nodes) >= maxPaths {
			x.full = true
			return from
		}
		id = int32(len(x.nodes))
		x.nodes = append(x.nodes, callNode{parent: from, thread: x.nodes[from].thread, block: call, entry: entry})
	}
	x.ids[key] = id
	return id
}

// find looks for a function among those that are open.
func (x *callTree) find(from int32, entry uint64) int32 {
	for id := from; id >= 0; id = x.nodes[id].parent {
		if x.nodes[id].block != nil && x.nodes[id].entry == entry {
			return id
		}
	}
	return -1
}

// wasteStack is the open calls of a thread.
type wasteStack struct {
	quick.Stack // paths are nodes of the tree
	thread      int32
	calling     *wasteBlock  // has called, and where to is not known yet
	sp          uint64       // when the thread ran last
	repeat      repeated     // what its next repeated instruction will write
	system      []calls.Span // what the system call that it is in may write
}

func (m *wasteMeter) stack(t *thread) *wasteStack {
	s := m.stacks[t.id]
	if s == nil {
		s = &wasteStack{thread: int32(t.id)}
		s.Stack = quick.NewStack(uint64(m.tree.root(s.thread)))
		m.stacks[t.id] = s
	}
	return s
}

// arrive enters a block that was called.
func (m *wasteMeter) arrive(s *wasteStack, b *wasteBlock) {
	from, call := int32(s.Path), s.calling
	if call.called.from != from || call.called.entry != b.pc {
		call.called = calledFrom{from, b.pc, m.tree.into(from, call, b.pc)}
	}
	s.Path, s.calling = uint64(call.called.to), nil
	if m.code.Knows(int(call.id)) {
		m.code.SetCalled(int(call.id), uint64(from), uint64(b.id), s.Path)
	}
}

// moved: the system has moved the stack pointer, by a signal's frame or back.
func (s *wasteStack) moved(m *wasteMeter, sp uint64) {
	if sp < s.sp && s.sp-sp < maxSignalFrame {
		m.d.Forget(sp, s.sp-sp)
	}
	if sp > s.sp && sp-s.sp < maxSignalFrame {
		s.Pop(sp - 1)
	}
}

// maxSignalFrame is the longest frame of a signal: what is saved of the processor, with room for
// handlers' own data on return.
const maxSignalFrame = 1 << 20

// baseOf is what a context is of.
func (m *wasteMeter) baseOf(c waste.Context) *wasteBase {
	i := sort.Search(len(m.bases), func(i int) bool { return m.bases[i].first > c }) - 1
	return &m.bases[i]
}
