package waste

import "unsafe"

// Pairs that are counted, and for which there is no room at their context, stand in a table that all
// share: where many places load the same data by turns, each finds many others there.

// spilled is a pair in the table: first a recurrence, so that code counts in both alike.
type spilled struct {
	recurrence
	owner uintptr // address of the first of its kind's recurrences at its context
	bytes uint32
	at    Context
	kind  Kind
}

// Of the table. A pair's place is that of its key's first cell times SpillFactor, and its owner's
// address in recurrences, modulo as many as there are.
const (
	SpillShift  = 16 // binary logarithm of how many
	SpillFactor = 81
	SpillSize   = unsafe.Sizeof(spilled{})
	SpillOwner  = unsafe.Offsetof(spilled{}.owner)
	ownerBytes  = unsafe.Sizeof(recurrence{})
)

func (x *counters) owner(k Kind, c Context) uintptr {
	return uintptr(unsafe.Pointer(&x.record(c).pairs[k]))
}

// spillAt is the place of a pair.
func (x *counters) spillAt(owner uintptr, key uint64) int {
	return int((uintptr(uint32(key))*SpillFactor + owner/ownerBytes) % (1 << SpillShift))
}

// spilledAs is the pair of a key in the table; nil if it is not there.
func (x *counters) spilledAs(k Kind, c Context, key uint64) *recurrence {
	owner := x.owner(k, c)
	p := &x.spilled[x.spillAt(owner, key)]
	if p.owner != owner || p.key != key || p.bytes != x.record(c).bytes {
		return nil
	}
	return &p.recurrence
}

// spill puts a pair into the table, in the place of another.
func (d *Detector) spill(k Kind, c Context, x recurrence) {
	if x.key == 0 {
		return
	}
	owner := d.owner(k, c)
	at := d.spillAt(owner, x.key)
	if d.spilled[at].owner == 0 {
		d.spills = append(d.spills, int32(at))
	}
	d.unspill(at)
	d.spilled[at] = spilled{recurrence: x, owner: owner, bytes: d.record(c).bytes, at: c, kind: k}
}

// unspill sums up what was found of a pair in the table, and takes it out.
func (d *Detector) unspill(at int) {
	if x := &d.spilled[at]; x.owner != 0 {
		d.sumUp(x.kind, x.at, &x.recurrence, x.bytes)
		*x = spilled{}
	}
}

// unspillAll does so with all.
func (d *Detector) unspillAll() {
	for _, at := range d.spills {
		d.unspill(int(at))
	}
	d.spills = d.spills[:0]
}
