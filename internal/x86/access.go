package x86

import "strings"

// Access is one access of an instruction to memory that a program can see: explicit, or implied
// (stack, string operands). Its address is that of Mem, by the registers before the instruction.
type Access struct {
	Mem
	Rep bool // repeated RCX times, by Bytes upwards, or downwards with the direction flag
}

// implied lists, by mnemonic, the implied accesses: base register, displacement in operand sizes,
// direction. Size 0 is the operand size of the instruction (Intel SDM vol. 2, the instruction's
// page).
var implied = map[string][]impliedAccess{
	"push":       {{base: RSP, down: true, write: true}},
	"pushf":      {{base: RSP, down: true, write: true}},
	"call":       {{base: RSP, down: true, write: true, bytes: 8}},
	"enter":      {{base: RSP, down: true, write: true, bytes: 8}},
	"pop":        {{base: RSP, read: true}},
	"popf":       {{base: RSP, read: true}},
	"ret":        {{base: RSP, read: true, bytes: 8}},
	"leave":      {{base: RBP, read: true, bytes: 8}},
	"movs":       {{base: RSI, read: true}, {base: RDI, write: true}},
	"cmps":       {{base: RSI, read: true}, {base: RDI, read: true}},
	"stos":       {{base: RDI, write: true}},
	"lods":       {{base: RSI, read: true}},
	"scas":       {{base: RDI, read: true}},
	"xlat":       {{base: RBX, read: true, bytes: 1}}, // the index in al is left out
	"maskmovdqu": {{base: RDI, write: true, bytes: 16}},
	"maskmovq":   {{base: RDI, write: true, bytes: 8}},
}

type impliedAccess struct {
	base        Reg
	down        bool // below the register, as push does
	read, write bool
	bytes       uint16
}

// Accesses appends the accesses of the instruction to dst, in the order in which they happen. Left
// out: gathers and scatters, absolute 64-bit addresses, and what only the system uses.
func (i *Inst) Accesses(dst []Access) []Access {
	explicit := i.HasMem && !i.Mem.VSIB && i.Mem.Bytes > 0 && (i.Mem.Read || i.Mem.Write)
	if explicit && !i.storesLast() {
		dst = append(dst, Access{Mem: i.Mem})
	}
	if i.ImplicitRead || i.ImplicitWrite {
		for _, a := range implied[strings.TrimPrefix(i.Name, "v")] {
			dst = append(dst, i.implied(a))
		}
	}
	if explicit && i.storesLast() {
		dst = append(dst, Access{Mem: i.Mem})
	}
	return dst
}

// storesLast: pop to memory.
func (i *Inst) storesLast() bool { return i.Name == "pop" }

func (i *Inst) implied(a impliedAccess) Access {
	bytes := a.bytes
	if bytes == 0 {
		bytes = i.impliedBytes()
	}
	m := Mem{Base: a.base, Index: NoReg, Scale: 1, Bytes: bytes, Read: a.read, Write: a.write}
	if a.down {
		m.Disp = -int32(bytes)
	}
	return Access{Mem: m, Rep: i.Rep != 0}
}

// impliedBytes is the operand size of a stack or string instruction.
func (i *Inst) impliedBytes() uint16 {
	str := i.Map == 0 && (i.Opcode >= 0xa4 && i.Opcode <= 0xaf)
	switch {
	case str && i.Opcode&1 == 0:
		return 1
	case i.Rex&8 != 0:
		return 8
	case i.OpSize16:
		return 2
	case str:
		return 4
	}
	return 8
}
