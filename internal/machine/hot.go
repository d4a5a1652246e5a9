package machine

import "fmt"

// hotBlock is what Run needs of a block each time it comes by.
type hotBlock struct {
	first, last uint64   // lines of code
	sets        [2]int32 // of those in the instruction cache
	page        uint64   // of both lines; ^0 if they are on two, or if there are more lines
	addr, fall  uint64
	branch      uint64 // address of the conditional branch at its end, 0 if there is none
	// Two of the blocks before it whose pair's cost is known, the latest first.
	prevs    [2]BlockID
	costs    [2]uint64
	accesses []hotAccess
	count    uint32 // instructions
	words    int32  // of its accesses in a trace
	repeats  bool
}

// hotAccess is what the quick test of an access needs: its size less one, and whether it writes (an index of recent).
type hotAccess struct {
	last  uint16
	write uint8
}

func (m *Machine) newHotBlock(b *blockState) hotBlock {
	h := hotBlock{
		first: b.lines[0], last: b.lines[1], page: ^uint64(0), addr: b.Addr, fall: b.Fall, prevs: [2]BlockID{-2, -2},
		count: uint32(len(b.Instrs)), words: int32(b.words), repeats: b.repeats,
	}
	if page := h.first << m.shift >> m.page; h.last-h.first <= 1 && h.last<<m.shift>>m.page == page {
		h.page = page
	}
	for i, line := range b.lines {
		h.sets[i] = int32(m.caches.cores[0].l1i.set(line))
	}
	if b.End == EndCond {
		h.branch = b.PCs[len(b.PCs)-1]
	}
	for _, a := range b.Accesses {
		last := a.Size - 1 // 65535 for none, which is never quick
		h.accesses = append(h.accesses, hotAccess{last: last, write: way(a.Write)})
	}
	return h
}

// way is the index of recent for reads and writes.
func way(write bool) uint8 {
	if write {
		return 1
	}
	return 0
}

// remember keeps the cost of a pair at hand.
func (h *hotBlock) remember(pc *pairCost) {
	h.prevs = [2]BlockID{pc.prev, h.prevs[0]}
	h.costs = [2]uint64{pc.cost, h.costs[0]}
}

// traceError says what is wrong with a trace that does not begin with a whole record.
func (m *Machine) traceError(trace []uint64) error {
	id := uint32(trace[0])
	if trace[0]&blockTag == 0 || uint64(id) >= uint64(len(m.blocks)) {
		return fmt.Errorf("word %#x where one of %d blocks should be named: %w", trace[0], len(m.blocks), ErrTrace)
	}
	b := &m.blocks[id]
	return fmt.Errorf("%d words for block at %#x with %d: %w", len(trace)-1, b.Addr, b.words, ErrTrace)
}

// Run consumes the trace of what a core executed, for the account of the thread that ran.
func (m *Machine) Run(coreID int, trace []uint64, acct *Account) error {
	c := &m.cores[coreID]
	r := runner{m: m, c: c, core: coreID, acct: acct, block: c.prev, caches: &m.caches.cores[coreID]}
	acct.room(len(m.hot))
	recents, shift := r.caches.quick(), m.shift
	var before *hotBlock
	if r.block >= 0 {
		before = &m.hot[r.block]
	}
	for len(trace) > 0 {
		id := trace[0] & (1<<32 - 1)
		if trace[0]&blockTag == 0 || id >= uint64(len(m.hot)) || len(trace) <= int(m.hot[id].words) {
			return m.traceError(trace)
		}
		h := &m.hot[id]
		words := trace[1 : 1+h.words]
		trace = trace[1+h.words:]
		if before != nil && before.branch != 0 && !c.predict(before.branch, h.addr != before.fall) {
			r.mispredicted()
		}
		if c.code != h.first+1 || h.first != h.last {
			if code := r.caches.code; h.page != ^uint64(0) && code[h.sets[0]] == h.first+1 && code[h.sets[1]] == h.last+1 && c.itlb.same(h.page) {
				c.code = h.last + 1
			} else {
				r.code(h, BlockID(id))
			}
		}
		var units uint64
		switch r.block {
		case h.prevs[0]:
			units, c.skipped = h.costs[0], true
		case h.prevs[1]:
			units, c.skipped = h.costs[1], true
		default:
			units = r.base(&m.blocks[id], h)
		}
		r.block, before = BlockID(id), h
		c.count += uint64(h.count)
		acct.addTime(BlockID(id), c.advance(units))
		if h.repeats {
			r.withRepeats(&m.blocks[id], words)
			continue
		}
		accesses := h.accesses
		for i, addr := range words {
			addr &= addressBits
			a := accesses[i]
			line := addr >> shift
			if at := line & uint64(len(recents)-1); at < uint64(len(recents)) &&
				recents[at][a.write&1] == line+1 && (addr+uint64(a.last))>>shift == line {
				continue
			}
			if addr == 0 || (addr+uint64(a.last))>>shift == line && r.near(addr, line, a.write) {
				continue
			}
			b := &m.blocks[id]
			r.data(b, &b.Accesses[i], addr)
		}
	}
	c.prev = r.block
	return nil
}

// near performs an access to a line that stands elsewhere in its set, if that needs nothing but the order of use
// to change, and reports whether it did. It is privates.hit for the common kind of cache.
func (r *runner) near(addr, line uint64, write uint8) bool {
	p := r.caches
	a := p.l1d
	if !a.pow2 || a.policy != LRU || !r.c.dtlb.same(addr>>r.m.page) {
		return false
	}
	at := line & a.mask
	base := int(at) * a.ways
	tags, states := a.tags[base:base+a.ways], a.states[base:base+a.ways]
	way := 0
	for way < len(tags) && tags[way] != line+1 {
		way++
	}
	if way >= len(tags) || way >= len(states) {
		return false
	}
	st := states[way]
	if st != modified && (write != 0 || st == invalid || st.base() == lost) {
		return false
	}
	for i := way; i > 0; i-- {
		tags[i], states[i] = tags[i-1], states[i-1]
	}
	tags[0], states[0] = line+1, st
	next := recent{line + 1, 0}
	if st == modified {
		next[1] = line + 1
	}
	p.data[at] = next
	return true
}

// code accounts for fetching the block's lines.
func (r *runner) code(h *hotBlock, id BlockID) {
	c := r.c
	for line := h.first; line <= h.last; line++ {
		if c.code == line+1 {
			continue
		}
		c.code = line + 1
		if r.caches.code[r.caches.l1i.set(line)] == line+1 && c.itlb.same(line<<r.m.shift>>r.m.page) {
			continue
		}
		r.fetch(&r.m.blocks[id], id, line)
	}
}
