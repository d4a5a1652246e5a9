package hook

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"slices"

	"lime/internal/x86"
)

// Go programs. Their functions are found by the table that every Go program carries, a stripped one too, and get a jump behind the check of the stack
// that they begin with, so that nothing leads back to it. Only calls are recorded, never a return: a frame of lime's on a goroutine's stack would be one that
// the runtime, which moves and scans stacks, does not know. A hook takes 32 bytes of the stack, which the check has left room for (at least 800).

// GoCall says what is recorded of a function of a Go program: Arg0 is its first argument, Arg1 the goroutine.
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

// The layout of goroutines and threads (runtime2.go: g, gobuf and m; goroutines' records are in R14, as the internal ABI has it).
const (
	gStackHi = 8
	gM       = 48
	gSchedPC = 64
	mG0      = 0
	mProcIDs = 48 // the thread's id stands somewhere from here
	mProcEnd = 128
)

// goTable returns the section with the table of functions, nil if this is no Go program.
func goTable(f *elf.File) *elf.Section {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := f.Section(name); s != nil {
			return s
		}
	}
	return nil
}

// readGo takes in the functions of a Go program.
func (im *image) readGo(f *elf.File, wanted map[string]bool) (err error) {
	defer func() {
		if p := recover(); p != nil { // the table is damaged
			err = fmt.Errorf("%s: table of Go's functions: %v", im.path, p)
		}
	}()
	text := f.Section(".text")
	if text == nil {
		return fmt.Errorf("%s: no code: %w", im.path, ErrGo)
	}
	at := text.Addr
	if syms, err := f.Symbols(); err == nil {
		if i := slices.IndexFunc(syms, func(s elf.Symbol) bool { return s.Name == "runtime.text" }); i >= 0 {
			at = syms[i].Value
		}
	}
	data, err := goTable(f).Data()
	if err != nil {
		return fmt.Errorf("%s: table of Go's functions: %w", im.path, err)
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(data, at))
	if err != nil {
		return fmt.Errorf("%s: table of Go's functions: %w", im.path, err)
	}
	im.golang = true
	for i := range t.Funcs {
		fn := &t.Funcs[i]
		im.starts = append(im.starts, fn.Entry+im.bias)
		if fn.Name == "runtime.main" {
			im.main = fn.Entry + im.bias
		}
		if wanted[fn.Name] {
			im.defs[fn.Name] = fn.Entry + im.bias
		}
	}
	slices.Sort(im.starts)
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

// prepareGo lets a Go program run up to its main function, if it is not beyond that, and finds where the runtime keeps a thread's id. It returns the
// goroutine that begins the program, 0 if that has begun before.
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

// stackCheck is the length of the check of the stack that a function begins with, 0 if there is none: a comparison with a limit in the goroutine, and
// a branch.
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
	a.raw(0x49, 0x8b, 0x46, gM) // mov rax, [r14+m]
	a.raw(0x8b, 0x80)           // mov eax, [rax+id]
	a.imm32(uint32(p.tidOffset))
	a.raw(0x41, 0x89, 0x43, slotTID)
	a.what(p, Enter)
	a.raw(0x48, 0x8b, 0x44, 0x24, recordSaves-8) // mov rax, [rsp+24]: the first argument
	a.raw(0x49, 0x89, 0x43, slotArg0)
	a.goExtra(p.goCall.Extra)
	a.raw(0x4d, 0x89, 0x73, slotArg1) // mov [r11+arg1], r14
	a.where(p, recordSaves)
	a.goFrames(p.goCall.Frames)
	a.publish(full)
	popped := len(a.b)
	a.jumpTo(p.target)
	return stub{code: a.b, inside: -1, popped: popped}
}

// goExtra records the further word; rax is the first argument.
func (a *asm) goExtra(x GoExtra) {
	const at, page = slotStack + 8*GoFrames, 4096
	switch x {
	case GoSecond:
		a.raw(0x49, 0x89, 0x5b, at) // mov [r11+extra], rbx
	case GoPointed, GoResumes:
		a.raw(0x48, 0x3d) // cmp rax, page: nil, the function will find
		a.imm32(page)
		a.raw(0x72, 8) // jb over
		off := byte(0)
		if x == GoResumes {
			off = gSchedPC
		}
		a.raw(0x48, 0x8b, 0x40, off, 0x49, 0x89, 0x43, at) // mov rax, [rax+off]; mov [r11+extra], rax
	}
}

// goFrames records where the callers return to, as long as the frame pointers lead up the goroutine's stack.
func (a *asm) goFrames(walk bool) {
	for i := range byte(GoFrames) {
		a.raw(0x49, 0xc7, 0x43, slotStack+8*i, 0, 0, 0, 0) // mov qword [r11+stack+8*i], 0
	}
	if !walk {
		return
	}
	a.raw(0x48, 0x89, 0xe8) // mov rax, rbp
	var out []int
	away := func(cc byte) {
		a.raw(0x0f, cc)
		a.imm32(0)
		out = append(out, len(a.b))
	}
	for i := range byte(GoFrames) {
		a.raw(0x48, 0x39, 0xe0)                                     // cmp rax, rsp
		away(0x82)                                                  // jb done
		a.raw(0x48, 0x8d, 0x50, 16, 0x49, 0x3b, 0x56, gStackHi)     // lea rdx, [rax+16]; cmp rdx, [r14+hi]
		away(0x87)                                                  // ja done
		a.raw(0x48, 0x8b, 0x50, 8, 0x49, 0x89, 0x53, slotStack+8*i) // mov rdx, [rax+8]; mov [r11+stack+8*i], rdx
		a.raw(0x48, 0x8b, 0x00)                                     // mov rax, [rax]
	}
	for _, at := range out {
		a.reach(at)
	}
}

// GoExtra is the further word of a record.
func (r *Record) GoExtra() uint64 { return r.Stack[GoFrames] }

// GoID is the goroutine that made the call, as the runtime names it on the thread: its own, or the thread's scheduler.
func (r *Record) GoID() uint64 { return r.Arg1 }
