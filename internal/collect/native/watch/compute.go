package watch

// What single instructions leave (Intel SDM vol. 2; opcodes: appendix A).

import "lime/internal/x86"

// operation is an instruction on its way.
type operation struct {
	*way
	in     *x86.Inst
	next   uint64 // the instruction behind
	target value  // where an indirect branch leads
}

// do computes what the instruction leaves; where it is not known how, that is unknown then.
func (o *operation) do() {
	in, done := o.in, o.in.Rep != 0 && o.repeat()
	if in.Enc == x86.Legacy && in.Rep == 0 && !in.Lock {
		switch {
		case in.Branch != x86.BranchNone:
			done = o.branch()
		case in.Map == 0 && in.Opcode < 0x40 && in.Opcode&7 < 6:
			done = o.arithmetic()
		case in.Map == 0 && (in.Opcode < 0x60 || in.Name == "leave"):
			done = o.stack()
		case in.Map == 0:
			done = o.short()
		case in.Map == 1:
			done = o.long()
		}
	}
	if !done {
		o.forget()
	}
}

// forget makes everything unknown that the instruction may change.
func (o *operation) forget() {
	in := o.in
	for _, a := range in.Accesses(nil) {
		if a.Write {
			at := o.address(&a.Mem, o.next)
			at.ok = at.ok && in.Rep == 0 && a.Bytes > 0 && !in.BitString && !in.Mem.VSIB
			o.store(at, int(a.Bytes), value{})
		}
	}
	for r := range x86.Reg(16) {
		if in.Writes.Has(r) {
			o.reg[r] = value{}
		}
	}
	if in.FlagsWrite&x86.StatusFlags != 0 {
		o.flags = value{}
	}
	if in.Branch == x86.BranchSyscall {
		o.anyCell = true
	}
	switch in.Name {
	case "popf":
		o.down = value{}
	case "cld":
		o.down = known(0)
	case "std":
		o.down = known(flagD)
	}
}

// size is the operand size in bytes: forms with an even opcode are those of a byte.
func (o *operation) size() int {
	if o.in.Opcode&1 == 0 {
		return 1
	}
	return o.wide()
}

// wide is the size of operands that are no bytes.
func (o *operation) wide() int {
	switch {
	case o.in.Rex&8 != 0:
		return 8
	case o.in.OpSize16:
		return 2
	}
	return 4
}

// coded is the register that the opcode names.
func (o *operation) coded() x86.Reg { return x86.Reg(o.in.Opcode&7 | o.in.Rex&1<<3) }

// high reports whether an operand is the second byte of one of the first four registers: these are not
// followed.
func (o *operation) high(r x86.Reg, size int) bool {
	return size == 1 && o.in.Rex == 0 && r >= 4 && r < 8
}

func (o *operation) get(r x86.Reg, size int) value {
	v := o.reg[r&15].low(size)
	v.ok = v.ok && !o.high(r, size)
	return v
}

func (o *operation) set(r x86.Reg, v value, size int) {
	if o.high(r, size) {
		r, v = r-4, value{}
	}
	o.put(r, v, size)
}

func (o *operation) rm(size int) value {
	if o.in.HasMem {
		return o.load(o.address(&o.in.Mem, o.next), size)
	}
	return o.get(o.in.RMField(), size)
}

func (o *operation) setRM(v value, size int) {
	if o.in.HasMem {
		o.store(o.address(&o.in.Mem, o.next), size, v)
	} else {
		o.set(o.in.RMField(), v, size)
	}
}

func (o *operation) push(v value) {
	o.reg[x86.RSP].v -= 8
	o.store(o.reg[x86.RSP], 8, v)
}

func (o *operation) pop() value {
	v := o.load(o.reg[x86.RSP], 8)
	o.reg[x86.RSP].v += 8
	return v
}

// branch leaves what calls and returns do, and finds where indirect ones lead.
func (o *operation) branch() bool {
	switch o.in.Branch {
	case x86.BranchJumpInd, x86.BranchCallInd:
		o.target = o.rm(8)
	case x86.BranchRet:
		o.target = o.pop()
		o.reg[x86.RSP].v += uint64(o.in.Imm)
	}
	switch o.in.Branch {
	case x86.BranchCall, x86.BranchCallInd:
		o.push(known(o.next))
	case x86.BranchLoop, x86.BranchSyscall:
		return false
	}
	return true
}

// compute is a row of the eight operations that share their encodings; a comparison leaves flags
// only.
func (o *operation) compute(row uint8, a, b value, size int) (v value, leaves bool) {
	carry := o.flags.v & flagC
	switch row & 7 {
	case 0:
		return o.sum(a, b, size, 0), true
	case 1:
		return o.logical(value{a.v | b.v, a.ok && b.ok}.low(size), size), true
	case 2:
		b.ok = b.ok && o.flags.ok
		return o.sum(a, b, size, carry), true
	case 3:
		b.ok = b.ok && o.flags.ok
		return o.difference(a, b, size, carry), true
	case 4:
		return o.logical(value{a.v & b.v, a.ok && b.ok}.low(size), size), true
	case 5:
		return o.difference(a, b, size, 0), true
	case 6:
		return o.logical(value{a.v ^ b.v, a.ok && b.ok}.low(size), size), true
	}
	return o.difference(a, b, size, 0), false
}

// arithmetic are the first rows of the table of opcodes.
func (o *operation) arithmetic() bool {
	size, row := o.size(), o.in.Opcode>>3
	switch o.in.Opcode & 7 {
	case 0, 1:
		a, b := o.rm(size), o.get(o.in.RegField(), size)
		if !o.in.HasMem && o.in.RegField() == o.in.RMField() && (row == 5 || row == 6) { // it clears the register
			a, b = known(0), known(0)
		}
		if v, leaves := o.compute(row, a, b, size); leaves {
			o.setRM(v, size)
		}
	case 2, 3:
		if v, leaves := o.compute(row, o.get(o.in.RegField(), size), o.rm(size), size); leaves {
			o.set(o.in.RegField(), v, size)
		}
	default:
		if v, leaves := o.compute(row, o.get(x86.RAX, size), known(uint64(o.in.Imm)), size); leaves {
			o.set(x86.RAX, v, size)
		}
	}
	return true
}

// stack are push, pop and leave.
func (o *operation) stack() bool {
	switch {
	case o.in.OpSize16:
		return false
	case o.in.Name == "leave":
		o.reg[x86.RSP] = o.reg[x86.RBP]
		o.reg[x86.RBP] = o.pop()
	case o.in.Opcode >= 0x58:
		o.reg[o.coded()] = o.pop()
	case o.in.Opcode >= 0x50:
		o.push(o.reg[o.coded()])
	default:
		return false
	}
	return true
}

// short are the other opcodes of one byte.
func (o *operation) short() bool {
	imm := known(uint64(o.in.Imm))
	switch op := o.in.Opcode; op {
	case 0x63: // movsxd
		o.set(o.in.RegField(), o.rm(4).signed(4), o.wide())
	case 0x68, 0x6a:
		o.push(imm)
	case 0x69, 0x6b:
		a := o.rm(o.wide()).signed(o.wide())
		o.multiply(a, imm)
	case 0x80, 0x81, 0x83:
		size := o.size()
		if v, leaves := o.compute(o.in.ModRM>>3, o.rm(size), imm, size); leaves {
			o.setRM(v, size)
		}
	case 0x84, 0x85:
		o.compute(4, o.rm(o.size()), o.get(o.in.RegField(), o.size()), o.size())
	case 0xa8, 0xa9:
		o.compute(4, o.get(x86.RAX, o.size()), imm, o.size())
	case 0x88, 0x89:
		o.setRM(o.get(o.in.RegField(), o.size()), o.size())
	case 0x8a, 0x8b:
		o.set(o.in.RegField(), o.rm(o.size()), o.size())
	case 0x8d:
		mem := o.in.Mem
		mem.Seg = 0
		o.set(o.in.RegField(), o.address(&mem, o.next), o.wide())
	case 0x90:
		return o.in.Rex&1 == 0
	case 0x98:
		o.set(x86.RAX, o.get(x86.RAX, o.wide()/2).signed(o.wide()/2), o.wide())
	case 0xc0, 0xc1:
		return o.shift(imm)
	case 0xd0, 0xd1:
		return o.shift(known(1))
	case 0xd2, 0xd3:
		return o.shift(o.get(x86.RCX, 1))
	case 0xc6, 0xc7:
		o.setRM(imm, o.size())
	case 0xf6, 0xf7:
		return o.group3(imm)
	case 0xfe, 0xff:
		return o.step1()
	default:
		return o.movImmediate(imm)
	}
	return true
}

// movImmediate is mov of a constant to a register.
func (o *operation) movImmediate(imm value) bool {
	switch op := o.in.Opcode; {
	case op >= 0xb8 && op < 0xc0:
		o.set(o.coded(), imm, o.wide())
	case op >= 0xb0 && op < 0xb8:
		o.set(o.coded(), imm, 1)
	default:
		return false
	}
	return true
}

// group3 are test, not and neg; what multiplies and divides is not followed.
func (o *operation) group3(imm value) bool {
	size := o.size()
	a := o.rm(size)
	switch o.in.Digit() {
	case 0, 1:
		o.compute(4, a, imm, size)
	case 2:
		o.setRM(value{^a.v, a.ok}, size)
	case 3:
		o.setRM(o.difference(known(0), a, size, 0), size)
	default:
		return false
	}
	return true
}

// step1 are inc and dec, which leave the carry, and push.
func (o *operation) step1() bool {
	size, carry := o.size(), o.flags
	var v value
	switch o.in.Digit() {
	case 0:
		v = o.sum(o.rm(size), known(1), size, 0)
	case 1:
		v = o.difference(o.rm(size), known(1), size, 0)
	case 6:
		o.push(o.rm(8))
		return true
	default:
		return false
	}
	o.setRM(v, size)
	o.flags = value{o.flags.v&^flagC | carry.v&flagC, o.flags.ok && carry.ok}
	return true
}

// shift are shifts, but no rotations. What they leave as overflow nobody looks at.
func (o *operation) shift(by value) bool {
	size := o.size()
	a, n := o.rm(size), by.v&31
	if size == 8 {
		n = by.v & 63
	}
	var v, out uint64 // out: the last bit that falls out
	switch o.in.Digit() {
	case 4:
		v, out = a.v<<n, a.v<<n>>(8*size)
		if size == 8 {
			out = a.v >> (64 - n)
		}
	case 5:
		v, out = a.v>>n, a.v>>(n-1)
	case 7:
		v, out = uint64(int64(a.signed(size).v)>>n), uint64(int64(a.signed(size).v)>>(n-1))
	default:
		return false
	}
	ok := a.ok && by.ok
	o.setRM(value{v, ok}, size)
	if n != 0 || !ok {
		o.result(value{v, ok}, size, out&flagC)
	}
	return true
}

// multiply is imul with two or three operands. Its flags are not followed.
func (o *operation) multiply(a, b value) {
	o.set(o.in.RegField(), value{a.v * b.v, a.ok && b.ok}, o.wide())
	o.flags = value{}
}

// long are opcodes of two bytes.
func (o *operation) long() bool {
	size := o.wide()
	switch op := o.in.Opcode; {
	case op >= 0x40 && op < 0x50: // cmov
		yes, ok := o.holds(op & 15)
		v := o.get(o.in.RegField(), size)
		if yes {
			v = o.rm(size)
		}
		v.ok = v.ok && ok
		o.set(o.in.RegField(), v, size)
	case op >= 0x90 && op < 0xa0: // setcc
		yes, ok := o.holds(op & 15)
		o.setRM(value{uint64(one(yes)), ok}, 1)
	case op == 0xaf:
		o.multiply(o.get(o.in.RegField(), size).signed(size), o.rm(size).signed(size))
	case op == 0xb6 || op == 0xb7:
		o.set(o.in.RegField(), o.rm(1+int(op&1)), size)
	case op == 0xbe || op == 0xbf:
		o.set(o.in.RegField(), o.rm(1+int(op&1)).signed(1+int(op&1)), size)
	case op == 0x1f || op == 0x1e: // nop
		return o.in.Writes == 0
	default:
		return false
	}
	return true
}
