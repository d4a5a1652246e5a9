package engine

import (
	"fmt"
	"syscall"
	"unsafe"

	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// In mode Trace every entry of a block writes a record: one word that names the
// block, then one word for each access of the block's instructions (x86.Inst.Accesses), the
// address, in program order; a repeated string access has a second word, how often it was done. The
// room of the record is taken at the head of the block, so that each access has a
// fixed place in it; the words of accesses that a fault prevented are nil.

// traceTag marks the word that names a block.
const traceTag = 1 << 63

// A run of at most traceChunk instructions, and the block after it, fits the buffer.
const (
	traceChunk    = 1 << 14
	wordsPerInst  = 6 // block word, three accesses, two of them with counts (rep movs has four words)
	traceWords    = (traceChunk + 2*maxInsts) * wordsPerInst
	roomPerAccess = 256 // host bytes
)

// Slots of the registers that tracing borrows.
const (
	slotTraceA = 8
	slotTraceB = 9
)

// newTrace maps the buffer, outside of the Go heap.
func newTrace() ([]uint64, error) {
	mem, err := syscall.Mmap(-1, 0, 8*traceWords, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("engine: trace buffer: %w", err)
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), traceWords), nil
}

func freeTrace(words []uint64) error {
	if words == nil {
		return nil
	}
	return syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words)))
}

// startTrace gives the buffer to ctx, all nil.
func (e *Engine) startTrace(ctx *cpu.Context) {
	clear(e.trace[:e.traced])
	e.traced = 0
	ctx.TracePtr = uint64(uintptr(unsafe.Pointer(&e.trace[0])))
}

// endTrace notes how much was written.
func (e *Engine) endTrace(ctx *cpu.Context) {
	e.traced = int(ctx.TracePtr-uint64(uintptr(unsafe.Pointer(&e.trace[0])))) / 8
}

// Trace returns what the last Run recorded in mode Trace; it is good until the next Run.
func (e *Engine) Trace() []uint64 { return e.trace[:e.traced] }

// tracer is the state of tracing in the translation of one block.
type tracer struct {
	on       bool
	ptr, tmp x86.Reg // held for the whole block: start of the record, and a register for addresses; NoReg if too few are free
	words    int32   // length of the record
	at       int32   // next word
}

// reservations are registers that may be borrowed for tracing.
var traceRegs = [...]x86.Reg{x86.R11, x86.R10, x86.R9, x86.R8, x86.R15, x86.R14, x86.R13, x86.R12,
	x86.RBX, x86.RAX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBP}

// free returns two registers that are not in used.
func free(used x86.RegSet) (a, b x86.Reg) {
	a, b = x86.NoReg, x86.NoReg
	for _, r := range traceRegs {
		switch {
		case used.Has(r):
		case a == x86.NoReg:
			a = r
		default:
			return a, r
		}
	}
	return a, b
}

// traceHead emits the block word and takes the room of the record.
func (t *translation) traceHead() {
	if t.e.cfg.Mode != Trace {
		return
	}
	t.tr = tracer{on: true, ptr: x86.NoReg, words: 1, at: 1}
	var used x86.RegSet
	n := 0
	for i := range t.insts {
		in := &t.insts[i]
		used |= in.Reads | in.Writes
		for _, a := range in.Accesses(t.e.accesses[:0]) {
			t.tr.words += wordsOf(a)
			n++
		}
	}
	p, q := free(used)
	if n > 1 && q != x86.NoReg {
		t.tr.ptr, t.tr.tmp = p, q
	} else {
		p, q = x86.RAX, x86.RCX
	}
	a := &t.a
	a.Store(slotMem(slotTraceA), p)
	a.Store(slotMem(slotTraceB), q)
	a.Load(p, gs(cpu.OffTracePtr))
	a.StoreImm32(enc.At(p, 0), int32(t.b.id))
	a.StoreImm32(enc.At(p, 4), -1<<31)
	a.Lea(q, enc.At(p, 8*t.tr.words))
	a.Store(gs(cpu.OffTracePtr), q)
	if t.tr.ptr == x86.NoReg {
		t.traceGiveBack(p, q)
	}
}

func wordsOf(a x86.Access) int32 {
	if a.Rep {
		return 2
	}
	return 1
}

func (t *translation) traceGiveBack(p, q x86.Reg) {
	t.a.Load(q, slotMem(slotTraceB))
	t.a.Load(p, slotMem(slotTraceA))
}

// held lists the guest registers that tracing keeps in slots.
func (t *translation) held() []spill {
	if !t.tr.on || t.tr.ptr == x86.NoReg {
		return nil
	}
	return []spill{{t.tr.ptr, slotTraceA, true}, {t.tr.tmp, slotTraceB, true}}
}

// heldRegs is the set of those.
func (t *translation) heldRegs() x86.RegSet {
	if !t.tr.on || t.tr.ptr == x86.NoReg {
		return 0
	}
	return x86.RegSet(0).With(t.tr.ptr).With(t.tr.tmp)
}

// traceEnd gives the registers back, before the last instruction of the block.
func (t *translation) traceEnd() {
	if t.tr.on && t.tr.ptr != x86.NoReg {
		t.traceGiveBack(t.tr.ptr, t.tr.tmp)
		t.tr.ptr = x86.NoReg
	}
}

// traced emits the words of an instruction's accesses, before it. It returns where the count of a repeated
// access stands, 0 if there is none; traceCount completes it behind the instruction.
func (t *translation) traced(in *x86.Inst, pc uint64) (count int32) {
	if !t.tr.on {
		return 0
	}
	accesses := in.Accesses(t.e.accesses[:0])
	if len(accesses) == 0 {
		return 0
	}
	p, q, base, own := t.traceBegin(in)
	for _, acc := range accesses {
		t.address(q, p, acc, in, pc)
		t.a.Store(enc.At(p, base+8*t.tr.at), q)
		if acc.Rep {
			count = t.tr.at + 1
			t.a.Store(enc.At(p, base+8*count), x86.RCX)
		}
		t.tr.at += wordsOf(acc)
	}
	if own {
		t.traceGiveBack(p, q)
	}
	return count
}

// traceBegin returns the registers for one instruction, with the record's start at [p+base]; own: they were borrowed for it alone.
func (t *translation) traceBegin(in *x86.Inst) (p, q x86.Reg, base int32, own bool) {
	if t.tr.ptr != x86.NoReg {
		return t.tr.ptr, t.tr.tmp, 0, false
	}
	p, q = free(in.Reads | in.Writes)
	t.a.Store(slotMem(slotTraceA), p)
	t.a.Store(slotMem(slotTraceB), q)
	t.a.Load(p, gs(cpu.OffTracePtr))
	return p, q, -8 * t.tr.words, true
}

// address computes the address of an access into q; p is restored if it was needed.
func (t *translation) address(q, p x86.Reg, acc x86.Access, in *x86.Inst, pc uint64) {
	a, m := &t.a, acc.Mem
	if m.Base == x86.RIP {
		a.MovImm(q, pc+uint64(in.Len)+uint64(int64(m.Disp)))
	} else {
		mem := enc.Mem{Base: m.Base, Index: m.Index, Scale: m.Scale, Disp: m.Disp}
		if m.Addr32 {
			a.Lea32(q, mem)
		} else {
			a.Lea(q, mem)
		}
	}
	if m.Seg == 0 {
		return
	}
	t.loadSegBase(p, m.Seg)
	a.Lea(q, enc.Mem{Base: q, Index: p, Scale: 1})
	t.reload(p)
}

// reload gives p its value again.
func (t *translation) reload(p x86.Reg) {
	t.a.Load(p, gs(cpu.OffTracePtr))
	if t.tr.ptr != x86.NoReg {
		t.a.Lea(p, enc.At(p, -8*t.tr.words))
	}
}

// traceCount replaces the count that a repeated instruction began with by how often it was done.
func (t *translation) traceCount(in *x86.Inst, count int32) {
	if count == 0 {
		return
	}
	p, q, base, own := t.traceBegin(in)
	a := &t.a
	at := base + 8*count
	a.Mov(q, x86.RCX)
	a.Not(q)
	a.Load(p, enc.At(p, at))
	a.Lea(q, enc.Mem{Base: p, Index: q, Scale: 1, Disp: 1})
	t.reload(p)
	a.Store(enc.At(p, at), q)
	if accesses := in.Accesses(t.e.accesses[:0]); len(accesses) > 1 {
		a.Store(enc.At(p, at-16), q)
	}
	if own {
		t.traceGiveBack(p, q)
	}
}
