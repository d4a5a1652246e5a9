package machine

import "fmt"

// hotBlock is what Run needs of a block each time it comes by.
type hotBlock struct {
	first, last uint64 // lines of code
	steady      uint64 // as in privates: a core that has the same value fetches all lines without a change
	addr, fall  uint64
	branch      uint64 // address of the conditional branch at its end, 0 if there is none
	// Two of the blocks before it whose pair's cost is known, the latest first.
	prevs  [2]BlockID
	costs  [2]uint64
	count  uint64 // instructions
	stores uint64
	drains bool // holds an instruction before which the store buffer empties
}

func (m *Machine) newHotBlock(b *blockState) hotBlock {
	h := hotBlock{
		first: b.lines[0], last: b.lines[1], addr: b.Addr, fall: b.Fall, prevs: [2]BlockID{-2, -2},
		count: uint64(len(b.Instrs)),
	}
	for _, a := range b.Accesses {
		h.stores += bit(a.Write && !a.Rep && a.Size > 0)
	}
	for _, in := range b.Instrs {
		h.drains = h.drains || in.drains()
	}
	if b.End == EndCond {
		h.branch = b.PCs[len(b.PCs)-1]
	}
	return h
}

// remember keeps the cost of a pair at hand.
func (h *hotBlock) remember(pc *pairCost) {
	h.prevs = [2]BlockID{pc.prev, h.prevs[0]}
	h.costs = [2]uint64{pc.cost, h.costs[0]}
}

// traceError says what is wrong with a trace that does not begin with a whole record.
func (m *Machine) traceError(trace []uint64, b *blockState) error {
	id := uint32(trace[0]) >> 1
	switch {
	case trace[0]&blockTag != 0:
		return fmt.Errorf("word %#x names block %d of %d: %w", trace[0], id, len(m.blocks), ErrTrace)
	case b == nil:
		return fmt.Errorf("word %#x where a block should be named: %w", trace[0], ErrTrace)
	}
	return fmt.Errorf("word %#x, and %d more, as access of the block at %#x, which has %d: %w",
		trace[0], len(trace)-1, b.Addr, len(b.Accesses), ErrTrace)
}

// Run consumes the trace of what a core executed, for the account of the thread that ran.
func (m *Machine) Run(coreID int, trace []uint64, acct *Account) error {
	c := &m.cores[coreID]
	r := runner{m: m, c: c, core: coreID, acct: acct, block: c.prev, caches: &m.caches.cores[coreID]}
	acct.room(len(m.hot))
	var before *hotBlock
	if r.block >= 0 {
		before = &m.hot[r.block]
	}
	for at := 0; at < len(trace); {
		word := trace[at]
		id := BlockID(uint32(word) >> 1)
		if word&blockTag == 0 || int(id) >= len(m.hot) {
			return m.traceError(trace[at:], nil)
		}
		h := &m.hot[id]
		at++
		r.enter(before, h, id)
		if again := word &^ blockTag >> countShift; again > 0 {
			r.again(h, id, again)
		}
		before = h
		for at < len(trace) && trace[at]&blockTag == 0 {
			b := &m.blocks[id]
			n := r.access(b, trace[at:])
			if n == 0 {
				return m.traceError(trace[at:], b)
			}
			at += n
		}
	}
	c.prev = r.block
	return nil
}

// enter accounts for a block behind the one before, if there is one.
func (r *runner) enter(before, h *hotBlock, id BlockID) {
	if before != nil && before.branch != 0 && !r.c.pred.update(before.branch, h.addr != before.fall) {
		r.mispredicted()
	}
	c, a := r.c, r.acct
	units, stores := h.costs[0], c.buffer.stores+h.stores
	if r.block != h.prevs[0] {
		units = h.costs[1]
	}
	if r.block != h.prevs[0] && r.block != h.prevs[1] || r.caches.steady != h.steady || stores >= c.buffer.full ||
		h.drains || a.times[id] == 0 {
		r.enterSlowly(h, id)
		return
	}
	r.block = id
	c.skipped = true
	c.code = h.last + 1
	c.count += h.count
	c.buffer.stores = stores
	cycles := c.advance(units)
	a.times[id] += cycles
	a.totalTimes += cycles
}

// enterSlowly is enter where there is more to do than to add: what the block costs is yet to be
// learnt, its code comes from elsewhere, it has to wait for the store buffer, or the account does
// not have it.
func (r *runner) enterSlowly(h *hotBlock, id BlockID) {
	c := r.c
	if r.caches.steady == h.steady {
		c.code = h.last + 1
	} else {
		r.code(h, id)
	}
	units := r.cost(h, id)
	r.block = id
	c.count += h.count
	if c.buffer.stores += h.stores; c.buffer.stores >= c.buffer.full || h.drains {
		r.makeRoom(h)
	}
	r.acct.addTime(id, c.advance(units))
}

// makeRoom lets the core stand still until the store buffer has room for the block's stores, and is
// empty if the block drains it.
func (r *runner) makeRoom(h *hotBlock) {
	if r.full(); h.drains {
		r.drain()
	}
}

// again accounts for a block that is entered n times more, right behind itself.
func (r *runner) again(h *hotBlock, id BlockID, n uint64) {
	for ; n > 0 && (h.prevs[0] != id && h.prevs[1] != id || r.c.buffer.matters(h, n)); n-- { // what it costs is yet to be learnt
		r.enter(h, h, id)
	}
	if n == 0 {
		return
	}
	c := r.c
	if h.branch != 0 {
		r.rounds(h.branch, h.addr != h.fall, n)
	}
	for i := n; h.first != h.last && i > 0 && r.caches.steady != h.steady; i-- {
		r.code(h, id)
	}
	c.count += n * h.count
	c.buffer.stores += n * h.stores
	r.acct.addTime(id, c.advance(n*r.cost(h, id)))
}

// rounds predicts a branch that goes the same way n times.
func (r *runner) rounds(pc uint64, taken bool, n uint64) {
	for n > 0 {
		if r.c.tage != nil {
			if n -= r.c.tage.rounds(pc, taken, n); n == 0 {
				return
			}
		}
		if !r.c.pred.update(pc, taken) {
			r.mispredicted()
		}
		n--
	}
}

// cost is what a block costs behind the one before when nothing misses.
func (r *runner) cost(h *hotBlock, id BlockID) uint64 {
	switch r.block {
	case h.prevs[0]:
		r.c.skipped = true
		return h.costs[0]
	case h.prevs[1]:
		r.c.skipped = true
		return h.costs[1]
	}
	return r.base(&r.m.blocks[id], h)
}

// access accounts for a recorded access of the block, and returns how many words of the trace it
// has, 0 if they are wrong.
func (r *runner) access(b *blockState, trace []uint64) int {
	word := trace[0]
	index := word >> indexShift
	if len(trace) < 2 || index >= uint64(len(b.Accesses)) {
		return 0
	}
	a, addr := &b.Accesses[index], word&addressBits
	line, last := addr>>r.m.shift, (addr+uint64(a.Size)-1)>>r.m.shift
	if line != last || a.Rep || a.Size == 0 {
		return r.wide(b, a, addr, trace)
	}
	r.caches.order(line, trace[1])
	r.line(b, a, addr, line)
	return 2
}

// wide is access for one that is repeated, or crosses a line, or has no size.
func (r *runner) wide(b *blockState, a *Access, addr uint64, trace []uint64) int {
	if a.Rep {
		r.repeated(b, a, addr, trace[1]>>1)
		return 2
	}
	n := 1 + orders(addr, uint64(a.Size))
	if len(trace) < n || a.Size == 0 {
		return 0
	}
	r.data(b, a, addr, trace[1:n])
	return n
}

// code accounts for fetching the block's lines.
func (r *runner) code(h *hotBlock, id BlockID) {
	c, steady := r.c, true
	for line := h.first; line <= h.last; line++ {
		same := r.caches.code[r.caches.l1i.set(line)] == line+1 && c.itlb.same(line<<r.m.shift>>r.m.page)
		if !same {
			steady = false
			if c.code != line+1 {
				r.fetch(&r.m.blocks[id], id, line)
			}
		}
		c.code = line + 1
	}
	if steady {
		h.steady = r.caches.steady
	}
}
