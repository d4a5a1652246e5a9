// Locks at which threads stand in a queue (those of Mellor-Crummey and Scott, of Craig, Landin and
// Hagersten): each waits at a word of its own, and whoever has the lock stores there.

package sim

import (
	"lime/internal/collect/spin"
	"lime/internal/engine"
	"lime/internal/x86"
)

// A flag that is handed from thread to thread looks the same to who waits for it, whether it is a
// lock or a pipeline's. What makes it a lock is that the order in which they go on is not the
// program's but that in which they came: who comes exchanges the address of something of its own, its
// node, with a word that is common to all, and so learns behind whom it stands. So the proof is made of
// three events: the two exchanges, of which the later one got what the earlier one had put there, and the
// end of the wait. The one who came earlier ends it, and has exchanged nothing since; what it stores to is
// in its own node, at which the next one looks, or in that one's node, which hangs on its own by then.
// The one who waits must have come straight from its exchange: a place that is taken first, and worked
// for before it is waited at, is a pipeline's.

// queues proves them.
type queues struct {
	memory    *memory
	images    *images
	places    *places
	eng       *engine.Engine
	entrances *entrances
	searched  map[uint64]int  // by the program's own place that waits: how often its way was searched
	locks     map[uint64]bool // and whether it has been proved to wait for a lock
}

// entrances are the instructions that may put nodes into a common word. They have probes.
type entrances struct {
	probes *probes
	at     map[uint64]*entrance
	n      uint64 // exchanges so far
}

// entrance is one such instruction. It is stopped at as long as threads are seen to wait behind it.
type entrance struct{ passes, parks int }

// inQueue is a thread's last exchange by an instruction.
type inQueue struct {
	word, put, got uint64
	n              uint64 // the how manieth of all
	retired        uint64 // by the thread until then
}

// Limits of queues.
const (
	queueSearches = 4   // waits at a place whose ways are searched in vain: each has come through what it waits behind
	nodeBytes     = 256 // of a node: a flag and a link, each on a pair of lines of 64 bytes at most
)

// worth reports whether it still pays to stop at an exchange.
func (e *entrance) worth() bool { return e.passes < 1000+100*e.parks }

// waits is told that a thread waits, and which way it has come; loop is how much of that was the loop. Its
// code may have run in front of it, too (that of std::atomic): the way in is no longer than it seems.
func (q *queues) waits(s *spinner, loop []edgeCount, ways ...[]edgeCount) {
	if s.kind() != spinWait || s.call == 0 || q.locks[s.call] {
		return
	}
	s.cameBy = q.eng.Retired(s.t.ctx) - min(q.eng.Retired(s.t.ctx), q.places.instrs(loop))
	for pc := range s.t.inQueues {
		if e := q.entrances.at[pc]; e != nil {
			e.parks++
		}
	}
	if q.searched[s.call] == queueSearches {
		return
	}
	q.searched[s.call]++
	edges, blocks := q.eng.Edges(), q.eng.Blocks()
	for _, way := range ways {
		for _, e := range way {
			if from := edges[e.id].From; from >= 0 && q.inProgram(blocks[from].PC) && q.search(&blocks[from]) {
				q.searched[s.call] = queueSearches
			}
		}
	}
}

// inProgram reports whether code is in the program's file: what is compiled into it from a language's
// library (std::atomic) may be the program's own lock.
func (q *queues) inProgram(pc uint64) bool {
	f := q.images.at(pc)
	return f != nil && !f.Library
}

// search puts probes at a block's exchanges, and reports whether there are any.
func (q *queues) search(b *engine.Block) (any bool) {
	for at := b.PC; at < b.PC+uint64(b.Size); {
		in, ok := q.memory.decode(at)
		if !ok {
			break
		}
		if exchangesNode(in) {
			q.entrances.stopAt(at)
			any = true
		}
		at += uint64(in.Len)
	}
	return any
}

// stopAt has threads stop at an exchange.
func (x *entrances) stopAt(pc uint64) {
	if x.at[pc] == nil {
		x.at[pc] = &entrance{}
		x.probes.setProbe(pc)
	}
}

// exchangesNode reports whether an instruction may put an address into a word in memory and get what
// was there: xchg, lock cmpxchg.
func exchangesNode(in *x86.Inst) bool {
	const wide = 8 // REX.W: 64 bits
	return in.Lock && in.HasMem && in.Enc == x86.Legacy && in.Rex&wide != 0 &&
		(in.Map == 0 && in.Opcode == 0x87 || in.Map == 1 && in.Opcode == 0xb1)
}

// passes notes what a thread is about to exchange. It stops there no more if nobody waits behind it.
func (q *queues) passes(t *thread, pc uint64) {
	e := q.entrances.at[pc]
	if e == nil || t.ctx == nil {
		return
	}
	if e.passes++; !e.worth() {
		delete(q.entrances.at, pc)
		delete(t.inQueues, pc)
		return
	}
	in, ok := q.memory.decode(pc)
	if !ok {
		return
	}
	j := inQueue{word: spin.Address(in, pc, &spin.Head{Regs: t.ctx.GPR, FSBase: t.ctx.FSBase}), put: t.ctx.GPR[in.RegField()]}
	if j.got, ok = q.memory.word(j.word); !ok || in.Map == 1 && j.got != t.ctx.GPR[rax] {
		return // a comparison fails
	}
	if t.inQueues == nil {
		t.inQueues = map[uint64]inQueue{}
	}
	q.entrances.n++
	j.n, j.retired = q.entrances.n, q.eng.Retired(t.ctx)
	t.inQueues[pc] = j
}

// letIn is told that a thread leaves its loop because of what by has stored, and reports whether it has
// got a lock.
func (q *queues) letIn(s *spinner, by *thread) bool {
	if by == nil || by == s.t || s.call == 0 || s.kind() != spinWait {
		return false
	}
	if q.locks[s.call] {
		return true
	}
	for _, x := range s.t.inQueues {
		if s.cameBy > x.retired+wayIn || x.put == 0 || x.got == 0 {
			continue
		}
		if y := lastAt(by.inQueues, x.word); y.n < x.n && y.put == x.got && q.hangsOn(s, x, y) {
			q.locks[s.call] = true
			return true
		}
	}
	return false
}

// lastAt is the last of a thread's exchanges with a word.
func lastAt(exchanges map[uint64]inQueue, word uint64) (last inQueue) {
	for _, j := range exchanges {
		if j.word == word && j.n > last.n {
			last = j
		}
	}
	return last
}

// hangsOn reports whether a thread looks at the node in front of its own, or at its own, of which that
// one knows.
func (q *queues) hangsOn(s *spinner, x, y inQueue) bool {
	if s.looksInto(y.put, x.put) {
		return true
	}
	if !s.looksInto(x.put, y.put) {
		return false
	}
	for at := y.put; at < nodeEnd(y.put, x.put); at += 8 {
		if v, ok := q.memory.word(at); ok && v == x.put {
			return true
		}
	}
	return false
}

// nodeEnd is up to where a node may reach, if there is another one.
func nodeEnd(node, other uint64) uint64 {
	if end := node + nodeBytes; other <= node || other > end {
		return end
	}
	return other
}

// looksInto reports whether one of the words that a loop looks at is in a node.
func (s *spinner) looksInto(node, other uint64) bool {
	for i := range s.loop.Watches {
		if at := s.loop.Watches[i].Addr; node <= at && at < nodeEnd(node, other) {
			return true
		}
	}
	return false
}
