package machine

// runner consumes one trace for one core.
type runner struct {
	m    *Machine
	c    *core
	core int
	acct *Account
	// The core's caches.
	caches *privates
	block  BlockID // the block being executed, -1 before the first
}

// base returns what the block costs behind the one before when nothing misses.
func (r *runner) base(b *blockState, hot *hotBlock) uint64 {
	var pc *pairCost
	for i := range b.costs {
		if b.costs[i].prev == r.block {
			pc = &b.costs[i]
			break
		}
	}
	if pc == nil {
		b.costs = append(b.costs, pairCost{prev: r.block})
		pc = &b.costs[len(b.costs)-1]
	}
	if pc.seen >= warm {
		hot.remember(pc)
		r.c.skipped = true
		return pc.cost
	}
	if r.c.skipped {
		r.c.pipe.settle()
		r.c.skipped = false
	}
	r.c.pipe.lineage.from(r.c.count)
	units := r.c.pipe.run(r.m.d, &r.m.lat, &b.Block, b.chase)
	pc.seen++
	if pc.seen > warm/2 {
		pc.sum += units
	}
	if pc.seen == warm {
		pc.cost = pc.sum / (warm - warm/2)
	}
	return units
}

// mispredicted accounts for a branch at the end of the block before that was predicted wrongly.
func (r *runner) mispredicted() {
	from := &r.m.blocks[r.block]
	last := len(from.PCs) - 1
	if from.erases(last, BranchMiss) {
		return
	}
	penalty := uint64(r.m.d.Core.Mispredict)
	r.c.clock += penalty
	r.c.leading = false
	r.acct.addTime(r.block, penalty)
	r.event(from, r.block, last, BranchMiss, 1, penalty)
}

// fetch accounts for bringing in a line of code.
func (r *runner) fetch(b *blockState, id BlockID, line uint64) {
	if r.c.itlb.access(line<<r.m.shift>>r.m.page) && !b.erases(0, ITLBMiss) {
		r.stall(b, id, 0, ITLBMiss, uint64(r.m.d.ITLB.Miss))
	}
	var f found
	r.m.caches.fetchCode(r.core, line, &f)
	if !f.l1Miss || b.erases(0, L1IMiss) {
		return
	}
	var l latency
	r.below(&f, line, r.c.clock, true, &l)
	var waits uint64
	for _, k := range [...]Kind{BusWait, MemoryWait} { // not the cache's doing, and as dear as the others make it
		if c := l.take(k); c > 0 && !b.erases(0, k) {
			r.event(b, id, 0, k, c, c)
			waits += c
		}
	}
	r.stall(b, id, 0, L1IMiss, l.total())
	r.c.clock += waits
	r.acct.addTime(id, waits)
}

// stall adds cycles that nothing hides.
func (r *runner) stall(b *blockState, id BlockID, instr int, k Kind, cycles uint64) {
	r.c.clock += cycles
	r.acct.addTime(id, cycles)
	r.event(b, id, instr, k, 1, cycles)
}

func (b *blockState) erases(instr int, k Kind) bool {
	return b.erased != nil && b.erased[instr].Has(k)
}

// event counts an event; waits count in cycles.
func (r *runner) event(b *blockState, id BlockID, instr int, k Kind, n, cost uint64) {
	if b.events == nil {
		b.events = make([]int32, len(b.Instrs)*int(allKinds))
	}
	e := &b.events[instr*int(allKinds)+int(k)]
	if *e == 0 {
		r.m.events = append(r.m.events, Event{Site{id, uint16(instr)}, k})
		*e = int32(len(r.m.events))
	}
	r.acct.addEvent(*e-1, n, cost)
}

// data accounts for one data access, which crosses a line. orders are the words behind its first
// one.
func (r *runner) data(b *blockState, a *Access, addr uint64, orders []uint64) {
	first, last := addr>>r.m.shift, (addr+uint64(a.Size)-1)>>r.m.shift
	r.caches.order(first, orders[0])
	r.line(b, a, addr, first)
	r.caches.order(last, orders[len(orders)-1])
	r.line(b, a, last<<r.m.shift, last)
}

// stringBytes is how much a repeated string instruction moves in a cycle when nothing misses.
const stringBytes = 32

// repeated accounts for a repeated access, line by line, upwards: programs hardly ever go the other
// way.
func (r *runner) repeated(b *blockState, a *Access, addr, count uint64) {
	bytes := count * uint64(a.Size)
	if bytes == 0 || bytes > addressBits-addr {
		return // nothing done, or a trace that lies
	}
	one := *a
	lo, hi := addr, addr+bytes-1
	for line := lo >> r.m.shift; line <= hi>>r.m.shift; line++ {
		at := max(lo, line<<r.m.shift)
		one.Size = uint16(min(hi, line<<r.m.shift|uint64(r.m.d.LineBytes-1)) - at + 1)
		r.line(b, &one, at, line)
	}
	r.acct.addTime(r.block, r.c.advance(bytes*scale/stringBytes))
}

// line accounts for the part of an access that lies in one line.
func (r *runner) line(b *blockState, a *Access, addr, line uint64) {
	p := r.caches
	missed := r.c.dtlb.access(addr >> r.m.page)
	way, hit := p.hit(line, a.Write)
	switch {
	case !hit:
		r.further(b, a, addr, line, way, missed)
	case missed:
		r.walk(b, a, addr)
	}
}

// further accounts for an access that needs more than the first level, in which the line stood in a
// way, or -1. missed: in the data TLB.
func (r *runner) further(b *blockState, a *Access, addr, line uint64, way int, missed bool) {
	i := int(a.Instr)
	var l latency
	if missed && !b.erases(i, DTLBMiss) {
		l.add(DTLBMiss, uint64(r.m.d.DTLB.Miss))
	}
	var f found
	site := Site{r.block, a.Instr}
	at := place{line: line, bytes: byteMask(addr, int(a.Size), r.m.d.LineBytes)}
	r.m.caches.access(r.core, way, line, a.Write, at.bytes, site, &f)
	at.shared = f.contended()
	if at.shared && r.joins(b, a, &at, &l) {
		return
	}
	if missed || f.l1Miss || f.upgrade {
		r.sample(b, site, addr, &f)
	}
	r.elsewhere(b, i, &f)
	issued := r.c.clock
	if f.l1Miss || f.upgrade {
		if f.lostLine {
			r.contention(site, &f)
		}
		if !b.erases(i, f.entry()) { // else it is a hit, and keeps nothing busy
			issued = r.c.issue(r.m.d, b.chase[i] || a.Lock)
			r.below(&f, line, issued, !b.erases(i, CoherenceMiss), &l)
			at.fetched = true
		}
	}
	kinds := f.kinds()
	if b.erased != nil {
		kinds = l.erase(b.erased[i], kinds)
	}
	r.charge(b, a, &at, issued, kinds, &l)
}

// joins reports whether a store of the core fetches the line already, and lets the access wait for
// that with it: a store stands behind it in the store buffer, a load gets what the stores have
// written, or else waits for the line.
func (r *runner) joins(b *blockState, a *Access, at *place, l *latency) bool {
	e := r.c.buffer.fetching(at.line, r.c.clock)
	if e == nil {
		return false
	}
	r.m.losses, r.m.fights = r.m.losses+1, r.m.fights+1
	kinds := KindSet(0)
	if a.Read && at.bytes&^e.bytes != 0 && !b.erases(int(a.Instr), CoherenceMiss) && !b.erases(int(a.Instr), L1DMiss) {
		l.add(CoherenceMiss, e.done-r.c.clock)
		kinds = kinds.With(L1DMiss).With(CoherenceMiss)
	}
	if a.Write {
		e.bytes |= at.bytes
	}
	at.shared = false
	r.charge(b, a, at, r.c.clock, kinds, l)
	return true
}

// walk accounts for an access that misses in the data TLB only.
func (r *runner) walk(b *blockState, a *Access, addr uint64) {
	r.sample(b, Site{r.block, a.Instr}, addr, nil)
	cost := uint64(r.m.d.DTLB.Miss)
	if cost == 0 || b.erases(int(a.Instr), DTLBMiss) {
		return
	}
	var l latency
	l.add(DTLBMiss, cost)
	stall := r.wait(b, a, &place{}, r.c.clock, cost, &l)
	r.event(b, r.block, int(a.Instr), DTLBMiss, 1, stall)
}

// kinds lists the events of an access other than waits. What other cores took away is a coherence
// miss; that the core's further levels do not have it either is no event of its own.
func (f *found) kinds() KindSet {
	if f.contended() {
		k := KindSet(0).With(CoherenceMiss)
		if f.l1Miss {
			k = k.With(L1DMiss)
		}
		return k
	}
	return KindSet(bit(f.l1Miss)<<L1DMiss | bit(f.l2Miss)<<L2Miss | bit(f.llcMiss)<<LLCMiss)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// contended reports whether the access is what it is because of another core.
func (f *found) contended() bool { return f.lostLine || f.upgrade || f.transfer }

// entry is the event for which an access left the first level.
func (f *found) entry() Kind {
	if f.l1Miss {
		return L1DMiss
	}
	return CoherenceMiss // only the right to write was missing
}

// again is the time in cycles within which a line that is lost twice is being fought for. It is
// longer than a long turn.
const again = 200_000

// contention notes who took the line, which the core has lost.
func (r *runner) contention(site Site, f *found) {
	s := r.m.share[site]
	if s == nil {
		s = &Sharing{}
		r.m.share[site] = s
	}
	r.m.losses++
	if f.lostBefore > 0 && r.c.clock < f.lostBefore+again {
		r.m.fights++
	}
	if f.trueSharing {
		s.True++
	} else {
		s.False++
	}
	switch {
	case s.votes == 0:
		s.Other, s.votes = f.other, 1
	case s.Other == f.other:
		s.votes++
	default:
		s.votes--
	}
}

// byteMask has a bit for each byte of the line that an access at addr touches.
func byteMask(addr uint64, size, line int) uint64 {
	off := int(addr & uint64(line-1))
	n := min(size, line-off)
	if n >= 64 {
		return ^uint64(0)
	}
	return (1<<n - 1) << off
}
