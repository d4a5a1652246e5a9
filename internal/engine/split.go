package engine

import "lime/internal/cpu"

// splitAt drops the blocks that hold pc in their middle, at the start of an
// instruction, so that blocks do not overlap where they need not. What they have
// counted goes to their parts once the block at pc is known.
func (e *Engine) splitAt(pc uint64) {
	for _, b := range append([]*block(nil), e.pages[pc/pageSize]...) {
		if (!b.stale || b.past) && b.pc < pc && pc < b.end() && b.startsAt(pc) {
			e.drop(b)
			e.parted[pc] = append(e.parted[pc], b)
		}
	}
}

// startsAt reports whether an instruction of b starts at pc.
func (b *block) startsAt(pc uint64) bool {
	for _, s := range b.starts {
		if b.pc+uint64(s) == pc {
			return true
		}
	}
	return false
}

// instsBefore returns how many instructions of b start before pc.
func (b *block) instsBefore(pc uint64) (n uint32, last uint64) {
	for _, s := range b.starts {
		if b.pc+uint64(s) >= pc {
			break
		}
		n, last = n+1, b.pc+uint64(s)
	}
	return n, last
}

// part moves the counts of blocks that were split at tail.pc to their parts, in all
// contexts: every visit of the whole was one of the front, an edge from it to the tail, and a visit
// of the tail. So it does not matter when a block was split.
func (e *Engine) part(tail *block) {
	whole, ok := e.parted[tail.pc]
	if !ok {
		return
	}
	delete(e.parted, tail.pc)
	for _, b := range whole {
		if b.end() == tail.end() {
			e.partBlock(b, tail)
		}
	}
}

func (e *Engine) partBlock(b, tail *block) {
	front := b.front(e, tail.pc)
	e.keep(front)
	e.table[b.id].Front, e.table[b.id].Tail = front.id, tail.id
	if e.regions.summed[b.id] && !e.parallel() {
		for ctx := range e.contexts {
			e.regions.fold(e, ctx)
		}
	}
	fall := e.edgeBetween(front.id, EdgeFall, tail)
	for _, id := range e.out[b.id] {
		e.move(id, e.alike(id, tail.id), fall)
	}
	for _, id := range e.in[b.id] {
		e.retarget(id, front)
	}
	e.in[b.id] = nil
}

// front is the part of b before pc.
func (b *block) front(e *Engine, pc uint64) *block {
	n, last := b.instsBefore(pc)
	front := &block{pc: b.pc, size: uint32(pc - b.pc), n: n, starts: b.starts[:n], stale: true}
	code, _ := e.fetch(b.pc, e.buf[:front.size])
	front.id = e.idOf(front, code, last, EndFall)
	return front
}

// keep notes a front that nobody may come to again, for the sake of its counts: it may yet be split.
func (e *Engine) keep(front *block) {
	if e.blocks[front.pc] != nil {
		return
	}
	front.past = true
	for p := front.pc / pageSize; p <= (front.end()-1)/pageSize; p++ {
		e.pages[p] = append(e.pages[p], front)
	}
}

// alike returns the edge that is like id, but comes from another block.
func (e *Engine) alike(id EdgeID, from BlockID) EdgeID {
	d := e.edges[id]
	if e.hasKey(edgeKey{d.From, d.Kind, NoBlock, d.Target}) {
		return e.edgeTo(from, d.Kind, d.Target)
	}
	return e.edge(edgeKey{from, d.Kind, d.To, d.Target})
}

// move adds what edge id has counted to edge to, and to fall if it was a way out of the block.
func (e *Engine) move(id, to, fall EdgeID) {
	out := e.edges[id].Kind != EdgeReturn
	e.eachCount(id, func(c []uint64, n uint64) {
		c[to] += n
		if out {
			c[fall] += n
		}
	})
}

// retarget moves what edge id has counted to the edge that ends at the front of its target.
func (e *Engine) retarget(id EdgeID, front *block) {
	d := &e.edges[id]
	if k := (edgeKey{d.From, d.Kind, NoBlock, d.Target}); e.hasKey(k) && e.edgeIDs[k] == id {
		d.To = front.id // an edge that was known before its target stays what it is
		e.in[front.id] = append(e.in[front.id], id)
		return
	}
	to := e.edge(edgeKey{d.From, d.Kind, front.id, front.pc})
	e.eachCount(id, func(c []uint64, n uint64) { c[to] += n })
}

func (e *Engine) hasKey(k edgeKey) bool {
	_, ok := e.edgeIDs[k]
	return ok
}

// eachCount calls f with the counters of every context that has counted edge id, which
// is nil afterwards.
func (e *Engine) eachCount(id EdgeID, f func(c []uint64, n uint64)) {
	if e.parallel() { // they are counting; who drains the counters moves them (Parts)
		return
	}
	for ctx := range e.contexts {
		e.moveCount(ctx, id, f)
	}
}

func (e *Engine) moveCount(ctx *cpu.Context, id EdgeID, f func(c []uint64, n uint64)) {
	c := ctx.Counters(len(e.edges))
	if n := c[id]; n != 0 {
		c[id] = 0
		f(c, n)
	}
}

// leftBy returns the block that the running thread leaves now, having entered b. If b
// was split meanwhile that is its last part, and the thread has come by way of the parts before.
func (e *Engine) leftBy(b *block) BlockID {
	id := b.id
	for b.stale && e.table[id].Tail != NoBlock {
		tail := e.table[id].Tail
		fall := e.edge(edgeKey{e.table[id].Front, EdgeFall, tail, e.table[tail].PC})
		e.Parts(fall, func(part EdgeID) { e.running.Counters(len(e.edges))[part]++ })
		id = tail
	}
	return id
}

// Parted reports whether an edge leaves or enters a block that has been split since it was first
// taken.
func (e *Engine) Parted(id EdgeID) bool {
	d := &e.edges[id]
	return d.From >= 0 && e.table[d.From].Tail != NoBlock || d.To >= 0 && e.table[d.To].Front != NoBlock
}

// Parts passes the edges to use that a traversal of a parted edge was, as the blocks are now:
// counts that were drained before a split count as if it had been known.
func (e *Engine) Parts(id EdgeID, use func(EdgeID)) {
	for from := e.edges[id].From; from >= 0 && e.table[from].Tail != NoBlock; {
		b := &e.table[from]
		if e.edges[id].Kind != EdgeReturn {
			e.Parts(e.edge(edgeKey{b.Front, EdgeFall, b.Tail, e.table[b.Tail].PC}), use)
		}
		id, from = e.alike(id, b.Tail), b.Tail
	}
	for d := e.edges[id]; d.To >= 0 && e.table[d.To].Front != NoBlock; d = e.edges[id] {
		front := e.table[d.To].Front
		id = e.edge(edgeKey{d.From, d.Kind, front, e.table[front].PC})
	}
	use(id)
}

// First and Last are the first and the last part of a block, itself if it was not split.
func (e *Engine) First(id BlockID) BlockID {
	for id >= 0 && e.table[id].Front != NoBlock {
		id = e.table[id].Front
	}
	return id
}

// Last is the last part of a block.
func (e *Engine) Last(id BlockID) BlockID {
	for id >= 0 && e.table[id].Tail != NoBlock {
		id = e.table[id].Tail
	}
	return id
}
