package waste

import "math"

// Threads beside each other. Each tells of what it has done chunk by chunk, when a chunk is over; in
// which order the accesses of chunks have happened that overlap in time is not known. So every line
// has a word that says who has touched it last, in which chunk, and whether that was a store. Where
// two threads touch a line in chunks that overlap, and one of them stores, the line is disputed:
// nothing is claimed there from then on. What two threads only load has no order that matters.
//
// A word is a chunk's number, from bit chunkShift on, who it is of, and in bit 0 whether it stored.

const (
	touchBytes = 8
	chunkShift = 16
	// TouchStored is the mark of a store in a line's word, TouchThread the bits of who.
	TouchStored = 1
	TouchThread = 1<<chunkShift - 1 - TouchStored
	// together is who has touched a line if it was several threads by turns, all of which have loaded.
	together = TouchThread
	disputed = math.MaxUint64
	// pastChunks is how many chunks of a thread are remembered by when they were.
	pastChunks = 64
)

// Order is what is known of the order of threads' chunks. Each thread tells of its accesses between
// Begin, Detector.Run and End.
type Order struct {
	Beside   bool   // threads run beside each other; else all that is told is in order
	Disputed uint64 // bytes of accesses to disputed lines
	clock    uint64 // beginnings and ends of chunks so far
	threads  []chunks
	running  chunk // whose accesses are told now
	low      uint64
}

// chunk is one by when it began and ended.
type chunk struct{ begin, end uint64 }

// chunks are those of a thread.
type chunks struct {
	open chunk // no begin: it does nothing
	low  uint64
	past [pastChunks]chunk
	n    int
}

// Begin begins a chunk of a thread.
func (o *Order) Begin(thread uint32) {
	if !o.Beside {
		return
	}
	for len(o.threads) <= int(thread) {
		o.threads = append(o.threads, chunks{})
	}
	o.clock++
	low := o.clock
	for i := range o.threads {
		if at := o.threads[i].open.begin; at != 0 {
			low = min(low, at)
		}
	}
	t := &o.threads[thread]
	t.open, t.low = chunk{begin: o.clock}, low
}

// End ends it.
func (o *Order) End(thread uint32) {
	if !o.Beside {
		return
	}
	t := &o.threads[thread]
	o.clock++
	t.open.end = o.clock
	t.past[t.n%pastChunks] = t.open
	t.n++
	t.open = chunk{}
}

// Now has a thread tell of accesses that happen now.
func Now(d *Detector, thread uint32, tell func()) {
	d.Order.Begin(thread)
	d.Run(thread)
	tell()
	d.Order.End(thread)
}

// run says whose accesses follow.
func (o *Order) run(thread uint32) {
	if o.Beside {
		o.running, o.low = o.threads[thread].open, o.threads[thread].low
	}
}

// ordered notes an access of the running thread; false: a line of it is disputed.
func ordered(d *Detector, addr, n uint64, store bool) bool {
	if !d.Order.Beside {
		return true
	}
	ok := true
	lines(addr, n, func(addr, _ uint64) {
		ok = d.Order.touch(d.stores.at(addr).touch(addr), d.thread, store) && ok
	})
	return ok
}

// claimable does so for one that counts; of one to disputed lines all is forgotten.
func claimable(d *Detector, addr, n uint64, store bool) bool {
	ok := ordered(d, addr, n, store)
	if !ok {
		d.Order.Disputed += n
		wipe(d, addr, n)
	}
	return ok
}

// touch does so for a line's word.
func (o *Order) touch(word *uint64, thread uint32, store bool) bool {
	x, me := *word, touchOf(o.running.begin, thread)
	if store {
		me |= TouchStored
	}
	switch who := x & TouchThread; {
	case x == disputed:
		return false
	case who == me&TouchThread && who != together:
		*word = me | x&TouchStored
	case x < o.low<<chunkShift, who != together && !o.overlaps(uint32(who>>1)-1, x>>chunkShift):
		*word = me
	case !store && x&TouchStored == 0:
		*word = me | together
	default:
		*word = disputed
		return false
	}
	return true
}

// touchOf is the word of a load.
func touchOf(begin uint64, thread uint32) uint64 {
	return begin<<chunkShift | min(2*(uint64(thread)+1), together)
}

// overlaps reports whether another thread's chunk may have overlapped the running one.
func (o *Order) overlaps(thread uint32, begin uint64) bool {
	t := &o.threads[thread]
	if t.open.begin == begin {
		return true
	}
	for _, c := range t.past {
		if c.begin == begin {
			return c.end > o.running.begin
		}
	}
	return t.past[t.n%pastChunks].begin > o.running.begin // it is older than the oldest
}
