package hook

import "encoding/binary"

// asm assembles the few instructions of the hooks.
type asm struct{ b []byte }

func (a *asm) raw(b ...byte)  { a.b = append(a.b, b...) }
func (a *asm) imm32(v uint32) { a.b = binary.LittleEndian.AppendUint32(a.b, v) }
func (a *asm) imm64(v uint64) { a.b = binary.LittleEndian.AppendUint64(a.b, v) }

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
	body      int    // with work: which argument, 0 or 2
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
	pick      [2]Pick
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
		a.raw(0x49, 0xbb) // mov r11, target
		a.imm64(p.target)
		a.raw(0x41, 0xff, 0xe3) // jmp r11
		return stub{code: a.b, inside: -1}
	}
	frame := 8 + p.stackArgs // keeps the stack aligned as the function expects it
	if p.stackArgs%16 != 0 {
		frame += 16 - p.stackArgs%16
	}
	a.raw(0x48, 0x81, 0xec) // sub rsp, frame
	a.imm32(uint32(frame))
	a.passOn(p.stackArgs, frame)
	keep := p.fetch && p.stackArgs == 0
	if keep {
		a.raw(keepArgument(p.pointer)...) // mov [rsp], ARGUMENT
	}
	a.raw(0x49, 0xbb) // mov r11, target
	a.imm64(p.target)
	a.raw(0x41, 0xff, 0xd3) // call r11
	inside := len(a.b)
	if keep {
		a.raw(0x48, 0x8b, 0x34, 0x24) // mov rsi, [rsp]
		a.raw(0x85, 0xc0)             // test eax, eax
		a.raw(0x75, 13)               // jnz done
		a.raw(0x40, 0xf6, 0xc6, 7)    // test sil, 7: eight bytes from here may not all be there
		a.raw(0x75, 5)                // jnz four
		a.raw(0x48, 0x8b, 0x36)       // mov rsi, [rsi]
		a.raw(0xeb, 2)                // jmp done
		a.raw(0x8b, 0x36)             // four: mov esi, [rsi]
	}
	a.raw(0x48, 0x81, 0xc4) // add rsp, frame
	a.imm32(uint32(frame))
	a.record(p, Return)
	a.raw(0xc3) // ret
	a.goOn(plain, p)
	return stub{code: a.b, inside: inside, frame: frame}
}

// unless jumps away from calls that are not to be recorded.
func (a *asm) unless(p stubParams) (away int) {
	if p.only == 0 {
		return 0
	}
	a.raw(0x81, 0xff) // cmp edi, only
	a.imm32(p.only)
	a.raw(0x0f, 0x85) // jne away
	a.imm32(0)
	return len(a.b)
}

// goOn is where the calls that were jumped away go on.
func (a *asm) goOn(away int, p stubParams) {
	if away == 0 {
		return
	}
	a.reach(away)
	a.raw(0x49, 0xbb) // mov r11, target
	a.imm64(p.target)
	a.raw(0x41, 0xff, 0xe3) // jmp r11
}

// slowFrame is the room for the first two arguments, later the start and the result, and what keeps the stack aligned.
const slowFrame = 24

// slowStub records calls that took long when they return: its second argument is then the cycles that it took. Reading the
// clock costs more than taking a free lock, so where the lock can be tried, only those who find it taken do that.
//
//	if r = try(lock, ...); r != refused { return r }
//	start = rdtsc; r = target(lock, ...); if rdtsc - start >= slow { record(lock, rdtsc - start) }; return r
func (a *asm) slowStub(p stubParams) stub {
	s := stub{frame: slowFrame, inside: -1}
	a.raw(0x48, 0x83, 0xec, slowFrame) // sub rsp, frame
	a.raw(0x48, 0x89, 0x3c, 0x24)      // mov [rsp], rdi
	if p.try != 0 {
		s.trying = a.tryLock(p)
	}
	a.raw(0x49, 0x89, 0xd1) // mov r9, rdx
	a.clock()
	a.raw(0x48, 0x89, 0x44, 0x24, 8) // mov [rsp+8], rax
	a.raw(0x4c, 0x89, 0xca)          // mov rdx, r9
	a.raw(0x49, 0xbb)                // mov r11, target
	a.imm64(p.target)
	a.raw(0x41, 0xff, 0xd3) // call r11
	s.inside = len(a.b)
	a.raw(0x48, 0x89, 0x44, 0x24, 16) // mov [rsp+16], rax
	a.clock()
	a.raw(0x48, 0x2b, 0x44, 0x24, 8)  // sub rax, [rsp+8]
	a.raw(0x48, 0x89, 0xc6)           // mov rsi, rax
	a.raw(0x48, 0x8b, 0x3c, 0x24)     // mov rdi, [rsp]
	a.raw(0x48, 0x8b, 0x44, 0x24, 16) // mov rax, [rsp+16]
	a.raw(0x48, 0x83, 0xc4, slowFrame)
	a.raw(0x48, 0x81, 0xfe) // cmp rsi, slow
	a.imm32(p.slow)
	a.raw(0x0f, 0x82) // jb out
	out := len(a.b)
	a.imm32(0)
	a.record(p, Enter)
	binary.LittleEndian.PutUint32(a.b[out:], uint32(len(a.b)-out-4))
	a.raw(0xc3)
	s.code = a.b
	return s
}

// clock is rdtsc; shl rdx, 32; or rax, rdx.
func (a *asm) clock() { a.raw(0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0) }

// tryLock returns from the stub if the lock was free; else it restores the arguments. It returns where the attempt returns to.
func (a *asm) tryLock(p stubParams) (trying int) {
	a.raw(0x48, 0x89, 0x74, 0x24, 8)  // mov [rsp+8], rsi
	a.raw(0x48, 0x89, 0x54, 0x24, 16) // mov [rsp+16], rdx
	a.raw(0x49, 0xbb)                 // mov r11, try
	a.imm64(p.try)
	a.raw(0x41, 0xff, 0xd3) // call r11
	trying = len(a.b)
	a.raw(0x3d) // cmp eax, refused
	a.imm32(uint32(p.refused))
	a.raw(0x74, 5)                     // je taken
	a.raw(0x48, 0x83, 0xc4, slowFrame) // add rsp, frame
	a.raw(0xc3)
	a.raw(0x48, 0x8b, 0x3c, 0x24)     // taken: mov rdi, [rsp]
	a.raw(0x48, 0x8b, 0x74, 0x24, 8)  // mov rsi, [rsp+8]
	a.raw(0x48, 0x8b, 0x54, 0x24, 16) // mov rdx, [rsp+16]
	return trying
}

// contendedStub records the call only if others wait, as the word that the argument points to says.
func (a *asm) contendedStub(p stubParams) stub {
	a.raw(0x83, 0x3f, 1) // cmp dword [rdi], 1
	a.raw(0x0f, 0x86)    // jbe go
	out := len(a.b)
	a.imm32(0)
	a.record(p, Enter)
	binary.LittleEndian.PutUint32(a.b[out:], uint32(len(a.b)-out-4))
	a.raw(0x49, 0xbb) // go: mov r11, target
	a.imm64(p.target)
	a.raw(0x41, 0xff, 0xe3) // jmp r11
	return stub{code: a.b, inside: -1}
}

// passOn copies the arguments on the stack into a new frame.
func (a *asm) passOn(stackArgs, frame int) {
	for off := 0; off < stackArgs; off += 8 { // mov r11, [rsp+frame+8+off]; mov [rsp+off], r11
		a.raw(0x4c, 0x8b, 0x9c, 0x24)
		a.imm32(uint32(frame + 8 + off))
		a.raw(0x4c, 0x89, 0x9c, 0x24)
		a.imm32(uint32(off))
	}
}

// The first and the last instructions of a record push and pop the registers that it uses.
const (
	pushBytes   = 5
	popBytes    = 5
	recordSaves = 4 * 8
)

// record writes a slot. It saves the registers that it uses; the flags are dead at the entry and at the
// return of a function (System V ABI, 3.2.1).
func (a *asm) record(p stubParams, phase Phase) {
	if p.inside {
		a.raw(0x48, 0x8d, 0x64, 0x24, 0x100-redZone) // lea rsp, [rsp-redZone]
	}
	above := recordSaves // from the stack pointer to the return address, or to below the word on top of the stack, where one would be
	if p.inside {
		above += redZone - 8
	}
	full := a.claim(p)
	a.raw(0x64, 0x8b, 0x04, 0x25) // mov eax, fs:[tid]
	a.imm32(uint32(p.tidOffset))
	a.raw(0x41, 0x89, 0x43, slotTID)
	a.what(p, phase)
	a.arguments(p, phase)
	a.where(p, above)
	for i := byte(0); i < StackWords && phase == Enter; i++ {
		a.stackWord(0x8b, above+8+8*int(i))    // mov rax, [rsp+above+8+8*i]
		a.raw(0x49, 0x89, 0x43, slotStack+8*i) // mov [r11+stack+8*i], rax
	}
	a.publish(full)
	if p.inside {
		a.raw(0x48, 0x8d, 0xa4, 0x24) // lea rsp, [rsp+redZone]
		a.imm32(redZone)
	}
}

// noSlot is where the code jumps away that finds no room in the ring, or may make no record.
type noSlot struct{ lost, none int }

// claim leaves a slot in r11, what publishes it in rcx, and the time in the slot.
func (a *asm) claim(p stubParams) noSlot {
	a.raw(0x50, 0x51, 0x52, 0x41, 0x53) // push rax, rcx, rdx, r11
	a.raw(0x49, 0xbb)                   // mov r11, ring
	a.imm64(p.ring)
	none := a.spend(p)
	a.raw(0xb8, 1, 0, 0, 0)                      // mov eax, 1
	a.raw(0xf0, 0x49, 0x0f, 0xc1, 0x43, offHead) // lock xadd [r11+head], rax
	a.raw(0x48, 0x89, 0xc1)                      // mov rcx, rax
	a.raw(0x49, 0x2b, 0x4b, offTail)             // sub rcx, [r11+tail]
	a.raw(0x48, 0x81, 0xf9)                      // cmp rcx, slots
	a.imm32(ringSlots)
	a.raw(0x0f, 0x83) // jae lost
	lost := len(a.b)
	a.imm32(0)
	a.raw(0x48, 0x89, 0xc1) // mov rcx, rax
	a.raw(0x81, 0xe1)       // and ecx, slots-1
	a.imm32(ringSlots - 1)
	a.raw(0x48, 0xc1, 0xe1, 7)    // shl rcx, 7
	a.raw(0x4d, 0x8d, 0x9c, 0x0b) // lea r11, [r11+rcx+header]
	a.imm32(ringHeader)
	a.raw(0x48, 0x89, 0xc1)       // mov rcx, rax
	a.raw(0x48, 0xff, 0xc1)       // inc rcx
	a.raw(0x0f, 0x31)             // rdtsc
	a.raw(0x48, 0xc1, 0xe2, 0x20) // shl rdx, 32
	a.raw(0x48, 0x09, 0xd0)       // or rax, rdx
	a.raw(0x49, 0x89, 0x43, slotTSC)
	return noSlot{lost, none}
}

func (a *asm) what(p stubParams, phase Phase) {
	a.raw(0x41, 0xc7, 0x43, slotWhat) // mov dword [r11+what], imm
	a.imm32(uint32(p.function)<<2 | uint32(phase))
}

// arguments records Arg0 and Arg1.
func (a *asm) arguments(p stubParams, phase Phase) {
	switch {
	case phase == Enter && p.work:
		a.raw(0x49, 0x8b, 0x02, 0x49, 0x89, 0x43, slotArg0) // mov rax, [r10]; mov [r11+arg0], rax
	case phase == Enter || phase == Begin:
		a.raw(0x49, 0x89, 0x7b, slotArg0) // mov [r11+arg0], rdi
	default:
		a.raw(0x48, 0x8b, 0x44, 0x24, recordSaves-8) // mov rax, [rsp+24]: the result
		a.raw(0x49, 0x89, 0x43, slotArg0)
	}
	switch {
	case p.work:
		a.raw(0x4d, 0x89, 0x53, slotArg1) // mov [r11+arg1], r10
	case p.only > 0 && phase == Enter:
		a.raw(0x49, 0x89, 0x73, slotArg0)                         // mov [r11+arg0], rsi
		a.raw(0x8b, 0x44, 0x24, 8, 0x41, 0x89, 0x43, slotArg1)    // mov eax, [rsp+8]: edx; mov [r11+arg1], eax
		a.raw(0x8b, 0x44, 0x24, 16, 0x41, 0x89, 0x43, slotArg1+4) // mov eax, [rsp+16]: ecx; mov [r11+arg1+4], eax
	case phase == Enter && p.pick != [2]Pick{}:
		a.pick(p.pick[0], slotArg0)
		a.pick(p.pick[1], slotArg1)
	default:
		a.raw(0x49, 0x89, 0x73, slotArg1) // mov [r11+arg1], rsi
	}
}

// Pick is an argument that comes in a register: its number and one more, 0 = none.
type Pick int

// keepArgument is mov [rsp], ARGUMENT.
func keepArgument(n int) []byte {
	return [...][]byte{{0x48, 0x89, 0x3c, 0x24}, {0x48, 0x89, 0x34, 0x24}, {0x48, 0x89, 0x14, 0x24}, {0x48, 0x89, 0x0c, 0x24}, {0x4c, 0x89, 0x04, 0x24}, {0x4c, 0x89, 0x0c, 0x24}}[n]
}

// pick records an argument in a slot's field. rdx and rcx were saved above the stack pointer, and hold something else by now.
func (a *asm) pick(p Pick, field byte) {
	switch p {
	case 1:
		a.raw(0x49, 0x89, 0x7b, field) // mov [r11+field], rdi
	case 2:
		a.raw(0x49, 0x89, 0x73, field) // mov [r11+field], rsi
	case 3:
		a.raw(0x48, 0x8b, 0x44, 0x24, 8, 0x49, 0x89, 0x43, field) // mov rax, [rsp+8]; mov [r11+field], rax
	case 4:
		a.raw(0x48, 0x8b, 0x44, 0x24, 16, 0x49, 0x89, 0x43, field) // mov rax, [rsp+16]; mov [r11+field], rax
	case 5:
		a.raw(0x4d, 0x89, 0x43, field) // mov [r11+field], r8
	case 6:
		a.raw(0x4d, 0x89, 0x4b, field) // mov [r11+field], r9
	}
}

// where records the return address, above bytes over the stack pointer, and the pointers to the stack.
func (a *asm) where(p stubParams, above int) {
	if p.inside {
		a.raw(0x48, 0xb8) // mov rax, place
		a.imm64(p.place)
	} else {
		a.stackWord(0x8b, above) // mov rax, [rsp+above]: the return address
	}
	a.raw(0x49, 0x89, 0x43, slotRet) // mov [r11+ret], rax
	a.stackWord(0x8d, above)         // lea rax, [rsp+above]
	a.raw(0x49, 0x89, 0x43, slotSP)  // mov [r11+sp], rax
	a.raw(0x49, 0x89, 0x6b, slotFP)  // mov [r11+fp], rbp
}

// publish ends a record, and what claim began.
func (a *asm) publish(full noSlot) {
	a.raw(0x49, 0x89, 0x0b) // mov [r11+seq], rcx: published
	a.raw(0xeb, 0)          // jmp done
	done := len(a.b)
	binary.LittleEndian.PutUint32(a.b[full.lost:], uint32(len(a.b)-full.lost-4))
	a.raw(0xf0, 0x49, 0xff, 0x83) // lost: lock inc qword [r11+lost]
	a.imm32(offLost)
	a.b[done-1] = byte(len(a.b) - done)
	if full.none > 0 {
		a.reach(full.none)
	}
	a.raw(0x41, 0x5b, 0x5a, 0x59, 0x58) // done: pop r11, rdx, rcx, rax
}

// redZone is what code may use below its stack pointer (System V ABI, 3.2.2).
const redZone = 128

// stackWord is mov (8b) or lea (8d) of rax and [rsp+off].
func (a *asm) stackWord(opcode byte, off int) {
	if off < 128 {
		a.raw(0x48, opcode, 0x44, 0x24, byte(off))
		return
	}
	a.raw(0x48, opcode, 0x84, 0x24)
	a.imm32(uint32(off))
}

// spend takes one off the records that may still be made, and jumps away if there are none left. r11 is the ring.
func (a *asm) spend(p stubParams) (none int) {
	if p.budget == 0 {
		return 0
	}
	a.raw(0x41, 0x83, 0xbb) // cmp dword [r11+budget], 0
	a.imm32(p.budget)
	a.raw(0, 0x0f, 0x8e) // jle none
	a.imm32(0)
	none = len(a.b)
	a.raw(0xf0, 0x41, 0xff, 0x8b) // lock dec dword [r11+budget]
	a.imm32(p.budget)
	return none
}
