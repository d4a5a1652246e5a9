package engine

import (
	"unsafe"

	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// In mode Log every block that is entered leaves a word, and behind it, for every access of its
// instructions, the address and, of what is stored, what was there before and what is there after.
// How many words a block leaves is known beforehand (Logged), so that no word has a mark, and the
// code that writes them is moves alone: it touches no flag.
//
// A repeated string instruction is a block of its own, and so is a gather or scatter. Run comes
// back with ExitRepeat before it, so that somebody can look at the memory that it will touch; the
// block leaves RSI, RDI, and RCX before and after.

// A run of at most logChunk instructions, and the block after it, fits the buffer.
const (
	logChunk  = 4096
	logWords  = (logChunk+2*maxInsts)*maxLogged + 1
	maxLogged = 24  // words of an instruction at most
	roomLog   = 400 // host bytes for an instruction at most
)

// logCutShift is where a block's word says after how many instructions less one a fault has cut the
// passage short; nil if none has.
const logCutShift = 32

// maxValue is the longest access whose values are logged.
const maxValue = 64

// Words that a repeated instruction leaves.
const (
	RepeatRSI = iota
	RepeatRDI
	RepeatBefore // RCX
	RepeatAfter
	repeatWords
)

// Logged is an access as mode Log records it.
type Logged struct {
	x86.Access
	Inst   int // the instruction's number in the block
	PC     uint64
	Vague  bool // it may touch less than it says, or somewhere else: by a mask, or a bit string
	Values int  // words of what was there before, and as many of what is there after; 0: none are logged
}

// Words is how many words the access leaves.
func (l *Logged) Words() int { return 1 + 2*l.Values }

// LogShape is what a block leaves in the log behind its own word.
type LogShape struct {
	Accesses []Logged
	Words    int
	Repeat   *x86.Inst // the block is this repeated instruction, gather or scatter
}

// LogWord takes a block's word apart: cut is how many of its instructions were done if a fault has
// ended it, else -1.
func LogWord(word uint64) (id BlockID, cut int) {
	return BlockID(uint32(word)), int(word>>logCutShift) - 1
}

// Logged returns what a block leaves.
func (e *Engine) Logged(id BlockID) *LogShape { return e.shapes[id] }

// LogEnd stands behind the log, and is no block's word.
const LogEnd = ^uint64(0)

// Log returns what the last Run of a context recorded in mode Log; it is good until its next Run,
// and without Config.Lock until the next of any.
func (e *Engine) Log(ctx *cpu.Context) []uint64 { return e.logs.of(ctx)[:e.logs.words(ctx)] }

// logs are where logs are written: contexts that run beside each other have one each.
type logs struct {
	own map[*cpu.Context][]uint64 // nil: all write to one
	one []uint64
}

// newLogs makes them; beside: contexts run beside each other.
func newLogs(beside bool) (l logs, err error) {
	if beside {
		l.own = map[*cpu.Context][]uint64{}
		return l, nil
	}
	l.one, err = newTrace(logWords)
	return l, err
}

func (l *logs) of(ctx *cpu.Context) []uint64 {
	if l.own != nil {
		return l.own[ctx]
	}
	return l.one
}

// words is how many are in a context's log.
func (l *logs) words(ctx *cpu.Context) int {
	return int(ctx.TracePtr-uint64(uintptr(unsafe.Pointer(&l.of(ctx)[0])))) / 8
}

func (l *logs) start(ctx *cpu.Context) {
	ctx.TracePtr = uint64(uintptr(unsafe.Pointer(&l.of(ctx)[0])))
}

func (l *logs) end(ctx *cpu.Context) { l.of(ctx)[l.words(ctx)] = LogEnd }

// add gives a new context its log, if it needs one of its own.
func (l *logs) add(ctx *cpu.Context) (err error) {
	if l.own != nil {
		l.own[ctx], err = newTrace(logWords)
	}
	return err
}

// drop takes it back.
func (l *logs) drop(ctx *cpu.Context) error {
	log := l.own[ctx]
	delete(l.own, ctx)
	return freeTrace(log)
}

// logger is the state of logging in the translation of one block.
type logger struct {
	on    bool
	q, r  x86.Reg // held for the whole block, r for the place in the log; NoReg if too few are free
	shape *LogShape
	next  int   // access
	off   int32 // bytes of the log so far
	done  bool  // the log's pointer is behind the block
	ahead bool  // what follows reads where the instruction will write
}

// shapeOf lists what the block's instructions leave.
func (t *translation) shapeOf() *LogShape {
	s := &LogShape{}
	if t.repeat {
		s.Repeat, s.Words = &t.insts[0], repeatWords
		return s
	}
	for i := range t.insts {
		in, pc := &t.insts[i], t.b.pc+uint64(t.b.starts[i])
		for _, acc := range in.Accesses(t.e.accesses[:0]) {
			if acc.Bytes == 0 {
				continue
			}
			l := Logged{Access: acc, Inst: i, PC: pc, Vague: vague(in, t.bytes(i))}
			if acc.Write && !t.e.cfg.Addresses && !l.Vague && acc.Bytes <= maxValue && in.Branch == x86.BranchNone {
				l.Values = len(chunks(int(acc.Bytes)))
			}
			s.Accesses = append(s.Accesses, l)
			s.Words += l.Words()
		}
	}
	return s
}

// vague reports whether an instruction may touch less than its operand, or something else. The mask
// register of an EVEX instruction is in its last prefix byte (Intel SDM vol. 2, 2.7.1).
func vague(in *x86.Inst, code []byte) bool {
	masked := in.Enc == x86.EVEX && code[in.OpcodeOff-1]&7 != 0
	switch in.Name {
	case "vmaskmovps", "vmaskmovpd", "vpmaskmovd", "vpmaskmovq", "maskmovq", "maskmovdqu", "vmaskmovdqu", "vpmaskmov", "vmaskmov":
		masked = true
	}
	return masked || in.BitString
}

// chunks cuts n bytes into accesses of the integer unit.
func chunks(n int) (out []int) {
	for _, size := range [...]int{8, 4, 2, 1} {
		for ; n >= size; n -= size {
			out = append(out, size)
		}
	}
	return out
}

// logHead names the block.
func (t *translation) logHead() {
	if t.e.cfg.Mode != Log || t.bare {
		t.lg.done = true
		return
	}
	t.lg = logger{on: true, q: x86.NoReg, r: x86.NoReg, shape: t.shapeOf(), off: 8}
	t.e.setShape(t.b.id, t.lg.shape)
	var used x86.RegSet
	for i := range t.insts {
		used |= t.insts[i].Reads | t.insts[i].Writes
	}
	a := &t.a
	r := x86.RCX
	if q, free := free(used); free != x86.NoReg && t.lg.shape.Words > 0 {
		t.lg.q, t.lg.r, r = q, free, free
		a.Store(slotMem(slotTraceA), q)
	}
	a.Store(slotMem(slotTraceB), r)
	a.Load(r, gs(cpu.OffTracePtr))
	a.StoreImm(enc.At(r, 0), int32(t.b.id))
	if t.lg.q == x86.NoReg {
		a.Load(r, slotMem(slotTraceB))
	}
}

func (e *Engine) setShape(id BlockID, s *LogShape) {
	for len(e.shapes) <= int(id) {
		e.shapes = append(e.shapes, nil)
	}
	e.shapes[id] = s
}

// heldForLog lists the guest registers that logging keeps in slots.
func (t *translation) heldForLog() []spill {
	if !t.lg.on || t.lg.q == x86.NoReg {
		return nil
	}
	return []spill{{t.lg.q, slotTraceA, true}, {t.lg.r, slotTraceB, true}}
}

// logRegs passes two registers to use at instruction i, the second of which points into the log.
func (t *translation) logRegs(i int, used x86.RegSet, use func(q, r x86.Reg)) {
	if t.lg.q != x86.NoReg {
		use(t.lg.q, t.lg.r)
		return
	}
	q, r := free(used)
	a := &t.a
	a.Store(slotMem(slotTraceA), q)
	a.Store(slotMem(slotTraceB), r)
	t.mark(i, spill{q, slotTraceA, true}, spill{r, slotTraceB, true})
	a.Load(r, gs(cpu.OffTracePtr))
	use(q, r)
	t.traceGiveBack(q, r)
	t.mark(i)
}

// logBefore logs instruction i's accesses, before it.
func (t *translation) logBefore(i int, in *x86.Inst, pc uint64) {
	if !t.lg.on {
		return
	}
	if t.repeat {
		t.logRegs(i, in.Reads|in.Writes, func(_, r x86.Reg) {
			for k, reg := range [...]x86.Reg{RepeatRSI: x86.RSI, RepeatRDI: x86.RDI, RepeatBefore: x86.RCX} {
				t.a.Store(enc.At(r, t.lg.off+8*int32(k)), reg)
			}
		})
		return
	}
	at, off := t.lg.next, t.lg.off
	mine := t.lg.ofInst(at, i)
	if len(mine) == 0 {
		return
	}
	t.logRegs(i, in.Reads|in.Writes, func(q, r x86.Reg) {
		for k := range mine {
			l := &mine[k]
			t.addressLogged(q, l.Access, in, pc, r)
			t.a.Store(enc.At(r, off), q)
			t.copyValue(i, q, r, off, off+8, l)
			off += 8 * int32(l.Words())
		}
	})
}

// ofInst lists the accesses of instruction i, the first of which is number at if there is one.
func (l *logger) ofInst(at, i int) []Logged {
	n := at
	for n < len(l.shape.Accesses) && l.shape.Accesses[n].Inst == i {
		n++
	}
	return l.shape.Accesses[at:n]
}

// addressLogged computes the address of an access into q; r keeps its value.
func (t *translation) addressLogged(q x86.Reg, acc x86.Access, in *x86.Inst, pc uint64, r x86.Reg) {
	if acc.Seg == 0 {
		t.address(q, x86.NoReg, acc, in, pc)
		return
	}
	t.a.Store(slotMem(slotTraceSwap), r)
	t.address(q, r, acc, in, pc)
	t.a.Load(r, slotMem(slotTraceSwap))
}

// copyValue copies what is at the address that the log holds at from to the log at to. q holds the
// address too, at first.
func (t *translation) copyValue(i int, q, r x86.Reg, from, to int32, l *Logged) {
	if l.Values == 0 {
		return
	}
	t.lg.ahead = true
	t.remark(i)
	at := int32(0)
	for k, size := range chunks(int(l.Bytes)) {
		if k > 0 {
			t.a.Load(q, enc.At(r, from))
		}
		t.a.LoadZX(q, enc.At(q, at), size)
		t.a.Store(enc.At(r, to+8*int32(k)), q)
		at += int32(size)
	}
	t.lg.ahead = false
	t.remark(i)
}

// remark repeats the last mark, for what is to be said of the code that follows.
func (t *translation) remark(i int) {
	var spills []spill
	if n := len(t.b.marks); n > 0 && t.lg.q == x86.NoReg {
		for _, s := range t.b.marks[n-1].spill {
			if s.used {
				spills = append(spills, s)
			}
		}
	}
	t.mark(i, spills...)
}

// logAfter logs what instruction i has stored.
func (t *translation) logAfter(i int, in *x86.Inst) {
	if !t.lg.on {
		return
	}
	if t.repeat {
		t.logRegs(i, in.Reads|in.Writes, func(_, r x86.Reg) { t.a.Store(enc.At(r, t.lg.off+8*RepeatAfter), x86.RCX) })
		t.lg.off += 8 * repeatWords
		return
	}
	mine := t.lg.ofInst(t.lg.next, i)
	off, stores := t.lg.off, false
	for k := range mine {
		stores = stores || mine[k].Values > 0
	}
	if stores {
		t.logRegs(i, 0, func(q, r x86.Reg) {
			for k := range mine {
				l := &mine[k]
				if l.Values > 0 {
					t.a.Load(q, enc.At(r, off))
					t.copyValue(i, q, r, off, off+8+8*int32(l.Values), l)
				}
				off += 8 * int32(l.Words())
			}
		})
	}
	t.logPass(mine)
}

// logPass moves on behind the accesses of an instruction.
func (t *translation) logPass(mine []Logged) {
	for k := range mine {
		t.lg.off += 8 * int32(mine[k].Words())
	}
	t.lg.next += len(mine)
}

// logEnd moves the log's pointer behind the block and gives the registers back: behind the last
// instruction, or before it if it is the one that leaves.
func (t *translation) logEnd(i int) {
	if !t.lg.on {
		return
	}
	t.logPass(t.lg.ofInst(t.lg.next, i)) // of an instruction that leaves
	a := &t.a
	if q, r := t.lg.q, t.lg.r; q != x86.NoReg {
		a.Lea(r, enc.At(r, t.lg.off))
		a.Store(gs(cpu.OffTracePtr), r)
		t.traceGiveBack(q, r)
	} else {
		a.Store(slotMem(slotTraceB), x86.RCX)
		a.Load(x86.RCX, gs(cpu.OffTracePtr))
		a.Lea(x86.RCX, enc.At(x86.RCX, t.lg.off))
		a.Store(gs(cpu.OffTracePtr), x86.RCX)
		a.Load(x86.RCX, slotMem(slotTraceB))
	}
	t.lg.q, t.lg.r, t.lg.done = x86.NoReg, x86.NoReg, true
	t.mark(i)
}

// cutLog keeps what a block has logged before the instruction, number inst, that has faulted.
func (e *Engine) cutLog(ctx *cpu.Context, b *block, m *mark) {
	if e.cfg.Mode != Log || m.logged {
		return
	}
	s, log, base := e.shapes[b.id], e.logs.of(ctx), e.logs.words(ctx)
	words := 1
	for k := range s.Accesses {
		if s.Accesses[k].Inst < int(m.inst) {
			words += s.Accesses[k].Words()
		}
	}
	if s.Repeat != nil {
		words += repeatWords
		log[base+1+RepeatAfter] = ctx.GPR[x86.RCX]
	}
	log[base] |= uint64(m.inst+1) << logCutShift
	ctx.TracePtr += 8 * uint64(words)
}
