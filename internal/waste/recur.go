package waste

import "unsafe"

// recurrence is a pair that is found at its second context again and again: finds that are not
// summed up yet.
type recurrence struct {
	key  uint64 // how the cells look that make one more
	left uint32 // as many more are counted here; the next one is told
	stop uint32 // as many there were
}

// Ways is how many pairs of a kind are counted at a context at once. Where an access comes behind
// several others by turns, these are mostly few: the turns of a comparison, of a loop of two halves.
const Ways = 4

// record is what is counted at a context. Generated code counts there, too; its offsets are below.
type record struct {
	pairs [FalseSharing]recurrence
	me    uint64 // two cells of the context
	bytes uint32 // of each find
	_     uint32
	more  [Ways - 1][FalseSharing]recurrence
}

// way is one of the pairs of a kind.
func (r *record) way(k Kind, n int) *recurrence {
	if n == 0 {
		return &r.pairs[k]
	}
	return &r.more[n-1][k]
}

// Offsets in a record.
const (
	RecordSize = unsafe.Sizeof(record{})
	RecordMe   = unsafe.Offsetof(record{}.me)
	RecordLeft = unsafe.Offsetof(recurrence{}.left)
)

// RecordKey is where the key of one of a kind's pairs stands.
func RecordKey(k Kind, way int) uintptr {
	var r record
	at := uintptr(k) * unsafe.Sizeof(recurrence{})
	if way > 0 {
		at += unsafe.Offsetof(r.more) + uintptr(way-1)*unsafe.Sizeof(r.more[0])
	}
	return at
}

// Twice makes two cells of one.
const Twice = 1<<32 | 1

// maxContexts is how many have a number. What else is kept of as many would not fit any memory.
const maxContexts = who

// keyOf is how cells of so many bytes look that are all alike: the first, or the first two.
func keyOf(cell uint32, bytes uint32) uint64 {
	if bytes <= cellBytes {
		return uint64(cell)
	}
	return uint64(cell) * Twice
}

// again tells of an access all of which makes a pair with what a cell says, if that is of the same
// thread.
func (d *Detector) again(k Kind, cell uint32, c Context, addr, n uint64) {
	r := d.record(c)
	if r.bytes != uint32(n) {
		for k := range r.pairs {
			d.settle(Kind(k), c)
		}
		r.bytes = uint32(n)
	}
	key, found := keyOf(cell, r.bytes), Ways
	for n := 0; n < Ways && found == Ways; n++ {
		if r.way(k, n).key == key {
			found = n
		}
	}
	var x *recurrence
	if found < Ways {
		x = r.way(k, found)
	} else {
		x = d.spilledAs(k, c, key)
	}
	if x != nil && x.left != 0 {
		x.left--
		return
	}
	first := Context(cell & who)
	if d.sites[first].thread != d.thread {
		return
	}
	if x != nil {
		d.sumUp(k, c, x, r.bytes)
	}
	if found == Ways {
		found = Ways - 1
		d.spill(k, c, *r.way(k, found))
	}
	for n := found; n > 0; n-- { // those that are found more often come to the front
		*r.way(k, n) = *r.way(k, n-1)
	}
	*r.way(k, 0) = d.counted(k, first, c, key, addr, n)
}

// counted tells of one more of a pair, and how many are counted until the next one is told.
func (d *Detector) counted(k Kind, first, c Context, key, addr, n uint64) recurrence {
	count := d.index.list[d.hit(k, first, c, addr, uint32(n))].Count
	next := uint64(1)
	for next <= count {
		next *= 2
	}
	few := uint32(min(next-count-1, 1<<30))
	return recurrence{key: key, left: few, stop: few}
}

// settle sums up what was found at a context.
func (d *Detector) settle(k Kind, c Context) {
	if k == FalseSharing {
		return
	}
	for n := range Ways {
		d.settleWay(k, c, n)
	}
}

// settlePair sums up what was found of a pair.
func (d *Detector) settlePair(k Kind, first, second Context) {
	if k == FalseSharing {
		return
	}
	for n := range Ways {
		if Context(d.record(second).way(k, n).key&who) == first {
			d.settleWay(k, second, n)
		}
	}
}

func (d *Detector) settleWay(k Kind, c Context, way int) {
	r := d.record(c)
	d.sumUp(k, c, r.way(k, way), r.bytes)
}

// sumUp adds what was counted of a pair to it, and counts no more.
func (d *Detector) sumUp(k Kind, c Context, x *recurrence, bytes uint32) {
	if n := x.stop - x.left; n > 0 {
		s := &d.sites[c]
		pair := &d.index.list[d.index.of(s, k, Context(x.key&who), c)]
		pair.Bytes += uint64(n) * uint64(bytes)
		pair.Count += uint64(n)
		d.totals[s.thread].Wasted[k] += uint64(n) * uint64(bytes)
		s.since[k] += n
	}
	*x = recurrence{}
}

// settleAll sums up what was found since the threads were drained.
func (d *Detector) settleAll() {
	d.unspillAll()
	for _, list := range d.dirty {
		for _, s := range list {
			d.settle(s.Kind, s.Context)
		}
	}
}

// record is what is counted at a context.
func (x *counters) record(c Context) *record { return &x.records[c] }
