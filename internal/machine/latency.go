package machine

import "math"

// latency is what an access takes beyond a hit in the first level, by the kind of event that
// it is due to.
type latency struct {
	of    [NumKinds]uint32 // cycles
	kinds KindSet          // that have a part
}

// add adds cycles that are due to a kind of event.
func (l *latency) add(k Kind, cycles uint64) {
	l.of[k] += uint32(min(cycles, math.MaxUint32))
	l.kinds |= KindSet(bit(cycles > 0) << k)
}

// take takes the part of a kind out.
func (l *latency) take(k Kind) (cycles uint64) {
	cycles = uint64(l.of[k])
	l.of[k] = 0
	l.kinds &^= 1 << k
	return cycles
}

// total is the sum.
func (l *latency) total() (sum uint64) {
	for s := l.kinds; s != 0; s &= s - 1 {
		sum += uint64(l.of[trailingZeros(uint64(s))])
	}
	return sum
}

// erase takes out the events of some kinds, each with everything that follows from it, and returns
// the kinds left.
func (l *latency) erase(gone, kinds KindSet) KindSet {
	infos := Kinds()
	for k := range NumKinds {
		for up := k; ; {
			if gone.Has(up) {
				l.take(k)
				kinds &^= 1 << k
			}
			next, ok := KindByName(infos[up].Superior)
			if !ok {
				break
			}
			up = next
		}
	}
	return kinds
}

// below fills in what the levels behind the first take for an access that has missed there. queues:
// if it takes the line from other cores, it comes after those that take it before.
func (r *runner) below(f *found, line, now uint64, queues bool, l *latency) {
	m := r.m
	if m.bus != nil {
		wait := m.bus.reserve(now, m.busy*uint64(1+f.writebacks))
		l.add(BusWait, wait)
		r.c.waited += wait
		l.add(f.entry(), m.busy)
	}
	if f.l1Miss {
		l.add(L1DMiss, m.second)
	}
	deepest := L2Miss
	if m.d.L3.Size != 0 && f.l2Miss {
		l.add(L2Miss, m.third)
		deepest = LLCMiss
	}
	if f.contended() {
		r.takes(f, now, queues, l)
	}
	if f.fromMemory(m.d) {
		wait, access := r.fromMemory(line, now, f)
		l.add(MemoryWait, wait)
		r.c.waited += wait
		l.add(deepest, access)
	}
}

// takes fills in what it takes to get a line from other cores. All of the way to it is due to them.
func (r *runner) takes(f *found, now uint64, queues bool, l *latency) {
	cycles := l.take(L1DMiss) + l.take(L2Miss) + l.take(CoherenceMiss)
	if f.transfer {
		cycles += uint64(r.m.d.Coherence.Transfer)
	}
	if f.upgrade {
		cycles += uint64(r.m.d.Coherence.Upgrade)
	}
	if queues {
		cycles += r.m.caches.dir.handOver(f.way, now, cycles, f.transfer || f.upgrade)
	}
	l.add(CoherenceMiss, cycles)
}

func (f *found) fromMemory(d *Description) bool {
	if d.L3.Size != 0 {
		return f.llcMiss
	}
	return f.l2Miss
}

// fromMemory returns what it takes to bring a line from memory: the wait for its channel and the
// access.
func (r *runner) fromMemory(line, now uint64, f *found) (wait, access uint64) {
	m := r.m
	q := m.memory[f.mem%uint64(len(m.memory))]
	access = uint64(m.d.Memory.Latency)
	if m.d.Memory.Nodes > 1 {
		node := int32(r.core * m.d.Memory.Nodes / m.d.Cores)
		if m.caches.frames.node(f.mem, node) != node {
			access += uint64(m.d.Memory.Remote)
		}
	}
	prefetched := r.c.pre.miss(line)
	for range f.memWrites {
		q.reserve(now, uint64(m.d.Memory.Cycles))
	}
	wait = q.reserve(now, uint64(m.d.Memory.Cycles))
	if prefetched { // asked for some misses ahead: what is left is the distance not yet covered
		access /= uint64(1 + m.d.Prefetch.Degree)
	}
	return wait, access
}

// charge moves the core's clock by what the access really cost it, and accounts for the events.
func (r *runner) charge(b *blockState, a *Access, at *place, issued uint64, kinds KindSet, l *latency) {
	total := l.total()
	if at.fetched {
		r.c.register(issued + total)
	}
	if kinds |= l.kinds; kinds == 0 {
		return
	}
	stall := r.wait(b, a, at, issued, total, l)
	r.split(b, Site{r.block, a.Instr}, kinds, l, total, stall, false)
}

// wait lets the core stand still as long as it has to for an access that takes so long beyond a
// hit.
func (r *runner) wait(b *blockState, a *Access, at *place, issued, total uint64, l *latency) (stall uint64) {
	switch {
	case a.Lock:
		stall = r.c.atomic(total)
	case a.Read:
		stall = r.c.load(issued+total, b.chase[a.Instr])
	default:
		r.store(a, at, issued, total, l)
	}
	r.acct.addTime(r.block, stall)
	return stall
}

// split counts the events of an access, unless they have been counted, and divides its stall over
// their kinds in proportion to their part of the latency; the last one takes what rounding leaves.
func (r *runner) split(b *blockState, site Site, kinds KindSet, l *latency, total, stall uint64, counted bool) {
	for left, rest := stall, total; kinds != 0; kinds &= kinds - 1 {
		k := Kind(trailingZeros(uint64(kinds)))
		n, cost, part := uint64(1), uint64(0), uint64(l.of[k])
		switch {
		case left == 0 || part == 0:
		case part == rest:
			cost, left = left, 0
		default:
			cost = left * part / rest
			left, rest = left-cost, rest-part
		}
		switch {
		case counted:
			n = 0
		case k == BusWait || k == MemoryWait:
			n = part
		}
		r.event(b, site.Block, int(site.Instr), k, n, cost)
	}
}
