package symbol

import (
	"bytes"
	"encoding/binary"
)

// cursor reads little-endian data. Reading past the end gives 0 and sets bad.
type cursor struct {
	b   []byte
	off uint64
	bad bool
}

// at returns a cursor at an offset.
func at(b []byte, off uint64) cursor {
	return cursor{b: b, off: off, bad: off > uint64(len(b))}
}

// left returns how many bytes are left.
func (c *cursor) left() uint64 {
	if c.bad {
		return 0
	}
	return uint64(len(c.b)) - c.off
}

// bytes returns the next n bytes, nil if there are fewer.
func (c *cursor) bytes(n uint64) []byte {
	if n > c.left() {
		c.bad = true
		return nil
	}
	c.off += n
	return c.b[c.off-n : c.off]
}

func (c *cursor) skip(n uint64) { c.bytes(n) }

func (c *cursor) u8() uint8 {
	if c.bad || c.off >= uint64(len(c.b)) {
		c.bad = true
		return 0
	}
	c.off++
	return c.b[c.off-1]
}

// uint reads an integer of 1 to 8 bytes.
func (c *cursor) uint(size int) uint64 {
	b := c.bytes(uint64(size))
	switch len(b) {
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	v := uint64(0)
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}

func (c *cursor) u16() uint16 { return uint16(c.uint(2)) }

func (c *cursor) uleb() uint64 {
	v, shift := uint64(0), 0
	for {
		x := c.u8()
		if shift < 64 {
			v |= uint64(x&0x7f) << shift
		}
		shift += 7
		if x&0x80 == 0 {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	v, shift := int64(0), 0
	for {
		x := c.u8()
		if shift < 64 {
			v |= int64(x&0x7f) << shift
		}
		shift += 7
		if x&0x80 == 0 {
			if x&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// str reads a zero-ended string.
func (c *cursor) str() string { return string(c.strBytes()) }

func (c *cursor) strBytes() []byte {
	if c.bad {
		return nil
	}
	n := bytes.IndexByte(c.b[c.off:], 0)
	if n < 0 {
		c.bad = true
		return nil
	}
	c.off += uint64(n) + 1
	return c.b[c.off-uint64(n)-1 : c.off-1]
}

// length reads a unit's length; is64 says that the unit's offsets have 8 bytes.
func (c *cursor) length() (n uint64, is64 bool) {
	n = c.uint(4)
	if n == 0xffffffff {
		return c.uint(8), true
	}
	return n, false
}
