package unwind

import "errors"

// Regs are a thread's registers by DWARF number; number 16 is the PC.
type Regs [NumRegs]uint64

// The registers with a role of their own, as indexes of Regs.
const (
	RBP = regRBP
	RSP = regRSP
	PC  = regRA
)

// FromMachine orders general-purpose registers, given by encoding number (rax, rcx, rdx, rbx,
// rsp, rbp, rsi, rdi, r8-r15), and the PC as DWARF does.
func FromMachine(gpr *[16]uint64, pc uint64) Regs {
	r := Regs{gpr[0], gpr[2], gpr[1], gpr[3], gpr[6], gpr[7], gpr[5], gpr[4]}
	copy(r[8:16], gpr[8:])
	r[PC] = pc
	return r
}

// Memory reads a word of the thread's memory; ok is false where it cannot.
type Memory func(addr uint64) (v uint64, ok bool)

// ErrMemory is returned where the stack cannot be read.
var ErrMemory = errors.New("memory that the stack walk needs cannot be read")

// ErrNoFrame is returned where neither frame information nor a frame pointer leads on.
var ErrNoFrame = errors.New("no way to the caller's frame")

// Image is a mapped image with call frame information.
type Image struct {
	Table *Table // nil: none
	Bias  uint64 // run-time address - link-time address
	// Switch tells that the code at this PC has changed to another stack; only the frame pointer
	// leads back.
	Switch bool
}

// Images finds the image at a PC; ok is false for unknown code.
type Images func(pc uint64) (im Image, ok bool)

// Unwinder walks stacks. It caches what it has worked out for each PC and is not safe for
// concurrent use, nor for a walk within another.
type Unwinder struct {
	images Images
	rows   map[uint64]*cached
	regs   Regs // of the frame at hand
	// Stubs, if set, knows code without frame information: the distance from the stack pointer to
	// the return address at a PC (a return address itself).
	Stubs func(pc uint64) (toReturn uint64, ok bool)
	// Moved, if set, returns where the instruction at a PC stood that has been moved, and other PCs
	// as they are.
	Moved func(pc uint64) uint64
}

// cached is the outcome for one PC.
type cached struct {
	how    how
	row    *row // if it has expressions, or leads nowhere; otherwise what follows says the same, in a tenth of the memory
	cfaReg uint8
	signal bool
	cfaOff int64
	moves  []move // what it does to the registers
}

type how uint8

const (
	byInfo how = iota
	byFramePointer
	bySwitch
)

const maxCached = 1 << 17

// New returns an Unwinder over some images.
func New(images Images) *Unwinder {
	return &Unwinder{images: images, rows: map[uint64]*cached{}}
}

// Forget drops what was cached: an image came or went.
func (u *Unwinder) Forget() { clear(u.rows) }

// Walk calls visit with the PC of each frame, innermost first, until the outermost frame
// (complete), until visit returns false, or where the walk breaks off (an error). PCs of callers
// are return addresses.
func (u *Unwinder) Walk(regs Regs, mem Memory, visit func(pc, sp uint64) bool) (complete bool, err error) {
	return u.WalkRegs(regs, mem, func(r *Regs) bool { return visit(r[PC], r[RSP]) })
}

// WalkRegs is Walk with all the registers of each frame. Those that the callee need not preserve
// are not the caller's own beyond the innermost frame.
func (u *Unwinder) WalkRegs(regs Regs, mem Memory, visit func(*Regs) bool) (complete bool, err error) {
	const deepest = 1 << 16
	u.regs = regs
	exact := true // the PC is that of an instruction, not a return address
	for range deepest {
		if u.Moved != nil {
			u.regs[PC] = u.Moved(u.regs[PC])
		}
		if !visit(&u.regs) {
			return false, nil
		}
		before := u.regs[RSP]
		outermost, kind, err := u.step(&u.regs, mem, exact)
		if err != nil {
			return false, err
		}
		if outermost || u.regs[PC] == 0 {
			return true, nil
		}
		if u.regs[RSP] <= before && kind == plainFrame { // stacks grow down: no progress means a loop
			return false, ErrNoFrame
		}
		exact = kind == signalFrame
	}
	return false, ErrNoFrame
}

// frameKind says what kind of frame was left.
type frameKind uint8

const (
	plainFrame  frameKind = iota
	signalFrame           // that of a signal handler: the PC that follows is exact
	switchFrame           // the caller is on another stack
)

// step replaces the registers with those of the caller. exact tells whether the PC is an
// instruction's own address (the innermost frame, or one that a signal interrupted) or a return
// address.
func (u *Unwinder) step(regs *Regs, mem Memory, exact bool) (outermost bool, kind frameKind, err error) {
	pc := regs[PC]
	if u.Stubs != nil {
		if size, ok := u.Stubs(pc); ok {
			return false, plainFrame, stub(regs, mem, size)
		}
	}
	if !exact {
		pc-- // a call can be the last instruction of its function
	}
	c := u.lookup(pc)
	switch c.how {
	case byInfo:
		if c.row == nil {
			err = c.move(regs, mem)
		} else {
			outermost, err = apply(c.row, regs, mem)
		}
		if c.signal {
			kind = signalFrame
		}
		return outermost, kind, err
	case bySwitch:
		return false, switchFrame, otherStack(regs, mem)
	}
	return false, plainFrame, framePointer(regs, mem)
}

// stub leaves a frame of a known size.
func stub(regs *Regs, mem Memory, size uint64) error {
	ret, ok := mem(regs[RSP] + size)
	if !ok {
		return ErrMemory
	}
	regs[PC], regs[RSP] = ret, regs[RSP]+size+8
	return nil
}

func (u *Unwinder) lookup(pc uint64) *cached {
	if c := u.rows[pc]; c != nil {
		return c
	}
	if len(u.rows) >= maxCached {
		clear(u.rows)
	}
	c := u.compute(pc)
	u.rows[pc] = c
	return c
}

func (u *Unwinder) compute(pc uint64) *cached {
	im, ok := u.images(pc)
	if !ok {
		return &cached{how: byFramePointer} // perhaps code made at run time
	}
	if im.Switch {
		return &cached{how: bySwitch}
	}
	if im.Table != nil {
		if f := im.Table.find(pc - im.Bias); f != nil {
			if row, err := f.rowAt(pc - im.Bias); err == nil {
				return newCached(row)
			}
		}
	}
	return &cached{how: byFramePointer}
}

// move is a rule of a register that is not the same in the caller.
type move struct {
	reg  uint8
	kind ruleKind
	n    int64
}

// newCached picks out of a row what there is to do: mostly two or three registers.
func newCached(r row) *cached {
	c := &cached{cfaReg: r.cfaReg, cfaOff: r.cfaOff, signal: r.signal}
	if r.cfaExpr != nil || r.regs[regRA].kind == undefined {
		c.row = &r
	}
	for i, x := range r.regs {
		switch x.kind {
		case same, undefined:
		case expr, valExpr:
			c.row = &r
		default:
			c.moves = append(c.moves, move{uint8(i), x.kind, x.n})
		}
	}
	return c
}

// move is apply for a row without expressions.
func (c *cached) move(regs *Regs, mem Memory) error {
	cfa := regs[c.cfaReg] + uint64(c.cfaOff)
	old := *regs
	regs[regRSP] = cfa
	for k := range c.moves {
		m := &c.moves[k]
		at := cfa + uint64(m.n)
		switch m.kind {
		case valOffset:
			regs[m.reg] = at
			continue
		case register:
			regs[m.reg] = old[m.n]
			continue
		}
		switch v, ok := mem(at); {
		case ok:
			regs[m.reg] = v
		case at < old[regRSP] && m.reg != regRA: // see restore
		case m.reg == regRA || m.reg == regRBP:
			return ErrMemory
		default:
			regs[m.reg] = 0
		}
	}
	return nil
}

// apply computes the caller's registers by a row.
func apply(row *row, regs *Regs, mem Memory) (outermost bool, err error) {
	cfa := regs[row.cfaReg] + uint64(row.cfaOff)
	if row.cfaExpr != nil {
		if cfa, err = evaluate(row.cfaExpr, regs, mem); err != nil {
			return false, err
		}
	}
	if row.regs[regRA].kind == undefined {
		return true, nil
	}
	old := *regs
	regs[regRSP] = cfa
	for i := range row.regs {
		if err := restore(&row.regs[i], i, cfa, &old, regs, mem); err != nil {
			if i == regRA || i == regRBP {
				return false, err
			}
			regs[i] = 0 // a register that most code above will not need
		}
	}
	return false, nil
}

func restore(r *rule, i int, cfa uint64, old, regs *Regs, mem Memory) (err error) {
	at := cfa + uint64(r.n)
	switch r.kind {
	case same, undefined:
		return nil
	case valOffset:
		regs[i] = at
		return nil
	case register:
		regs[i] = old[r.n]
		return nil
	case valExpr:
		regs[i], err = evaluate(r.expr, old, mem, cfa)
		return err
	case expr:
		if at, err = evaluate(r.expr, old, mem, cfa); err != nil {
			return err
		}
	}
	v, ok := mem(at)
	switch {
	case ok:
		regs[i] = v
	case at < old[regRSP] && i != regRA: // popped by the epilogue, of which the rows do not tell: it is back in its register
	default:
		return ErrMemory
	}
	return nil
}

// framePointer follows the chain of saved RBPs.
func framePointer(regs *Regs, mem Memory) error {
	if regs[regRBP] < regs[regRSP] {
		return ErrNoFrame
	}
	return otherStack(regs, mem)
}

// otherStack follows a saved RBP wherever it leads.
func otherStack(regs *Regs, mem Memory) error {
	fp := regs[regRBP]
	if fp&7 != 0 || fp == 0 {
		return ErrNoFrame
	}
	next, ok := mem(fp)
	ret, ok2 := mem(fp + 8)
	if !ok || !ok2 {
		return ErrMemory
	}
	regs[regRBP], regs[regRA], regs[regRSP] = next, ret, fp+16
	return nil
}
