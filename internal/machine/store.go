package machine

import "math"

// storeBuffer holds the stores of a core that have not reached the cache. They reach it in order;
// those that hit do so at once, unless they stand behind one that does not. So only stores that
// wait for their line are kept, each with how many stores the core had executed by then: all that
// follow stand behind it.
type storeBuffer struct {
	ring   []pendingStore
	first  int    // the oldest one in the ring
	n      int    // how many there are
	stores uint64 // that the core has executed
	full   uint64 // with as many executed the buffer is full; never if nothing waits
	last   uint64 // when the last store reaches the cache
}

// pendingStore is a store that waits for its line.
type pendingStore struct {
	done   uint64 // when it reaches the cache
	number uint64 // stores executed by then, itself included
	line   uint64
	bytes  uint64 // of the line, that it and those that have joined it write
	site   Site
	parts  latency
	shared bool // it fetches the line from another core, or takes it away
}

func newStoreBuffer(entries int) storeBuffer {
	return storeBuffer{ring: make([]pendingStore, entries), full: math.MaxUint64}
}

// oldest is the store that has waited longest, nil if there is none.
func (s *storeBuffer) oldest() *pendingStore {
	if s.n == 0 {
		return nil
	}
	return &s.ring[s.first]
}

// pop forgets the oldest store.
func (s *storeBuffer) pop() {
	if s.first++; s.first == len(s.ring) {
		s.first = 0
	}
	s.n--
	s.full = math.MaxUint64
	if e := s.oldest(); e != nil {
		s.full = e.number + uint64(len(s.ring))
	}
}

// forget lets all stores be done.
func (s *storeBuffer) forget() { s.n, s.full = 0, math.MaxUint64 }

// matters reports whether n passages of a block may have to wait for the buffer.
func (s *storeBuffer) matters(h *hotBlock, n uint64) bool {
	return s.stores+n*h.stores >= s.full || h.drains && s.n > 0
}

// push makes a place for the store that the core has executed last. There must be room.
func (s *storeBuffer) push() *pendingStore {
	at := s.first + s.n
	if at >= len(s.ring) {
		at -= len(s.ring)
	}
	if s.n++; s.n == 1 {
		s.full = s.stores + uint64(len(s.ring))
	}
	return &s.ring[at]
}

// fetching is a store that at time now waits for a line to come from another core, or nil.
func (s *storeBuffer) fetching(line, now uint64) *pendingStore {
	for i, at := 0, s.first; i < s.n; i++ {
		if e := &s.ring[at]; e.line == line && e.shared && e.done > now {
			return e
		}
		if at++; at == len(s.ring) {
			at = 0
		}
	}
	return nil
}

// store accounts for a store that waits for its line from issued on, and for as long as l says.
func (r *runner) store(a *Access, at *place, issued, total uint64, l *latency) {
	s := &r.c.buffer
	s.last = max(s.last, issued+total)
	if s.last < r.c.clock+uint64(len(s.ring)) && !at.shared { // the buffer takes one a cycle at most: it cannot fill meanwhile
		return
	}
	if s.n == len(s.ring) {
		r.oldestStore()
	}
	e := s.push()
	e.done, e.number, e.line, e.bytes, e.shared = s.last, s.stores, at.line, at.bytes, at.shared
	e.site, e.parts = Site{r.block, a.Instr}, *l
}

// place is the part of a line that an access goes to.
type place struct {
	line, bytes uint64
	shared      bool // it is a coherence miss
	fetched     bool // it takes a miss register
}

// oldestStore lets the core stand still until the oldest store has reached the cache. The time is
// that store's: of its block, and of the events that make it wait.
func (r *runner) oldestStore() {
	s := &r.c.buffer
	e := s.oldest()
	s.pop()
	if e.done <= r.c.clock {
		return
	}
	stall := e.done - r.c.clock
	r.c.clock = e.done
	r.c.leading = false // what comes next had no place in the buffer, and could not leave in an earlier miss's shadow
	r.acct.addTime(e.site.Block, stall)
	r.split(&r.m.blocks[e.site.Block], e.site, e.parts.kinds, &e.parts, e.parts.total(), stall, true)
}

// full lets the core stand still until there is room in the store buffer.
func (r *runner) full() {
	s := &r.c.buffer
	for s.stores >= s.full {
		r.oldestStore()
	}
}

// drain lets the core stand still until the store buffer is empty.
func (r *runner) drain() {
	for s := &r.c.buffer; s.n > 0; {
		r.oldestStore()
	}
}
