package hook

import (
	"errors"
	"fmt"
	"slices"

	"lime/internal/binfile"
	"lime/internal/symbol"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Go programs. Their functions are found by the table that every Go program carries, a stripped one
// too, and get a jump behind the check of the stack that they begin with, so that nothing leads
// back to it. Only calls are recorded, never a return: a frame of lime's on a goroutine's stack
// would be one that the runtime, which moves and scans stacks, does not know. A hook takes 32 bytes
// of the stack, which the check has left room for (at least 800).

// GoCall says what is recorded of a function of a Go program: Arg0 is its first argument, Arg1 the
// goroutine.
type GoCall struct {
	Frames bool    // Stack has the callers further out, as the frame pointers have them
	Extra  GoExtra // Stack[GoFrames] has something else
}

// GoExtra is one further word of a record.
type GoExtra uint8

// The further words.
const (
	GoNothing GoExtra = iota
	GoSecond          // the second argument
	GoPointed         // what the first argument points to
	GoResumes         // where the goroutine that is the first argument goes on
)

// GoFrames is how many callers beyond the first a record has.
const GoFrames = StackWords - 1

// ErrGo is returned for a Go program whose runtime is not laid out as lime knows it.
var ErrGo = errors.New("the program's Go runtime is not laid out as lime knows it (from Go 1.22 on)")

// The layout of goroutines and threads (runtime2.go: g, gobuf and m; goroutines' records are in
// R14, as the internal ABI has it).
const (
	gStackHi = 8
	gM       = 48
	gSchedPC = 64
	mG0      = 0
	mProcIDs = 48 // the thread's id stands somewhere from here
	mProcEnd = 128
)

// readGo takes in the functions of a Go program.
func (im *image) readGo(f *binfile.File, wanted map[string]bool) error {
	list := symbol.GoFunctions(f)
	if len(list) == 0 {
		return fmt.Errorf("%s: its table of functions is missing or damaged: %w", im.path, ErrGo)
	}
	im.golang = true
	for i := range list {
		fn := &list[i]
		im.starts = append(im.starts, fn.Addr+im.bias)
		if fn.Name == "runtime.main" {
			im.main = fn.Addr + im.bias
		}
		if wanted[fn.Name] {
			im.defs[fn.Name] = fn.Addr + im.bias
		}
	}
	im.starts = slices.Compact(im.starts)
	return nil
}

// goImage returns the program if it is one of Go's.
func goImage(ims []image) *image {
	if len(ims) > 0 && ims[0].golang {
		return &ims[0]
	}
	return nil
}

// prepareGo lets a Go program run up to its main function, if it is not beyond that, and finds
// where the runtime keeps a thread's id. It returns the goroutine that begins the program, 0 if
// that has begun before.
func (t *Tracee) prepareGo(im *image) (procID int32, main uint64, err error) {
	if im.main == 0 || len(im.defs) == 0 {
		return 0, 0, ErrGo
	}
	im.code = &codeMap{starts: im.starts, read: t.read}
	for tid := range t.held {
		if off, err := t.goThreadID(tid); err == nil {
			return off, 0, nil
		}
	}
	if len(t.held) > 1 {
		return 0, 0, ErrGo
	}
	if err := t.runTo(im.main + uint64(stackCheck(im.code.body(im.main)))); err != nil {
		return 0, 0, err
	}
	regs, err := t.registers(t.PID)
	if err != nil {
		return 0, 0, err
	}
	procID, err = t.goThreadID(t.PID)
	return procID, regs.R14, err
}

// goThreadID finds where, in the runtime's description of a thread, its id stands.
func (t *Tracee) goThreadID(tid int) (int32, error) {
	regs, err := t.registers(tid)
	if err != nil {
		return 0, err
	}
	tls, _ := t.word(regs.Fs_base - 8)
	for _, g := range []uint64{regs.R14, tls} {
		m, err := t.word(g + gM)
		if err != nil {
			continue
		}
		g0, err0 := t.word(m + mG0)
		if back, err := t.word(g0 + gM); err0 != nil || err != nil || back != m {
			continue
		}
		for off := uint64(mProcIDs); off < mProcEnd; off += 8 {
			if id, err := t.word(m + off); err == nil && id == uint64(tid) {
				return int32(off), nil
			}
		}
	}
	return 0, ErrGo
}

// stackCheck is the length of the check of the stack that a function begins with, 0 if there is
// none: a comparison with a limit in the goroutine, and a branch.
func stackCheck(body []byte) int {
	const most = 4
	var in x86.Inst
	limit := false
	for at, i := 0, 0; i < most && at < len(body) && x86.Decode(body[at:], &in) == nil; i++ {
		limit = limit || in.HasMem && in.Mem.Base == x86.R14
		at += int(in.Len)
		if in.Branch == x86.BranchCond && limit {
			return at
		}
		if in.EndsBlock() {
			return 0
		}
	}
	return 0
}

// goStub records a call in a Go program, and goes on with the function.
func goStub(p stubParams) stub {
	var a asm
	full := a.claim(p)
	a.Load(x86.RAX, enc.At(x86.R14, gM))
	a.Load32(x86.RAX, enc.Mem{Base: x86.RAX, Index: x86.NoReg, Disp: p.tidOffset, Least: 4})
	a.Store32(inSlot(slotTID), x86.RAX)
	a.what(p, Enter)
	a.Load(x86.RAX, onStack(recordSaves-8)) // the first argument
	a.Store(inSlot(slotArg0), x86.RAX)
	a.goExtra(p.goCall.Extra)
	a.Store(inSlot(slotArg1), x86.R14)
	a.where(p, recordSaves)
	a.goFrames(p.goCall.Frames)
	a.publish(full)
	popped := len(a.Code)
	a.jumpTo(p.target)
	return stub{code: a.Code, inside: -1, popped: popped}
}

// goExtra records the further word; rax is the first argument.
func (a *asm) goExtra(x GoExtra) {
	const at, page = slotStack + 8*GoFrames, 4096
	switch x {
	case GoSecond:
		a.Store(inSlot(at), x86.RBX)
	case GoPointed, GoResumes:
		a.CmpRAX(page) // nil: the function will find
		over := a.JccShort(enc.CondB)
		off := int32(0)
		if x == GoResumes {
			off = gSchedPC
		}
		a.Load(x86.RAX, enc.Mem{Base: x86.RAX, Index: x86.NoReg, Disp: off, Least: 1})
		a.Store(inSlot(at), x86.RAX)
		a.Bind(over)
	}
}

// goFrames records where the callers return to, as long as the frame pointers lead up the
// goroutine's stack.
func (a *asm) goFrames(walk bool) {
	for i := range GoFrames {
		a.StoreImm(inSlot(slotStack+8*i), 0)
	}
	if !walk {
		return
	}
	a.Mov(x86.RAX, x86.RBP)
	var done []int
	for i := range GoFrames {
		a.CmpRegs(x86.RAX, x86.RSP)
		done = append(done, a.JccFar(enc.CondB))
		a.Lea(x86.RDX, enc.At(x86.RAX, 16))
		a.CmpReg(x86.RDX, enc.At(x86.R14, gStackHi))
		done = append(done, a.JccFar(enc.CondA))
		a.Load(x86.RDX, enc.At(x86.RAX, 8))
		a.Store(inSlot(slotStack+8*i), x86.RDX)
		a.Load(x86.RAX, enc.At(x86.RAX, 0))
	}
	for _, at := range done {
		a.BindFar(at)
	}
}

// GoExtra is the further word of a record.
func (r *Record) GoExtra() uint64 { return r.Stack[GoFrames] }

// GoID is the goroutine that made the call, as the runtime names it on the thread: its own, or the
// thread's scheduler.
func (r *Record) GoID() uint64 { return r.Arg1 }
