package ranks

import (
	"encoding/binary"

	"lime/internal/profile"
)

// What grows with the ranks: the numbers of one place in all ranks, and the ranks' parts. Both are
// kept packed, so that a thousand ranks that did the same take as much room as one.

// column holds one row of an instance's matrix: a run is how many parts have nothing, how many then
// have one value, and the value, as the difference from the run before.
type column struct {
	packed      []byte
	next, gap   int32 // the part behind the open run, and what lies before it
	length      int32 // of the open run
	value, last uint64
}

// add appends the value of a part behind all that there are; of one that is there already it adds
// to the value.
func (c *column) add(part int32, n uint64) {
	switch {
	case n == 0 || part < c.next-1: // a file that has a row twice is not to be believed
	case c.length > 0 && part == c.next && n == c.value:
		c.next, c.length = c.next+1, c.length+1
	case c.length == 1 && part == c.next-1:
		c.value += n
	case c.length > 1 && part == c.next-1:
		n += c.value
		c.next, c.length = c.next-1, c.length-1
		c.close()
		c.gap, c.next, c.length, c.value = 0, part+1, 1, n
	default:
		from := c.next
		c.close()
		c.gap, c.next, c.length, c.value = part-from, part+1, 1, n
	}
}

// close packs the open run.
func (c *column) close() {
	if c.length == 0 {
		return
	}
	c.packed = binary.AppendUvarint(c.packed, uint64(c.gap))
	c.packed = binary.AppendUvarint(c.packed, uint64(c.length))
	c.packed = binary.AppendVarint(c.packed, int64(c.value-c.last))
	c.last, c.length = c.value, 0
}

// cells appends the column as cells of a row.
func (c *column) cells(m []profile.Count, row int32) []profile.Count {
	c.close()
	part, value := int32(0), uint64(0)
	for b := c.packed; len(b) > 0; {
		var n [2]uint64
		for i := range n {
			v, k := binary.Uvarint(b)
			n[i], b = v, b[k:]
		}
		d, k := binary.Varint(b)
		b = b[k:]
		part, value = part+int32(n[0]), value+uint64(d)
		for range n[1] {
			m = append(m, profile.Count{Row: row, Part: part, N: value})
			part++
		}
	}
	return m
}
