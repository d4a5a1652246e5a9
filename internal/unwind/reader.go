package unwind

import (
	"encoding/binary"
	"errors"
)

// errCut is returned where call frame information ends in the middle of an item.
var errCut = errors.New("call frame information cut short")

// reader reads DWARF's basic types. After the first error all reads return 0.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.b)-r.at) {
		r.err = errCut
	}
	if r.err != nil {
		return nil
	}
	p := r.b[r.at : r.at+n]
	r.at += n
	return p
}

func (r *reader) u8() uint8 {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if p := r.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (r *reader) uleb() (v uint64) {
	for shift := uint(0); ; shift += 7 {
		c := r.u8()
		if shift < 64 {
			v |= uint64(c&0x7f) << shift
		}
		if c&0x80 == 0 || r.err != nil {
			return v
		}
	}
}

func (r *reader) sleb() (v int64) {
	for shift := uint(0); ; shift += 7 {
		c := r.u8()
		if shift < 64 {
			v |= int64(c&0x7f) << shift
		}
		if c&0x80 == 0 || r.err != nil {
			if c&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

func (r *reader) cstring() string {
	for i := r.at; i < len(r.b); i++ {
		if r.b[i] == 0 {
			s := string(r.b[r.at:i])
			r.at = i + 1
			return s
		}
	}
	r.err = errCut
	return ""
}

// Pointer encodings (Linux Standard Base 5.0, "DWARF Exception Header Encoding").
const (
	encAbsPtr  = 0x00
	encULEB    = 0x01
	encU2      = 0x02
	encU4      = 0x03
	encU8      = 0x04
	encSLEB    = 0x09
	encS2      = 0x0a
	encS4      = 0x0b
	encS8      = 0x0c
	encPCRel   = 0x10
	encDataRel = 0x30
	encOmit    = 0xff
)

// pointer reads an encoded pointer; base is the address of the start of the section.
func (r *reader) pointer(enc uint8, base uint64) uint64 {
	if enc == encOmit {
		return 0
	}
	at := base + uint64(r.at)
	var v uint64
	switch enc & 0x0f {
	case encAbsPtr, encU8, encS8:
		v = r.u64()
	case encULEB:
		v = r.uleb()
	case encU2:
		v = uint64(r.u16())
	case encU4:
		v = uint64(r.u32())
	case encSLEB:
		v = uint64(r.sleb())
	case encS2:
		v = uint64(int64(int16(r.u16())))
	case encS4:
		v = uint64(int64(int32(r.u32())))
	default:
		r.err = errCut
	}
	if enc&0x70 == encPCRel {
		v += at
	}
	return v
}
