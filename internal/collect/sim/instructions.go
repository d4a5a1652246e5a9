// Instructions that are looked at again and again.

package sim

import "lime/internal/x86"

// instructions keeps instructions by address: the same few are asked for at each look at a thread
// that waits. They hold as long as their code is the same.
type instructions map[uint64]*decoded

// decoded is an instruction, and the code that it was decoded from.
type decoded struct {
	inst x86.Inst
	code [x86.MaxLen]byte
}

// mostDecoded is how many instructions are kept, some 20 MB of them.
const mostDecoded = 1 << 16

// decode is the instruction at an address, at which there is some code.
func (x *instructions) decode(at uint64, code []byte) (*x86.Inst, bool) {
	if d := (*x)[at]; d != nil {
		if n := int(d.inst.Len); len(code) >= n && string(code[:n]) == string(d.code[:n]) {
			return &d.inst, true
		}
	}
	d := &decoded{}
	if len(code) == 0 || x86.Decode(code, &d.inst) != nil {
		return &x86.Inst{}, false
	}
	copy(d.code[:], code[:d.inst.Len])
	if *x == nil || len(*x) >= mostDecoded {
		*x = instructions{}
	}
	(*x)[at] = d
	return &d.inst, true
}
