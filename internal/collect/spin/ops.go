package spin

import (
	"lime/internal/collect/busywait"
	"lime/internal/x86"
)

// The values that instructions leave, for those with which compilers compute addresses, counters
// and tests. What an instruction without a row leaves is unknown.

// operands are those of one instruction.
type operands struct {
	w    *walker
	in   *x86.Inst
	x    *exec
	next uint64
}

// result is what an instruction leaves: in a register, and in the place that it stores to.
type result struct {
	dst        x86.Reg
	value      uint64
	known      bool
	low        bool // only the lowest byte is
	stored     uint64
	storeKnown bool
}

type op func(*operands) result

// opOf is the row of an instruction in the table.
func opOf(in *x86.Inst) uint16 {
	if in.Enc != x86.Legacy || in.Map > 1 {
		return unknownOp
	}
	return uint16(in.Map)<<8 | uint16(in.Opcode)
}

const (
	unknownOp = 0x10f // no instruction
	leave     = 0xc9
)

// ops is the table, by map and opcode (Intel SDM vol. 2, appendix A). It is built once and never
// changed.
func ops() *[0x200]op { return &opTable }

var opTable = buildOps()

func buildOps() (t [0x200]op) {
	for _, o := range [...]struct {
		row uint16
		do  alu
	}{{0x00, add}, {0x08, or}, {0x20, and}, {0x28, sub}, {0x30, xor}, {0x38, cmp}} {
		t[o.row], t[o.row+1] = o.do.toRM, o.do.toRM
		t[o.row+2], t[o.row+3] = o.do.toReg, o.do.toReg
		t[o.row+4], t[o.row+5] = o.do.toA, o.do.toA
	}
	for _, row := range [...]uint16{0x80, 0x81, 0x83} {
		t[row] = group1
	}
	for _, row := range [...]uint16{0x84, 0x85} {
		t[row] = test.toRM
	}
	for _, row := range [...]uint16{0xa8, 0xa9} {
		t[row] = test.toA
	}
	for _, row := range [...]uint16{0xf6, 0xf7} {
		t[row] = group3
	}
	for _, row := range [...]uint16{0xfe, 0xff} {
		t[row] = group45
	}
	for _, row := range [...]uint16{0xc0, 0xc1, 0xd0, 0xd1} {
		t[row] = shift
	}
	t[0x88], t[0x89] = storeReg, storeReg
	t[0x8a], t[0x8b] = loadReg, loadReg
	t[0xc6], t[0xc7] = storeImm, storeImm
	t[0x8d] = lea
	t[0x63] = movsxd
	t[0x98] = widen
	t[0x86], t[0x87] = exchange, exchange
	for r := uint16(0); r < 8; r++ {
		t[0x50+r], t[0x58+r], t[0xb0+r], t[0xb8+r] = push, pop, movImm, movImm
	}
	t[0x68], t[0x6a] = push, push
	t[0xe8] = call
	t[leave] = leaves
	t[0x1b0], t[0x1b1] = compareExchange, compareExchange
	t[0x1b6], t[0x1b7], t[0x1be], t[0x1bf] = extend, extend, extend, extend
	t[0x1c0], t[0x1c1] = exchangeAdd, exchangeAdd
	for cond := range uint16(16) {
		t[0x140+cond], t[0x190+cond] = moveIf, setIf
	}
	return t
}

// size is the operand size in bytes: forms with an even opcode are those of a byte.
func (o *operands) size() uint8 {
	if o.in.Opcode&1 == 0 && o.in.Opcode != 0x50 && o.in.Opcode != 0x68 && o.in.Opcode != 0x6a {
		return 1
	}
	return wide(o.in)
}

// high reports whether a byte operand is ah, ch, dh or bh.
func high(in *x86.Inst, r x86.Reg, size uint8) bool {
	return size == 1 && in.Rex == 0 && r >= 4 && r < 8
}

func low(v uint64, size uint8) uint64 {
	if size >= 8 {
		return v
	}
	return v & (1<<(8*size) - 1)
}

func (o *operands) get(r x86.Reg, size uint8) (uint64, bool) {
	v, ok := o.w.reg(r)
	if size == 1 && r < 16 {
		ok = ok || o.w.lows>>r&1 != 0
	}
	return low(v, size), ok && !high(o.in, r, size)
}

func (o *operands) rm(size uint8) (uint64, bool) {
	if o.in.HasMem {
		return low(o.x.loaded, size), o.x.loads.n > 0 && !o.x.secret
	}
	return o.get(o.in.RMField(), size)
}

// put leaves a value in a register: four bytes clear the upper half, fewer leave the rest as it
// was.
func (o *operands) put(r x86.Reg, v uint64, size uint8, known bool) result {
	if high(o.in, r, size) {
		return result{}
	}
	v = low(v, size)
	if size < 4 {
		old, ok := o.w.reg(r)
		v = old&^low(^uint64(0), size) | v
		return result{dst: r, value: v, known: known && ok, low: known && size == 1}
	}
	return result{dst: r, value: v, known: known}
}

// putRM leaves a value in the r/m operand.
func (o *operands) putRM(v uint64, size uint8, known bool) result {
	if o.in.HasMem {
		return result{stored: low(v, size), storeKnown: known}
	}
	return o.put(o.in.RMField(), v, size, known)
}

// flags notes what the flags were computed from: as cmp does from a and b.
func (o *operands) flags(a, b uint64, size uint8, known bool) {
	if known {
		o.x.a, o.x.b, o.x.width = low(a, size), low(b, size), 8*size
	}
}

// alu is a two-operand operation: its value, whether that is kept, and what the flags compare.
type alu struct {
	value func(a, b uint64) uint64
	keeps bool
	// carries: the flags are those of cmp a, b; else of cmp value, 0.
	carries bool
	// partly: of the flags only ZF and SF are those of cmp value, 0.
	partly bool
}

var (
	add  = alu{value: func(a, b uint64) uint64 { return a + b }, keeps: true, partly: true}
	or   = alu{value: func(a, b uint64) uint64 { return a | b }, keeps: true}
	and  = alu{value: func(a, b uint64) uint64 { return a & b }, keeps: true}
	sub  = alu{value: func(a, b uint64) uint64 { return a - b }, keeps: true, carries: true}
	xor  = alu{value: func(a, b uint64) uint64 { return a ^ b }, keeps: true}
	cmp  = alu{value: func(a, b uint64) uint64 { return a - b }, carries: true}
	test = alu{value: func(a, b uint64) uint64 { return a & b }}
)

// compute returns the operation's value and notes its flags.
func (f alu) compute(o *operands, a, b uint64, size uint8, known bool) uint64 {
	v := f.value(a, b)
	if f.carries {
		o.flags(a, b, size, known)
	} else {
		o.flags(v, 0, size, known)
		o.x.partly = f.partly
	}
	return v
}

func (f alu) toRM(o *operands) result {
	n := o.size()
	a, ok := o.rm(n)
	b, ok2 := o.get(o.in.RegField(), n)
	if _, clears := busywait.Clears(o.in); clears {
		a, b, ok, ok2 = 0, 0, true, true
	}
	v := f.compute(o, a, b, n, ok && ok2)
	if !f.keeps {
		return result{}
	}
	return o.putRM(v, n, ok && ok2)
}

func (f alu) toReg(o *operands) result {
	n := o.size()
	a, ok := o.get(o.in.RegField(), n)
	b, ok2 := o.rm(n)
	if _, clears := busywait.Clears(o.in); clears {
		a, b, ok, ok2 = 0, 0, true, true
	}
	v := f.compute(o, a, b, n, ok && ok2)
	if !f.keeps {
		return result{}
	}
	return o.put(o.in.RegField(), v, n, ok && ok2)
}

func (f alu) toA(o *operands) result {
	n := o.size()
	a, ok := o.get(x86.RAX, n)
	v := f.compute(o, a, uint64(o.in.Imm), n, ok)
	if !f.keeps {
		return result{}
	}
	return o.put(x86.RAX, v, n, ok)
}

// immediate is the operation with the r/m operand and an immediate.
func (f alu) immediate(o *operands, b uint64) result {
	n := o.size()
	a, ok := o.rm(n)
	v := f.compute(o, a, b, n, ok)
	if !f.keeps {
		return result{}
	}
	return o.putRM(v, n, ok)
}

func group1(o *operands) result {
	switch o.in.Digit() {
	case 0:
		return add.immediate(o, uint64(o.in.Imm))
	case 1:
		return or.immediate(o, uint64(o.in.Imm))
	case 4:
		return and.immediate(o, uint64(o.in.Imm))
	case 5:
		return sub.immediate(o, uint64(o.in.Imm))
	case 6:
		return xor.immediate(o, uint64(o.in.Imm))
	case 7:
		return cmp.immediate(o, uint64(o.in.Imm))
	}
	return result{}
}

func group3(o *operands) result {
	n := o.size()
	a, ok := o.rm(n)
	switch o.in.Digit() {
	case 0, 1:
		return test.immediate(o, uint64(o.in.Imm))
	case 2:
		return o.putRM(^a, n, ok)
	case 3:
		return o.putRM(-a, n, ok)
	}
	return result{}
}

// group45 is inc and dec; call, jmp and push through memory leave nothing that is needed.
func group45(o *operands) result {
	n := o.size()
	a, ok := o.rm(n)
	switch o.in.Digit() {
	case 0:
		v := add.compute(o, a, 1, n, ok)
		return o.putRM(v, n, ok)
	case 1: // as sub 1, but CF stays
		o.flags(a, 1, n, ok)
		o.x.signed = true
		return o.putRM(a-1, n, ok)
	case 6:
		return result{stored: o.x.loaded, storeKnown: o.x.loads.n > 0 && !o.x.secret}
	case 2:
		return result{stored: o.next, storeKnown: true}
	}
	return result{}
}

// shift is shl, shr and sar by an immediate or by one.
func shift(o *operands) result {
	n := o.size()
	a, ok := o.rm(n)
	by := uint(1)
	if o.in.ImmLen > 0 {
		by = uint(o.in.Imm) & 31
		if n == 8 {
			by = uint(o.in.Imm) & 63
		}
	}
	switch o.in.Digit() {
	case 4:
		return o.putRM(a<<by, n, ok)
	case 5:
		return o.putRM(a>>by, n, ok)
	case 7:
		return o.putRM(uint64(signed(a, n)>>by), n, ok)
	}
	return result{}
}

// signed is the value of some bytes as a signed number.
func signed(v uint64, size uint8) int64 {
	s := 64 - 8*uint(size)
	return int64(v<<s) >> s
}

func storeReg(o *operands) result {
	n := o.size()
	v, ok := o.get(o.in.RegField(), n)
	return o.putRM(v, n, ok)
}

func loadReg(o *operands) result {
	n := o.size()
	v, ok := o.rm(n)
	return o.put(o.in.RegField(), v, n, ok)
}

func storeImm(o *operands) result { return o.putRM(uint64(o.in.Imm), o.size(), true) }

func movImm(o *operands) result {
	n := wide(o.in)
	if o.in.Opcode < 0xb8 {
		n = 1
	}
	return o.put(x86.Reg(o.in.Opcode&7|o.in.Rex&1<<3), uint64(o.in.Imm), n, true)
}

func lea(o *operands) result {
	v, ok := o.w.address(&o.in.Mem, o.next)
	if o.in.Mem.Seg != 0 {
		ok = false
	}
	return o.put(o.in.RegField(), v, o.size(), ok)
}

func movsxd(o *operands) result {
	v, ok := o.rm(4)
	n := uint8(4)
	if o.in.Rex&8 != 0 {
		n = 8
	}
	return o.put(o.in.RegField(), uint64(int64(int32(v))), n, ok)
}

// widen is cbw, cwde and cdqe.
func widen(o *operands) result {
	n := wide(o.in)
	v, ok := o.w.reg(x86.RAX)
	return o.put(x86.RAX, uint64(signed(low(v, n/2), n/2)), n, ok)
}

// extend is movzx and movsx; the even forms take a byte, the odd ones two.
func extend(o *operands) result {
	from := uint8(1 + o.in.Opcode&1)
	v, ok := o.rm(from)
	if o.in.Opcode >= 0xbe {
		v = uint64(signed(v, from))
	}
	n := wide(o.in)
	return o.put(o.in.RegField(), v, n, ok)
}

func exchange(o *operands) result {
	if !o.in.HasMem {
		return result{}
	}
	n := o.size()
	v, ok := o.get(o.in.RegField(), n)
	r := o.put(o.in.RegField(), o.x.loaded, n, !o.x.secret)
	r.stored, r.storeKnown = v, ok
	return r
}

// exchangeAdd is xadd.
func exchangeAdd(o *operands) result {
	if !o.in.HasMem {
		return result{}
	}
	n := o.size()
	v, ok := o.get(o.in.RegField(), n)
	r := o.put(o.in.RegField(), o.x.loaded, n, !o.x.secret)
	r.stored, r.storeKnown = low(v+o.x.loaded, n), ok && !o.x.secret
	return r
}

// compareExchange is cmpxchg: what is found goes to the accumulator if it is not what was expected.
func compareExchange(o *operands) result {
	n := o.size()
	want, ok := o.get(x86.RAX, n)
	found, ok2 := o.rm(n)
	o.flags(want, found, n, ok && ok2)
	if !ok || !ok2 || !o.in.HasMem {
		return result{}
	}
	if want != found {
		r := o.put(x86.RAX, found, n, true)
		r.stored, r.storeKnown = found, true
		return r
	}
	v, ok := o.get(o.in.RegField(), n)
	return result{dst: x86.RAX, value: o.w.regs[x86.RAX], known: true, stored: v, storeKnown: ok}
}

// holds reports whether the instruction's condition holds, if the flags tell.
func (o *operands) holds() (is, known bool) {
	c := o.w.flags.under(o.in.Cond)
	if c.width == 0 || !c.tells() {
		return false, false
	}
	return c.holds(), true
}

// setIf is setcc.
func setIf(o *operands) result {
	is, known := o.holds()
	v := uint64(0)
	if is {
		v = 1
	}
	return o.putRM(v, 1, known)
}

// moveIf is cmovcc: where nothing is moved, four bytes clear the upper half all the same.
func moveIf(o *operands) result {
	n := wide(o.in)
	is, known := o.holds()
	v, ok := o.get(o.in.RegField(), n)
	if is {
		v, ok = o.rm(n)
	}
	return o.put(o.in.RegField(), v, n, known && ok)
}

func push(o *operands) result {
	if o.in.Opcode >= 0x60 {
		return result{stored: uint64(o.in.Imm), storeKnown: true}
	}
	v, ok := o.w.reg(x86.Reg(o.in.Opcode&7 | o.in.Rex&1<<3))
	return result{stored: v, storeKnown: ok}
}

func pop(o *operands) result {
	return o.put(x86.Reg(o.in.Opcode&7|o.in.Rex&1<<3), o.x.loaded, 8, o.x.loads.n == 8 && !o.x.secret)
}

// leaves is leave: what the stack pointer is then, walker.effect says.
func leaves(o *operands) result {
	return o.put(x86.RBP, o.x.loaded, 8, o.x.loads.n == 8 && !o.x.secret)
}

func call(o *operands) result { return result{stored: o.next, storeKnown: true} }
