// Package uop describes decoded instructions to the machine model: their
// resource class, the registers that they depend on, their data accesses. It
// imports x86 and machine, and knows no translator and no guest.
package uop

import (
	"fmt"
	"strings"

	"lime/internal/machine"
	"lime/internal/x86"
)

// Describe decodes the instructions of a basic block that stands at pc. The accesses
// of the result are in the order of x86.Inst.Accesses, instruction by instruction, which is
// the order in which a trace gives their addresses.
func Describe(pc uint64, code []byte) (machine.Block, error) {
	b := machine.Block{Addr: pc, Size: uint32(len(code)), Fall: pc + uint64(len(code))}
	var in x86.Inst
	for at := 0; at < len(code); at += int(in.Len) {
		if err := x86.Decode(code[at:], &in); err != nil {
			return b, fmt.Errorf("instruction at %#x: %w", pc+uint64(at), err)
		}
		add(&b, &in, pc+uint64(at))
	}
	if n := len(b.Instrs); n > 0 {
		b.End = endOf(in.Branch)
	}
	return b, nil
}

// add appends one instruction and its accesses.
func add(b *machine.Block, in *x86.Inst, pc uint64) {
	var buf [4]x86.Access
	accesses := in.Accesses(buf[:0])
	m := machine.Instr{Class: classOf(in)}
	m.Srcs, m.Dsts, m.Addrs = registers(in, len(accesses) > 0)
	for _, a := range accesses {
		m.Load = m.Load || a.Read
		m.Store = m.Store || a.Write
		b.Accesses = append(b.Accesses, machine.Access{
			Instr: uint16(len(b.Instrs)), Size: a.Bytes, Read: a.Read, Write: a.Write, Lock: in.Lock, Rep: a.Rep,
		})
	}
	b.Instrs = append(b.Instrs, m)
	b.PCs = append(b.PCs, pc)
}

func endOf(b x86.Branch) machine.End {
	switch b {
	case x86.BranchCond, x86.BranchLoop:
		return machine.EndCond
	case x86.BranchJumpInd:
		return machine.EndIndirect
	case x86.BranchCall, x86.BranchCallInd:
		return machine.EndCall
	case x86.BranchRet:
		return machine.EndReturn
	}
	return machine.EndPlain
}

// registers lists what an instruction's result and address depend on, and what it writes.
func registers(in *x86.Inst, access bool) (srcs [4]uint8, dsts, addrs [2]uint8) {
	address := x86.RegSet(0)
	if access && in.HasMem {
		address = address.With(in.Mem.Base).With(in.Mem.Index)
	}
	reads, writes := in.Reads&^address, in.Writes
	if onStack(in) { // the stack pointer is renamed in the front end, and costs no time
		reads, writes = reads&^(1<<x86.RSP), writes&^(1<<x86.RSP)
	}
	vecReads := in.VecReads
	if zeroes(in) {
		reads, vecReads = 0, 0
	}
	s := list{regs: srcs[:]}
	s.addAll(uint32(reads), 0)
	s.addAll(vecReads, machine.RegVector)
	s.flag(in.FlagsRead&x86.StatusFlags != 0, machine.RegFlags)
	s.flag(in.X87, machine.RegX87)
	s.fill()
	d := list{regs: dsts[:]}
	d.addAll(uint32(writes), 0)
	d.addAll(in.VecWrites, machine.RegVector)
	d.flag(in.FlagsWrite&x86.StatusFlags != 0, machine.RegFlags)
	d.flag(in.X87, machine.RegX87)
	d.fill()
	a := list{regs: addrs[:]}
	a.addAll(uint32(address), 0)
	a.fill()
	return srcs, dsts, addrs
}

// list fills a fixed number of places; what does not fit is left out.
type list struct {
	regs []uint8
	n    int
}

func (l *list) add(r uint8) {
	if l.n < len(l.regs) {
		l.regs[l.n] = r
		l.n++
	}
}

func (l *list) addAll(set uint32, base uint8) {
	for r := uint8(0); set != 0; r, set = r+1, set>>1 {
		if set&1 != 0 {
			l.add(base + r)
		}
	}
}

func (l *list) flag(on bool, r uint8) {
	if on {
		l.add(r)
	}
}

func (l *list) fill() {
	for l.n < len(l.regs) {
		l.add(machine.NoReg)
	}
}

func onStack(in *x86.Inst) bool {
	switch in.Name {
	case "push", "pop", "call", "ret":
		return true
	}
	return false
}

// zeroes: exclusive or, or subtraction, of a register with itself depends on nothing.
func zeroes(in *x86.Inst) bool {
	if !in.HasModRM || in.HasMem {
		return false
	}
	switch strings.TrimPrefix(in.Name, "v") {
	case "xor", "sub":
		return in.ModRM>>3&7 == in.ModRM&7 && in.Rex>>2&1 == in.Rex&1 && in.ImmLen == 0
	case "xorps", "xorpd", "pxor", "pxord", "pxorq", "psubb", "psubw", "psubd", "psubq":
		return in.VecReads&(in.VecReads-1) == 0
	}
	return false
}
