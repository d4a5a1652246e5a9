package hook

import (
	"slices"

	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// The machine code of the hooks.

// asm assembles the few instructions of the hooks.
type asm struct{ enc.Asm }

// inSlot is a word of the ring, or of a slot in it: r11 points there.
func inSlot(off int) enc.Mem { return enc.At(x86.R11, int32(off)) }

// onStack is a word above the stack pointer.
func onStack(off int) enc.Mem { return enc.At(x86.RSP, int32(off)) }

// stub is the code that stands for one function.
type stub struct {
	code      []byte
	inside    int // offset where the function returns to
	frame     int // bytes from there to the original return address
	working   int // offset where the work returns to, 0 if there is none
	workFrame int // bytes from there to the original return address
	popped    int // offset behind which the stack is again as it was at the beginning; 0: does not matter
	trying    int // offset where an attempt at a lock returns to, frame bytes below it; 0 if there is none
}

// stubParams are what differs between stubs.
type stubParams struct {
	function  int    // index
	target    uint64 // the real function
	ring      uint64 // address of the ring in the program
	tidOffset int32  // of the thread id from FS
	stackArgs int    // bytes of arguments on the stack that must be passed on
	returns   bool   // record the return too
	work      bool   // one argument is a function that it runs: record when it runs
	body      int    // with work: which argument, 0 or 2; with task: any in a register
	task      bool   // one argument is a task's function: record the first call with it, and tasks that took slow cycles
	variadic  bool   // with work: the second argument counts those behind the function, which are the work's last ones
	thunks    uint64 // address of the thunks
	only      uint32 // record only calls with this first argument
	slow      uint32 // record at the return, if the call took so many cycles
	try       uint64 // with slow: the function that takes the lock if it is free, 0 = none
	refused   int32  // what it returns if the lock is taken
	contended bool   // record only if the word that the first argument points to is above 1
	goCall    *GoCall
	fetch     bool // record at the return what argument pointer points to, if the result is 0
	pointer   int
	pick      [3]Pick
	inside    bool   // the record is made inside of a function: what lies below the stack pointer is kept, and there is no return address
	place     uint64 // with inside: what stands for the return address
	budget    uint32 // where in the ring the number stands of records that may still be made; 0 = any number
}

// newStub assembles a stub:
//
//	record(entry); call target; record(return); ret
//
// or, when the return is of no interest, record(entry); jmp target. All argument registers
// reach the function, and its results the caller.
func newStub(p stubParams) stub {
	var a asm
	switch {
	case p.goCall != nil:
		return goStub(p)
	case p.task:
		return a.taskStub(p)
	case p.slow > 0:
		return a.slowStub(p)
	case p.contended:
		return a.contendedStub(p)
	}
	if p.work {
		return a.workStub(p)
	}
	plain := a.unless(p)
	a.record(p, Enter)
	if !p.returns {
		a.goTo(p.target)
		return stub{code: a.Code, inside: -1}
	}
	frame := 8 + p.stackArgs // keeps the stack aligned as the function expects it
	if p.stackArgs%16 != 0 {
		frame += 16 - p.stackArgs%16
	}
	a.SubImm32(x86.RSP, int32(frame))
	a.passOn(p.stackArgs, frame)
	keep := p.fetch && p.stackArgs == 0
	if keep {
		a.Store(onStack(0), argumentRegs()[p.pointer])
	}
	inside := a.call(p.target)
	if keep {
		a.Load(x86.RSI, onStack(0))
		a.Test32(x86.RAX)
		failed := a.JccShort(enc.CondNE)
		a.TestByte(x86.RSI, 7) // eight bytes from here may not all be there
		four := a.JccShort(enc.CondNE)
		a.Load(x86.RSI, enc.At(x86.RSI, 0))
		done := a.JmpShort()
		a.Bind(four)
		a.Load32(x86.RSI, enc.At(x86.RSI, 0))
		a.Bind(failed)
		a.Bind(done)
	}
	a.AddImm32(x86.RSP, int32(frame))
	a.record(p, Return)
	a.Ret()
	a.goOn(plain, p)
	return stub{code: a.Code, inside: inside, frame: frame}
}

// call calls a function by r11, and returns the offset that it returns to.
func (a *asm) call(target uint64) (back int) {
	a.MovImm64(x86.R11, target)
	a.CallReg(x86.R11)
	return len(a.Code)
}

// goTo jumps to a function by r11.
func (a *asm) goTo(target uint64) {
	a.MovImm64(x86.R11, target)
	a.JmpReg(x86.R11)
}

// unless jumps away from calls that are not to be recorded.
func (a *asm) unless(p stubParams) (away int) {
	if p.only == 0 {
		return 0
	}
	a.Cmp32Imm32(x86.RDI, int32(p.only))
	return a.JccFar(enc.CondNE)
}

// goOn is where the calls that were jumped away go on.
func (a *asm) goOn(away int, p stubParams) {
	if away == 0 {
		return
	}
	a.BindFar(away)
	a.goTo(p.target)
}

// slowFrame is the room for the first two arguments, later the start and the result, and what keeps
// the stack aligned.
const slowFrame = 24

// slowStub records calls that took long when they return: its second argument is then the cycles
// that it took. Reading the clock costs more than taking a free lock, so where the lock can be
// tried, only those who find it taken do that.
//
//	if r = try(lock, ...); r != refused { return r }
//	start = rdtsc; r = target(lock, ...); if rdtsc - start >= slow { record(lock, rdtsc - start) }; return r
func (a *asm) slowStub(p stubParams) stub {
	s := stub{frame: slowFrame, inside: -1}
	a.SubImm(x86.RSP, slowFrame)
	a.Store(onStack(0), x86.RDI)
	if p.try != 0 {
		s.trying = a.tryLock(p)
	}
	a.Mov(x86.R9, x86.RDX)
	a.clock()
	a.Store(onStack(8), x86.RAX)
	a.Mov(x86.RDX, x86.R9)
	s.inside = a.call(p.target)
	a.Store(onStack(16), x86.RAX)
	a.clock()
	a.SubMem(x86.RAX, onStack(8))
	a.Mov(x86.RSI, x86.RAX)
	a.Load(x86.RDI, onStack(0))
	a.Load(x86.RAX, onStack(16))
	a.AddImm(x86.RSP, slowFrame)
	a.CmpImm32(x86.RSI, int32(p.slow))
	out := a.JccFar(enc.CondB)
	a.record(p, Enter)
	a.BindFar(out)
	a.Ret()
	s.code = a.Code
	return s
}

// clock leaves the time stamp counter in rax; rdx is lost.
func (a *asm) clock() {
	a.Rdtsc()
	a.Shl(x86.RDX, 32)
	a.Or(x86.RAX, x86.RDX)
}

// tryLock returns from the stub if the lock was free; else it restores the arguments. It returns
// where the attempt returns to.
func (a *asm) tryLock(p stubParams) (trying int) {
	a.Store(onStack(8), x86.RSI)
	a.Store(onStack(16), x86.RDX)
	trying = a.call(p.try)
	a.CmpEAX(p.refused)
	taken := a.JccShort(enc.CondE)
	a.AddImm(x86.RSP, slowFrame)
	a.Ret()
	a.Bind(taken)
	a.Load(x86.RDI, onStack(0))
	a.Load(x86.RSI, onStack(8))
	a.Load(x86.RDX, onStack(16))
	return trying
}

// contendedStub records the call only if others wait, as the word that the argument points to says.
func (a *asm) contendedStub(p stubParams) stub {
	a.Cmp32Short(enc.At(x86.RDI, 0), 1)
	free := a.JccFar(enc.CondBE)
	a.record(p, Enter)
	a.BindFar(free)
	a.goTo(p.target)
	return stub{code: a.Code, inside: -1}
}

// passOn copies the arguments on the stack into a new frame.
func (a *asm) passOn(stackArgs, frame int) {
	for off := 0; off < stackArgs; off += 8 {
		from, to := onStack(frame+8+off), onStack(off)
		from.Least, to.Least = 4, 4
		a.Load(x86.R11, from)
		a.Store(to, x86.R11)
	}
}

// The first and the last instructions of a record push and pop the registers that it uses.
const (
	pushBytes   = 5
	popBytes    = 5
	recordSaves = 4 * 8
)

// record writes a slot. It saves the registers that it uses; the flags are dead at the entry and at
// the return of a function (System V ABI, 3.2.1).
func (a *asm) record(p stubParams, phase Phase) {
	if p.inside {
		a.Lea(x86.RSP, onStack(-redZone))
	}
	above := recordSaves // from the stack pointer to the return address, or to below the word on top of the stack, where one would be
	if p.inside {
		above += redZone - 8
	}
	full := a.claim(p)
	a.Load32(x86.RAX, enc.FS(p.tidOffset))
	a.Store32(inSlot(slotTID), x86.RAX)
	a.what(p, phase)
	a.arguments(p, phase)
	a.where(p, above)
	for i := 0; i < StackWords && phase == Enter; i++ {
		a.Load(x86.RAX, onStack(above+8+8*i))
		a.Store(inSlot(slotStack+8*i), x86.RAX)
	}
	a.publish(full)
	if p.inside {
		a.Lea(x86.RSP, onStack(redZone))
	}
}

// noSlot is where the code jumps away that finds no room in the ring, or may make no record.
type noSlot struct{ lost, none int }

// claim leaves a slot in r11, what publishes it in rcx, and the time in the slot. A processor may
// read its time stamp counter before earlier instructions are done (Intel SDM 2B, RDTSC), even
// before it knows that a wait is over: the fence keeps the stamp behind the claim, and behind
// whatever the thread saw of others before it.
func (a *asm) claim(p stubParams) noSlot {
	for _, r := range saved() {
		a.Push(r)
	}
	a.MovImm64(x86.R11, p.ring)
	none := a.spend(p)
	a.MovImm(x86.RAX, 1)
	a.Lock()
	a.Xadd(enc.Mem{Base: x86.R11, Index: x86.NoReg, Disp: offHead, Least: 1}, x86.RAX)
	a.Mov(x86.RCX, x86.RAX)
	a.SubMem(x86.RCX, inSlot(offTail))
	a.CmpImm32(x86.RCX, ringSlots)
	lost := a.JccFar(enc.CondAE)
	a.Mov(x86.RCX, x86.RAX)
	a.And32(x86.RCX, ringSlots-1)
	a.Shl(x86.RCX, slotShift)
	a.Lea(x86.R11, enc.Mem{Base: x86.R11, Index: x86.RCX, Scale: 1, Disp: ringHeader})
	a.Mov(x86.RCX, x86.RAX)
	a.IncReg(x86.RCX)
	a.Lfence()
	a.clock()
	a.Store(inSlot(slotTSC), x86.RAX)
	return noSlot{lost, none}
}

// saved are the registers that a record uses.
func saved() []x86.Reg { return []x86.Reg{x86.RAX, x86.RCX, x86.RDX, x86.R11} }

// slotShift is the logarithm of slotBytes.
const slotShift = 7

func (a *asm) what(p stubParams, phase Phase) {
	a.StoreImm32(inSlot(slotWhat), int32(uint32(p.function)<<2|uint32(phase)))
}

// arguments records Arg0 and Arg1.
func (a *asm) arguments(p stubParams, phase Phase) {
	switch {
	case phase == Enter && p.work:
		a.Load(x86.RAX, enc.At(x86.R10, 0))
		a.Store(inSlot(slotArg0), x86.RAX)
	case phase == Enter || phase == Begin || p.task:
		a.Store(inSlot(slotArg0), x86.RDI)
	default:
		a.Load(x86.RAX, onStack(recordSaves-8)) // the result
		a.Store(inSlot(slotArg0), x86.RAX)
	}
	switch {
	case p.work:
		a.Store(inSlot(slotArg1), x86.R10)
	case p.only > 0 && phase == Enter:
		a.Store(inSlot(slotArg0), x86.RSI)
		a.Load32(x86.RAX, onStack(8)) // edx
		a.Store32(inSlot(slotArg1), x86.RAX)
		a.Load32(x86.RAX, onStack(16)) // ecx
		a.Store32(inSlot(slotArg1+4), x86.RAX)
	case phase == Enter && p.pick != [3]Pick{}:
		a.pick(p.pick[0], slotArg0, a.Store)
		a.pick(p.pick[1], slotArg1, a.Store)
		a.pick(p.pick[2], slotArg1+4, a.Store32)
	default:
		a.Store(inSlot(slotArg1), x86.RSI)
	}
}

// Pick is an argument that comes in a register: its number and one more, 0 = none.
type Pick int

// argumentRegs are the registers that arguments come in (System V ABI, 3.2.3).
func argumentRegs() [6]x86.Reg {
	return [6]x86.Reg{x86.RDI, x86.RSI, x86.RDX, x86.RCX, x86.R8, x86.R9}
}

// pick records an argument in a slot's field. rdx and rcx were saved above the stack pointer, and
// hold something else by now.
func (a *asm) pick(p Pick, field int, store func(enc.Mem, x86.Reg)) {
	if p == 0 {
		return
	}
	r := argumentRegs()[p-1]
	switch r {
	case x86.RDX:
		a.Load(x86.RAX, onStack(8))
		r = x86.RAX
	case x86.RCX:
		a.Load(x86.RAX, onStack(16))
		r = x86.RAX
	}
	store(inSlot(field), r)
}

// where records the return address, above bytes over the stack pointer, and the pointers to the
// stack.
func (a *asm) where(p stubParams, above int) {
	if p.inside {
		a.MovImm64(x86.RAX, p.place)
	} else {
		a.Load(x86.RAX, onStack(above)) // the return address
	}
	a.Store(inSlot(slotRet), x86.RAX)
	a.Lea(x86.RAX, onStack(above))
	a.Store(inSlot(slotSP), x86.RAX)
	a.Store(inSlot(slotFP), x86.RBP)
}

// publish ends a record, and what claim began.
func (a *asm) publish(full noSlot) {
	a.Store(inSlot(slotSeq), x86.RCX)
	done := a.JmpShort()
	a.BindFar(full.lost)
	a.Lock()
	a.Inc(inSlot(offLost))
	a.Bind(done)
	if full.none > 0 {
		a.BindFar(full.none)
	}
	for _, r := range slices.Backward(saved()) {
		a.Pop(r)
	}
}

// redZone is what code may use below its stack pointer (System V ABI, 3.2.2).
const redZone = 128

// spend takes one off the records that may still be made, and jumps away if there are none left.
// r11 is the ring.
func (a *asm) spend(p stubParams) (none int) {
	if p.budget == 0 {
		return 0
	}
	a.Cmp32Short(inSlot(int(p.budget)), 0)
	none = a.JccFar(enc.CondLE)
	a.Lock()
	a.Dec32(inSlot(int(p.budget)))
	return none
}
