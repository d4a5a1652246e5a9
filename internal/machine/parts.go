package machine

import "math/bits"

func trailingZeros(x uint64) int { return bits.TrailingZeros64(x) }

// tlb is a translation buffer with least recently used replacement; the zero value always hits.
type tlb struct {
	tags []uint64 // page + 1, set by set, the one used last first; 0: empty
	ways uint64
	sets uint64
	mask uint64 // sets - 1 if that is a power of two, else 0
	last uint64 // page of the last access + 1: the common case
}

func newTLB(d TLBDesc) tlb {
	if d.Entries == 0 {
		return tlb{}
	}
	t := tlb{tags: make([]uint64, d.Entries/d.Ways*d.Ways), ways: uint64(d.Ways), sets: uint64(d.Entries / d.Ways)}
	if log2(int(t.sets)) >= 0 {
		t.mask = t.sets - 1
	}
	return t
}

// set returns the entries of the set of a page.
func (t *tlb) set(page uint64) []uint64 {
	n := page & t.mask
	if t.mask == 0 {
		n = page % t.sets
	}
	return t.tags[n*t.ways : (n+1)*t.ways]
}

// same reports whether an access to a page changes nothing, because it was the last one in its set.
func (t *tlb) same(page uint64) bool {
	return t.last == page+1 || t.tags == nil || t.set(page)[0] == page+1
}

// access looks a page up and reports whether it missed; the page is then filled.
func (t *tlb) access(page uint64) (miss bool) { return t.last != page+1 && t.look(page) }

// look is access for a page other than the last one.
func (t *tlb) look(page uint64) (miss bool) {
	if t.tags == nil {
		return false
	}
	t.last = page + 1
	set := t.set(page)
	before := page + 1 // moves down by one all that were used since the page was, or drops the last
	for i, tag := range set {
		set[i] = before
		if tag == page+1 {
			return false
		}
		before = tag
	}
	return true
}

// queue is a resource that serves as many requests at once as it has lanes, the others after these:
// a bus, a memory channel. The simulated cores run in turns, so that requests do not come in the
// order of their times. Time is therefore cut into buckets, and a request takes the first bucket
// from its own time on that has room: the resource never does more work in a bucket than fits.
type queue struct {
	lanes  uint64
	bucket uint64   // cycles in a bucket
	used   []uint64 // ring: cycles taken of each bucket, of all lanes
	number []uint64 // ring: which bucket stands there, + 1
}

const queueRing = 1 << 12

// newQueue makes a queue for requests of about the given length in cycles.
func newQueue(occupancy, lanes int) *queue {
	return &queue{lanes: uint64(lanes), bucket: max(32, uint64(4*occupancy)), used: make([]uint64, queueRing),
		number: make([]uint64, queueRing)}
}

// reserve takes the resource for some cycles, at time now or as soon after as there is room, and
// returns how long the request waits.
func (q *queue) reserve(now, cycles uint64) (wait uint64) {
	if cycles == 0 {
		return 0
	}
	b := now / q.bucket
	for tries := 0; tries < queueRing; tries++ {
		i := b % queueRing
		if q.number[i] != b+1 {
			if q.number[i] > b+1 { // a bucket long past: nobody remembers it
				return 0
			}
			q.number[i], q.used[i] = b+1, 0
		}
		if q.used[i]+cycles <= q.bucket*q.lanes || q.used[i] == 0 {
			start := max(now, b*q.bucket+q.used[i]/q.lanes)
			q.used[i] += cycles
			return start - now
		}
		b++
	}
	return b*q.bucket - now
}

// streams is a prefetcher that follows ascending sequences of missed lines.
type streams struct {
	next []uint64 // the line expected next by each stream
	at   int      // the stream to replace next
}

// miss tells the prefetcher of a missed line, and reports whether it continues a stream.
func (s *streams) miss(line uint64) bool {
	for i, n := range s.next {
		if n == line {
			s.next[i] = line + 1
			return true
		}
	}
	if len(s.next) > 0 {
		s.next[s.at] = line + 1
		s.at = (s.at + 1) % len(s.next)
	}
	return false
}
