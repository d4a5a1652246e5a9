package unwind

import "fmt"

// DWARF expression operations (DWARF 5, table 7.9) that call frame information uses.
const (
	opAddr   = 0x03
	opDeref  = 0x06
	opConst1 = 0x08
	opDup    = 0x12
	opDrop   = 0x13
	opOver   = 0x14
	opSwap   = 0x16
	opAnd    = 0x1a
	opMinus  = 0x1c
	opMul    = 0x1e
	opNeg    = 0x1f
	opNot    = 0x20
	opOr     = 0x21
	opPlus   = 0x22
	opPlusU  = 0x23
	opShl    = 0x24
	opShr    = 0x25
	opShra   = 0x26
	opXor    = 0x27
	opBra    = 0x28
	opEq     = 0x29
	opGe     = 0x2a
	opGt     = 0x2b
	opLe     = 0x2c
	opLt     = 0x2d
	opNe     = 0x2e
	opSkip   = 0x2f
	opLit0   = 0x30
	opReg0   = 0x50
	opBreg0  = 0x70
	opNop    = 0x96
)

// binaryOps are the operations on two operands: a below b on the stack.
var binaryOps = map[uint8]func(a, b uint64) uint64{
	opAnd:   func(a, b uint64) uint64 { return a & b },
	opMinus: func(a, b uint64) uint64 { return a - b },
	opMul:   func(a, b uint64) uint64 { return a * b },
	opOr:    func(a, b uint64) uint64 { return a | b },
	opPlus:  func(a, b uint64) uint64 { return a + b },
	opShl:   func(a, b uint64) uint64 { return a << b },
	opShr:   func(a, b uint64) uint64 { return a >> b },
	opShra:  func(a, b uint64) uint64 { return uint64(int64(a) >> b) },
	opXor:   func(a, b uint64) uint64 { return a ^ b },
	opEq:    func(a, b uint64) uint64 { return truth(a == b) },
	opGe:    func(a, b uint64) uint64 { return truth(int64(a) >= int64(b)) },
	opGt:    func(a, b uint64) uint64 { return truth(int64(a) > int64(b)) },
	opLe:    func(a, b uint64) uint64 { return truth(int64(a) <= int64(b)) },
	opLt:    func(a, b uint64) uint64 { return truth(int64(a) < int64(b)) },
	opNe:    func(a, b uint64) uint64 { return truth(a != b) },
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// evaluator runs one expression.
type evaluator struct {
	r     reader
	stack []uint64
	regs  *Regs
	mem   Memory
}

// evaluate runs an expression over an initial stack.
func evaluate(code []byte, regs *Regs, mem Memory, initial ...uint64) (uint64, error) {
	e := evaluator{r: reader{b: code}, stack: initial, regs: regs, mem: mem}
	for n := 0; e.r.at < len(code); n++ {
		if n > maxExprOperations {
			return 0, fmt.Errorf("%w: expression does not end", ErrFormat)
		}
		op := e.r.u8()
		if err := e.step(op); err != nil {
			return 0, err
		}
		if e.r.err != nil {
			return 0, e.r.err
		}
	}
	return e.pop()
}

func (e *evaluator) push(v uint64) { e.stack = append(e.stack, v) }

func (e *evaluator) pop() (uint64, error) {
	if len(e.stack) == 0 {
		return 0, fmt.Errorf("%w: expression takes from an empty stack", ErrFormat)
	}
	v := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	return v, nil
}

func (e *evaluator) step(op uint8) error {
	switch {
	case op >= opLit0 && op < opLit0+32:
		e.push(uint64(op - opLit0))
		return nil
	case op >= opBreg0 && op < opBreg0+NumRegs:
		e.push(e.regs[op-opBreg0] + uint64(e.r.sleb()))
		return nil
	case op >= opConst1 && op < opConst1+10:
		e.push(e.constant(op - opConst1))
		return nil
	case op == opAddr:
		e.push(e.r.u64())
		return nil
	case op == opNop:
		return nil
	case op == opSkip:
		return e.skip(int16(e.r.u16()))
	}
	b, err := e.pop()
	if err != nil {
		return err
	}
	return e.operate(op, b)
}

// constant reads the operand of const1u, const1s, ... const8s, constu, consts.
func (e *evaluator) constant(i uint8) uint64 {
	switch i {
	case 0:
		return uint64(e.r.u8())
	case 1:
		return uint64(int64(int8(e.r.u8())))
	case 2:
		return uint64(e.r.u16())
	case 3:
		return uint64(int64(int16(e.r.u16())))
	case 4:
		return uint64(e.r.u32())
	case 5:
		return uint64(int64(int32(e.r.u32())))
	case 8:
		return e.r.uleb()
	case 9:
		return uint64(e.r.sleb())
	}
	return e.r.u64()
}

// operate runs an operation whose topmost operand is b.
func (e *evaluator) operate(op uint8, b uint64) error {
	switch op {
	case opDeref:
		v, ok := e.mem(b)
		if !ok {
			return fmt.Errorf("%w: %#x", ErrMemory, b)
		}
		e.push(v)
		return nil
	case opDup:
		e.push(b)
		e.push(b)
		return nil
	case opDrop:
		return nil
	case opPlusU:
		e.push(b + e.r.uleb())
		return nil
	case opNeg:
		e.push(-b)
		return nil
	case opNot:
		e.push(^b)
		return nil
	case opBra:
		by := int16(e.r.u16())
		if b != 0 {
			return e.skip(by)
		}
		return nil
	}
	a, err := e.pop()
	if err != nil {
		return err
	}
	switch op {
	case opOver:
		e.push(a)
		e.push(b)
		e.push(a)
		return nil
	case opSwap:
		e.push(b)
		e.push(a)
		return nil
	}
	f := binaryOps[op]
	if f == nil {
		return fmt.Errorf("%w: unknown expression operation %#x", ErrFormat, op)
	}
	e.push(f(a, b))
	return nil
}

func (e *evaluator) skip(by int16) error {
	at := e.r.at + int(by)
	if at < 0 || at > len(e.r.b) {
		return fmt.Errorf("%w: expression jumps out of itself", ErrFormat)
	}
	e.r.at = at
	return nil
}
