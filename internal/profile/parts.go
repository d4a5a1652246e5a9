package profile

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"
)

// appendParts appends the parts: their number, then each field for all parts, one after the other
// (equal fields lie side by side and pack well).
func appendParts(b []byte, ps []Part) []byte {
	b = binary.AppendUvarint(b, uint64(len(ps)))
	for f := range partFields {
		last := uint64(0)
		for i := range ps {
			v := partFields[f].get(&ps[i])
			b = binary.AppendVarint(b, int64(v-last))
			last = v
		}
	}
	for i := range ps {
		b = appendStack(b, ps[i].EntryStack)
		b = appendStack(b, ps[i].ExitStack)
	}
	return b
}

var partFields = []field[Part]{
	{"thread", func(p *Part) uint64 { return uint64(p.Thread) }, func(p *Part, v uint64) { p.Thread = ThreadID(v) }},
	{"start", func(p *Part) uint64 { return p.Start }, func(p *Part, v uint64) { p.Start = v }},
	{"time", func(p *Part) uint64 { return p.Arrive - p.Start }, func(p *Part, v uint64) { p.Arrive = p.Start + v }},
	{"wait", func(p *Part) uint64 { return p.Release - p.Arrive }, func(p *Part, v uint64) { p.Release = p.Arrive + v }},
	{"lock-wait", func(p *Part) uint64 { return p.LockWait }, func(p *Part, v uint64) { p.LockWait = v }},
	{"off-cpu", func(p *Part) uint64 { return p.OffCPU }, func(p *Part, v uint64) { p.OffCPU = v }},
	{"entry", func(p *Part) uint64 { return uint64(p.Entry) }, func(p *Part, v uint64) { p.Entry = NodeID(v) }},
	{"exit", func(p *Part) uint64 { return uint64(p.Exit) }, func(p *Part, v uint64) { p.Exit = NodeID(v) }},
}

// appendStack appends 0 for an unknown stack, or its length plus one and its nodes.
func appendStack(b []byte, s []NodeID) []byte {
	if s == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(s))+1)
	last := int64(0)
	for _, n := range s {
		b = binary.AppendVarint(b, int64(n)-last)
		last = int64(n)
	}
	return b
}

// parseParts reads the parts, into an array that may have room for them. Ids are checked by the
// validator.
func parseParts(payload []byte, threads int, room *budget, into []Part) ([]Part, error) {
	d := &decoder{b: payload, room: room}
	n := d.parts(threads)
	ps := slices.Grow(into[:0], n)[:n]
	clear(ps)
	for f := range partFields {
		d.partField(&partFields[f], ps)
	}
	for i := range ps {
		ps[i].EntryStack = d.stack()
		ps[i].ExitStack = d.stack()
	}
	return ps, d.end()
}

// partField reads a field of all parts. Most of its numbers take one byte.
func (d *decoder) partField(f *field[Part], ps []Part) {
	b, last := d.b, uint64(0)
	for i := range ps {
		v, n := uint64(0), 1
		if len(b) > 0 && b[0] < 0x80 {
			v = uint64(b[0])
		} else if v, n = binary.Uvarint(b); n <= 0 {
			d.fail(errShort)
			return
		}
		b = b[n:]
		last += uint64(int64(v>>1) ^ -int64(v&1))
		f.set(&ps[i], last)
		if f.get(&ps[i]) != last {
			d.fail(fmt.Errorf("%s %d of part %d is out of range", f.name, int64(last), i))
			return
		}
	}
	d.b = b
}

// parts reads the number of parts, each of which takes at least ten bytes and a thread of its own.
func (d *decoder) parts(threads int) int {
	n := d.count()
	if n > threads {
		d.fail(fmt.Errorf("%d parts of %d threads", n, threads))
		return 0
	}
	if n > len(d.b)/(len(partFields)+2) {
		d.fail(errShort)
		return 0
	}
	if !d.take(n, unsafe.Sizeof(Part{})) {
		return 0
	}
	return n
}

func (d *decoder) stack() []NodeID {
	v := d.uvarint()
	if v == 0 {
		return nil
	}
	if v-1 > uint64(len(d.b)) {
		d.fail(errShort)
		return nil
	}
	if !d.take(int(v-1), unsafe.Sizeof(NodeID(0))) {
		return nil
	}
	s := make([]NodeID, v-1)
	last := int64(0)
	for i := range s {
		last += d.varint()
		if s[i] = NodeID(last); int64(s[i]) != last {
			d.fail(fmt.Errorf("node %d in a stack is out of range", last))
		}
	}
	return s
}
