package engine

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// In mode Trace every block that is entered, and those of its accesses (x86.Inst.Accesses) that are
// not in the filter of the running core, leave words in a buffer: package machine says how they
// look (Block), and what a filter is. Generated code looks for each access in the filter, in place;
// where it is not, code behind the block looks whether it is the line used before, and else goes
// through the code in package cpu that records it. Repeated accesses are recorded behind their
// instruction, when it is known how often they were done.

// A run of at most traceChunk instructions, and the block after it, fits the buffer.
const (
	traceChunk   = 1 << 14
	wordsPerInst = 10 // block word, three accesses of three words
	traceWords   = (traceChunk + 2*maxInsts) * wordsPerInst
	roomTraced   = 800 // host bytes of all accesses of an instruction
)

// Words as package machine has them.
const (
	traceTag   = 1 << 63
	traceFirst = 1 // stands before the first word: no block
	countShift = 32
	indexShift = 48
)

// A filter as package machine has it.
const (
	filterHead  = 64 // bytes before the first set
	filterWrite = 8  // from the word for reads to that for writes
	filterNext  = 16 // from the line used last to the one before
	filterLine  = 64 // bytes of a line
)

// Slots of the registers that tracing borrows, and of RAX and the flags where these are live.
const (
	slotTraceA     = 8
	slotTraceB     = 9
	slotTraceRAX   = 5
	slotTraceFlags = 6
	slotTraceSwap  = 7
)

// newTrace maps the buffer, outside of the Go heap.
func newTrace(words int) ([]uint64, error) {
	mem, err := syscall.Mmap(-1, 0, 8*words, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("engine: trace buffer: %w", err)
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), words), nil
}

func freeTrace(words []uint64) error {
	if words == nil {
		return nil
	}
	return syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words)))
}

// SetFilter sets the filter that Run looks accesses up in, the address of which is given; nil is
// one that holds nothing.
func (e *Engine) SetFilter(filter uintptr) { e.filter = filter }

// startTrace gives the buffer to ctx.
func (e *Engine) startTrace(ctx *cpu.Context) {
	e.traced = 0
	e.trace[0] = traceFirst
	ctx.TracePtr = uint64(uintptr(unsafe.Pointer(&e.trace[1])))
	if ctx.Filter = uint64(e.filter); e.filter == 0 {
		ctx.Filter = uint64(uintptr(unsafe.Pointer(&e.noFilter[0])))
	}
}

// endTrace notes how much was written.
func (e *Engine) endTrace(ctx *cpu.Context) {
	e.traced = int(ctx.TracePtr-uint64(uintptr(unsafe.Pointer(&e.trace[1])))) / 8
}

// Trace returns what the last Run recorded in mode Trace; it is good until the next Run.
func (e *Engine) Trace() []uint64 { return e.trace[1 : 1+e.traced] }

// tracer is the state of tracing in the translation of one block.
type tracer struct {
	on    bool
	q, r  x86.Reg     // held for the whole block, for addresses and sets; NoReg if too few are free
	index int32       // of the next access
	live  []x86.Flags // before each instruction
	new   uint64      // rel32 of the branch to the code that names the block; 0 if there is none
	back  uint64      // where that goes on
	slow  []slowPath
}

// slowPath is the code for an access that is not in its set's first place.
type slowPath struct {
	patch uint64 // rel32 of the branch to it
	back  uint64 // where it goes on
	q, r  x86.Reg
	write bool
	size  int32
	index int32
}

// traceRegs are registers that may be borrowed for tracing.
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

// traceHead names the block, or counts it if it was the last one named.
func (t *translation) traceHead() {
	if t.e.cfg.Mode != Trace {
		return
	}
	t.tr = tracer{on: true, q: x86.NoReg, r: x86.NoReg, live: t.liveBefore()}
	q, r := t.traceHold()
	a := &t.a
	a.Store(slotMem(slotTraceA), q)
	if t.tr.q != x86.NoReg {
		a.Store(slotMem(slotTraceB), r)
	}
	a.Load(q, gs(cpu.OffTracePtr))
	if last := &t.insts[len(t.insts)-1]; t.b.live == 0 && last.Branch == x86.BranchCond && t.lastTarget() == t.b.pc {
		a.Cmp32(enc.At(q, -8), int32(t.b.id)<<1)
		t.tr.new = a.Jcc(enc.CondNE, 0)
		a.Inc32(enc.At(q, -4))
		t.tr.back = a.Here()
		t.tr.slow = append(t.tr.slow, slowPath{q: q})
	} else {
		t.nameBlock(q)
	}
	if t.tr.q == x86.NoReg {
		a.Load(q, slotMem(slotTraceA))
	}
}

// lastTarget is where the last instruction branches to.
func (t *translation) lastTarget() uint64 {
	n := len(t.insts) - 1
	return t.insts[n].Target(t.b.pc + uint64(t.b.starts[n]))
}

// nameBlock writes the block's word; q points behind the last one.
func (t *translation) nameBlock(q x86.Reg) {
	a := &t.a
	a.StoreImm32(enc.At(q, 0), int32(t.b.id)<<1)
	a.StoreImm32(enc.At(q, 4), -1<<31)
	a.Lea(q, enc.At(q, 8))
	a.Store(gs(cpu.OffTracePtr), q)
}

// traceHold chooses the registers for the whole block, or returns some for its head alone.
func (t *translation) traceHold() (q, r x86.Reg) {
	var used x86.RegSet
	n := 0
	for i := range t.insts {
		in := &t.insts[i]
		used |= in.Reads | in.Writes
		for _, a := range in.Accesses(t.e.accesses[:0]) {
			if !a.Rep {
				n++
			}
			if t.tr.live[i] != 0 {
				used = used.With(x86.RAX)
			}
		}
	}
	if q, r = free(used); n > 1 && r != x86.NoReg {
		t.tr.q, t.tr.r = q, r
		return q, r
	}
	return x86.RCX, x86.NoReg
}

// held lists the guest registers that tracing keeps in slots.
func (t *translation) held() []spill {
	if !t.tr.on || t.tr.q == x86.NoReg {
		return nil
	}
	return []spill{{t.tr.q, slotTraceA, true}, {t.tr.r, slotTraceB, true}}
}

// heldRegs is the set of those.
func (t *translation) heldRegs() x86.RegSet {
	if t.lg.on {
		return x86.RegSet(0).With(t.lg.q).With(t.lg.r)
	}
	if !t.tr.on || t.tr.q == x86.NoReg {
		return 0
	}
	return x86.RegSet(0).With(t.tr.q).With(t.tr.r)
}

func (t *translation) traceGiveBack(q, r x86.Reg) {
	t.a.Load(r, slotMem(slotTraceB))
	t.a.Load(q, slotMem(slotTraceA))
}

// traceEnd gives the registers back, before the last instruction of the block.
func (t *translation) traceEnd() {
	if t.tr.on && t.tr.q != x86.NoReg {
		t.traceGiveBack(t.tr.q, t.tr.r)
		t.tr.q = x86.NoReg
	}
}

// traced looks up instruction i's accesses, before it. It reports whether they are repeated;
// traceCount records them then, behind the instruction.
func (t *translation) traced(i int, in *x86.Inst, pc uint64) (repeated bool) {
	if !t.tr.on {
		return false
	}
	accesses := in.Accesses(t.e.accesses[:0])
	if len(accesses) == 0 {
		return false
	}
	live := t.tr.live[i] != 0
	q, r, own := t.traceBegin(in, live)
	for k, acc := range accesses {
		t.address(q, r, acc, in, pc)
		switch {
		case acc.Rep:
			repeated = true
			t.a.Store(enc.GS(cpu.MissWord([...]int{cpu.MissAddr, cpu.RepeatAddr}[k])), q)
		case acc.Bytes > 0:
			t.look(q, r, acc, live)
		}
		t.tr.index++
	}
	if repeated {
		t.a.Store(enc.GS(cpu.MissWord(cpu.RepeatCount)), x86.RCX)
	}
	if own {
		t.traceGiveBack(q, r)
	}
	return repeated
}

// traceBegin returns the registers for one instruction; own: they were borrowed for it alone. If
// flags are live neither is RAX.
func (t *translation) traceBegin(in *x86.Inst, live bool) (q, r x86.Reg, own bool) {
	if t.tr.q != x86.NoReg {
		return t.tr.q, t.tr.r, false
	}
	used := in.Reads | in.Writes
	if live {
		used = used.With(x86.RAX)
	}
	q, r = free(used)
	t.a.Store(slotMem(slotTraceA), q)
	t.a.Store(slotMem(slotTraceB), r)
	return q, r, true
}

// address computes the address of an access into q.
func (t *translation) address(q, r x86.Reg, acc x86.Access, in *x86.Inst, pc uint64) {
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
	if m.Seg != 0 {
		t.loadSegBase(r, m.Seg)
		a.Lea(q, enc.Mem{Base: q, Index: r, Scale: 1})
	}
}

// look looks for an access at the address in q in the first place of its set.
func (t *translation) look(q, r x86.Reg, acc x86.Access, live bool) {
	a := &t.a
	if live {
		a.Store(slotMem(slotTraceRAX), x86.RAX)
		a.Lahf()
		a.SetO()
		a.Store(slotMem(slotTraceFlags), x86.RAX)
	}
	s := slowPath{q: q, r: r, write: acc.Write, size: int32(acc.Bytes), index: t.tr.index}
	if t.quick(&s) {
		a.Mov32(r, q)
		a.And32(r, int32(t.e.cfg.FilterMask))
		a.Half32(r)
		a.AddMem(r, gs(cpu.OffFilter))
		a.SubMem(q, t.place(&s, 0))
		a.CmpImm(q, filterLine-s.size)
		s.patch = a.Jcc(enc.CondA, 0)
	} else {
		s.patch = a.Jmp(0)
	}
	s.back = a.Here()
	if live {
		a.Load(x86.RAX, slotMem(slotTraceFlags))
		a.AddAL(0x7f) // overflows if al is 1
		a.Sahf()
		a.Load(x86.RAX, slotMem(slotTraceRAX))
	}
	t.tr.slow = append(t.tr.slow, s)
}

// quick reports whether an access may be in the filter.
func (t *translation) quick(s *slowPath) bool {
	return t.e.cfg.FilterLines > 0 && s.size <= filterLine
}

// place is the word of the set at r for the n-th line used before the last.
func (t *translation) place(s *slowPath, n int32) enc.Mem {
	disp := filterHead + n*filterNext
	if s.write {
		disp += filterWrite
	}
	return enc.At(s.r, disp)
}

// slowPaths emits the code of accesses that are not in the first place.
func (t *translation) slowPaths() {
	for i := range t.tr.slow {
		s := &t.tr.slow[i]
		if s.patch == 0 {
			patchIn(&t.a, t.tr.new, t.a.Here())
			t.nameBlock(s.q)
			t.a.Jmp(t.tr.back)
			continue
		}
		patchIn(&t.a, s.patch, t.a.Here())
		if t.quick(s) {
			t.a.AddMem(s.q, t.place(s, 0))
		}
		if t.quick(s) && t.e.cfg.FilterLines > 1 {
			t.second(s)
		}
		t.record(s)
	}
}

// second looks in the second place, and exchanges it with the first if the access is there.
func (t *translation) second(s *slowPath) {
	a := &t.a
	a.SubMem(s.q, t.place(s, 1))
	a.CmpImm(s.q, filterLine-s.size)
	miss := a.Jcc(enc.CondA, 0)
	for _, off := range [...]int32{filterHead, filterHead + filterWrite} {
		first, next := enc.At(s.r, off), enc.At(s.r, off+filterNext)
		a.Load(s.q, first)
		a.Store(slotMem(slotTraceSwap), s.q)
		a.Load(s.q, next)
		a.Store(first, s.q)
		a.Load(s.q, slotMem(slotTraceSwap))
		a.Store(next, s.q)
	}
	a.Jmp(s.back)
	patchIn(a, miss, a.Here())
	a.AddMem(s.q, t.place(s, 1))
}

// record hands an access over to the code that records it.
func (t *translation) record(s *slowPath) {
	a := &t.a
	info := s.index | s.size<<cpu.MissSize
	if s.write {
		info |= cpu.MissWrite
	}
	a.Store(enc.GS(cpu.MissWord(cpu.MissAddr)), s.q)
	a.StoreImm32(enc.GS(cpu.MissWord(cpu.MissInfo)), info)
	a.StoreImm32(enc.GS(cpu.MissWord(cpu.MissBack)), int32(s.back))
	a.JmpMem(enc.GS(cpu.MissWord(cpu.MissEntry)))
}

// traceCount records the accesses of a repeated instruction, behind it.
func (t *translation) traceCount(in *x86.Inst, repeated bool) {
	if !repeated {
		return
	}
	a := &t.a
	accesses := in.Accesses(t.e.accesses[:0])
	first := t.tr.index - int32(len(accesses))
	for k, acc := range accesses {
		word := [...]int{cpu.MissInfo, cpu.RepeatInfo}[k]
		a.StoreImm32(enc.GS(cpu.MissWord(word)), first+int32(k)|int32(acc.Bytes)<<cpu.MissSize)
	}
	a.StoreImm32(enc.GS(cpu.MissWord(cpu.MissBack)), 0)
	imm := len(a.Code) - 4
	a.JmpMem(enc.GS(cpu.MissWord(cpu.RepeatEntry)))
	binary.LittleEndian.PutUint32(a.Code[imm:], uint32(a.Here()))
}

// liveBefore returns the status flags that are live before each instruction.
func (t *translation) liveBefore() []x86.Flags {
	n := len(t.insts)
	last := &t.insts[n-1]
	var live x86.Flags
	switch {
	case t.writable || emulated(last):
		live = x86.StatusFlags
	case last.EndsBlock():
		live = t.e.liveBehind(last, t.b.pc+uint64(t.b.starts[n-1]), liveDepth)
	default:
		live = t.e.liveAt(t.b.end(), liveDepth)
	}
	out := make([]x86.Flags, n)
	for i := n - 1; i >= 0; i-- {
		in := &t.insts[i]
		live = live&^surelyWrites(in) | in.FlagsRead&x86.StatusFlags
		out[i] = live
	}
	return out
}
