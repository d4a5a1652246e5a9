package waste

import (
	"math/bits"
	"unsafe"
)

// A block of instructions that has run leaves what it accessed in a log. Pass takes that at once:
// what nearly every access is, aligned, of whole cells that all say the same and found at its
// context before, is done here; all else by Load and Store.

// Op is an access of a block. In the log it leaves its address and, of what it stores, words of
// what was there before and as many of what is there after.
type Op struct {
	Store  bool
	Part   bool // it is the load of an instruction that then stores: that is the next op, with the same address and context
	Elem   Elem
	Bytes  int32
	Values int32 // words of each; 0: none are logged, and it counts as a change
}

// words is how many words the access leaves.
func (o *Op) words() int {
	if o.Part {
		return 0
	}
	return 1 + 2*int(o.Values)
}

func (o *Op) contexts() Context {
	if o.Part {
		return 0
	}
	return 1
}

// Body is the accesses of a block, one behind the other.
type Body struct {
	ops            []Op
	Contexts       int // how many contexts they have
	words          int
	loaded, stored uint64 // bytes
}

// NewBody sums up accesses.
func NewBody(ops []Op) Body {
	b := Body{ops: ops}
	for _, o := range ops {
		if o.Store {
			b.stored += uint64(o.Bytes)
		} else {
			b.loaded += uint64(o.Bytes)
		}
		b.words += o.words()
		b.Contexts += int(o.contexts())
	}
	return b
}

// Pass takes a passage of a block: c is the context of its first access, the others follow. It
// returns how many words of the log it was.
func (d *Detector) Pass(c Context, b *Body, words []uint64, tolerance float64) int {
	t := &d.totals[d.thread]
	t.Loaded += b.loaded
	t.Stored += b.stored
	words = words[:b.words]
	for ops := b.ops; len(ops) > 0; ops = ops[1:] {
		if d.quick != slow {
			left := d.quickly(ops, unsafe.Pointer(unsafe.SliceData(words)), uint32(c), tolerance)
			if left == 0 {
				break
			}
			for k := range ops[:len(ops)-left] {
				words, c = words[ops[k].words():], c+ops[k].contexts()
			}
			ops = ops[len(ops)-left:]
		}
		o := &ops[0]
		if n := int(o.Values); !o.Store {
			if d.quick == slow || !d.narrowLoad(c, words[0], o.Bytes) {
				d.slowLoad(c, words[0], int(o.Bytes))
			}
		} else if same := n > 0 && Same(o.Elem, words[1:1+n], words[1+n:1+2*n], tolerance); d.quick == slow ||
			!d.narrowStore(c, words[0], o.Bytes, same) {
			d.slowStore(c, words[0], int(o.Bytes), same)
		}
		words, c = words[o.words():], c+o.contexts()
	}
	return b.words
}

// quickly takes accesses up to the first that is not simple, and returns how many are left. It
// calls next to nothing, so that what it works with stays in registers; log has as many words as
// the accesses say.
func (d *Detector) quickly(ops []Op, log unsafe.Pointer, c uint32, tolerance float64) (left int) {
	quick := d.quick
	for k := range ops {
		o := &ops[k]
		addr := *(*uint64)(log)
		r := &d.recent[addr>>pageShift%recentPages]
		at := uintptr(addr % pageBytes)
		wide := o.Bytes == 2*cellBytes
		if r.number != addr>>pageShift+1 || !wide && o.Bytes != cellBytes || at&uintptr(o.Bytes-1) != 0 {
			return len(ops) - k
		}
		me, marks := uint64(c), uint64(read|mixed)
		if wide {
			me, marks = me*twice, (read|mixed)*twice
		}
		seen, all := uint64(read)*twice&marks, marks
		x := &d.recurring[c]
		if !o.Store {
			stores := unsafe.Add(unsafe.Pointer(r.stores), at)
			was := get(stores, wide)
			mark := quick&stored != 0 && was != 0 && was&all != seen
			if mark && (was&all != 0 || wide && was != bits.RotateLeft64(was, 32)) {
				return len(ops) - k
			}
			if quick&loaded != 0 {
				if r.loads == nil {
					return len(ops) - k
				}
				mine := unsafe.Add(unsafe.Pointer(r.loads), at)
				if old := get(mine, wide); old != 0 {
					if y := &x[SilentLoad]; y.key != old || y.left == 0 {
						return len(ops) - k
					} else {
						y.left--
					}
				}
				put(mine, wide, me)
			}
			if mark {
				put(stores, wide, was|seen)
			}
			if !o.Part {
				log = unsafe.Add(log, 8)
				c++
			}
			continue
		}
		same := false
		if o.Values != 0 {
			before, after := *(*uint64)(unsafe.Add(log, 8)), *(*uint64)(unsafe.Add(log, 16))
			if same = before == after; !same && o.Elem != Bytes {
				if o.Elem != Float64 {
					return len(ops) - k
				}
				same = near64(before, after, tolerance)
			}
		}
		clears := !same && quick&loaded != 0 && r.loads != nil
		if r.shared && !same || clears && get(unsafe.Add(unsafe.Pointer(r.loads), at), wide)&(mixed*twice) != 0 {
			return len(ops) - k
		}
		if quick&stored != 0 {
			stores := unsafe.Add(unsafe.Pointer(r.stores), at)
			if was := get(stores, wide); was != 0 {
				kills := quick&dead != 0 && was&all == 0
				repeats := quick&silent != 0 && same
				if was&(mixed*twice) != 0 || wide && was != bits.RotateLeft64(was, 32) ||
					kills && !x[DeadStore].takes(was) || repeats && !x[SilentStore].takes(was&^seen) {
					return len(ops) - k
				}
				if kills {
					x[DeadStore].left--
				}
				if repeats {
					x[SilentStore].left--
				}
			}
			put(stores, wide, me)
		}
		if clears {
			put(unsafe.Add(unsafe.Pointer(r.loads), at), wide, 0)
		}
		log = unsafe.Add(log, 8+16*uintptr(o.Values))
		c++
	}
	return 0
}

// twice makes a pair of cells of one.
const twice = 1<<32 | 1

// get reads a cell, or two that are beside each other.
func get(cell unsafe.Pointer, wide bool) uint64 {
	if wide {
		return *(*uint64)(cell)
	}
	return uint64(*(*uint32)(cell))
}

// put writes a cell, or two.
func put(cell unsafe.Pointer, wide bool, c uint64) {
	if wide {
		*(*uint64)(cell) = c
		return
	}
	*(*uint32)(cell) = uint32(c)
}

// What the quick forms have to keep, by the kinds that are looked for.
const (
	slow   = 0 // they are of no use
	stored = 1 // cells of stores
	loaded = 2 // cells of loads
	dead   = 4 // what dead stores there are
	silent = 8 // what silent stores
)

func quickOf(kinds Set) (q uint8) {
	if kinds.Has(FalseSharing) {
		return slow
	}
	if kinds&storeKinds != 0 {
		q |= stored
	}
	if kinds&loadKinds != 0 {
		q |= loaded
	}
	if kinds.Has(DeadStore) {
		q |= dead
	}
	if kinds.Has(SilentStore) {
		q |= silent
	}
	return q
}

// recurrence is a pair that is found at its second context again and again: finds that are not
// summed up yet.
type recurrence struct {
	key  uint64 // the first context and the bytes of each
	left uint32 // as many more are counted here; the next one is told
	stop uint32 // as many there were
}

// keyOf is how cells of so many bytes look that are all of one context, if these are one or two.
func keyOf(first uint32, bytes uint64) uint64 {
	switch bytes {
	case cellBytes:
		return uint64(first)
	case 2 * cellBytes:
		return uint64(first) * twice
	}
	return uint64(first) | (bytes|mixed)<<32
}

// of takes a key apart.
func (x *recurrence) of() (first Context, bytes uint64) {
	first, bytes = Context(x.key&who), x.key>>32
	switch {
	case bytes == 0:
		return first, cellBytes
	case bytes < mixed:
		return first, 2 * cellBytes
	}
	return first, bytes &^ mixed
}

// takes reports whether one more can be counted.
func (x *recurrence) takes(key uint64) bool { return x.key == key && x.left != 0 }

// again tells of an access all of which makes a pair with one context, if that is of the same
// thread.
func (d *Detector) again(k Kind, first uint32, c Context, addr uint64, n int32) {
	key := keyOf(first, uint64(n))
	if x := &d.recurring[c][k]; x.takes(key) {
		x.left--
		return
	}
	if d.sites[first].thread != d.thread {
		return
	}
	d.settle(k, c)
	at := d.hit(k, Context(first), c, addr, uint32(n))
	count := d.index.list[at].Count
	next := uint64(1)
	for next <= count {
		next *= 2
	}
	few := uint32(min(next-count-1, 1<<30))
	d.recurring[c][k] = recurrence{key: key, left: few, stop: few}
}

// settle sums up what was found at a context.
func (d *Detector) settle(k Kind, c Context) {
	x := &d.recurring[c][k]
	if n := x.stop - x.left; n > 0 {
		s := &d.sites[c]
		first, bytes := x.of()
		pair := &d.index.list[d.index.of(s, k, first, c)]
		pair.Bytes += uint64(n) * bytes
		pair.Count += uint64(n)
		d.totals[s.thread].Wasted[k] += uint64(n) * bytes
		s.since[k] += n
	}
	*x = recurrence{}
}

// settleAll sums up what was found since the threads were drained.
func (d *Detector) settleAll() {
	for _, list := range d.dirty {
		for _, s := range list {
			d.settle(s.Kind, s.Context)
		}
	}
}
