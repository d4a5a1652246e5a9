package hook

import "encoding/binary"

// workFrame is the room on the stack, above the arguments that are passed on, for what names the call; it keeps the stack aligned.
const workFrame = 24

// registerArguments come in registers (System V ABI, 3.2.3).
const registerArguments = 6

// workStub stands for a function that runs work on several threads until it returns. It puts another function in the place of the
// work, which it finds again by the address that it was called at: the work's own arguments stay what they are.
//
//	c = next of the ring's calls; *c = {work, worker}; call target(..., thunk of c, ...); record(return); ret
//	thunk of c: r10 = c; jmp worker
//	worker: record(begin); call work; record(end); ret
func (a *asm) workStub(p stubParams) stub {
	args := (p.stackArgs + 15) &^ 15
	plain := a.tooMany(p)
	worker := a.claimCall(p)
	a.record(p, Enter)
	a.raw(0x48, 0x81, 0xec) // sub rsp, args+frame
	a.imm32(uint32(args + workFrame))
	a.raw(0x4c, 0x89, 0x94, 0x24) // mov [rsp+args], r10
	a.imm32(uint32(args))
	a.passOn(p.stackArgs, args+workFrame)
	a.raw(0x49, 0xbb) // mov r11, target
	a.imm64(p.target)
	a.raw(0x41, 0xff, 0xd3) // call r11
	inside := len(a.b)
	a.raw(0x4c, 0x8b, 0x94, 0x24) // mov r10, [rsp+args]
	a.imm32(uint32(args))
	a.raw(0x48, 0x81, 0xc4) // add rsp, args+frame
	a.imm32(uint32(args + workFrame))
	a.record(p, Return)
	a.raw(0xc3) // ret
	a.reach(worker)
	working, room := a.worker(p)
	a.goOn(plain, p)
	return stub{code: a.b, inside: inside, frame: args + workFrame, working: working, workFrame: room}
}

// reach makes the 32 bits before at lead to here.
func (a *asm) reach(at int) { binary.LittleEndian.PutUint32(a.b[at-4:], uint32(len(a.b)-at)) }

// tooMany jumps away if the function has more arguments than are passed on.
func (a *asm) tooMany(p stubParams) (away int) {
	if !p.variadic {
		return 0
	}
	a.raw(0x81, 0xfe) // cmp esi, most
	a.imm32(uint32(p.stackArgs/8 + registerArguments - 1 - p.body))
	a.raw(0x0f, 0x87) // ja away
	a.imm32(0)
	return len(a.b)
}

// claimCall leaves what names the call in r10, and its thunk in the place of the function. All other registers are kept but for r11.
func (a *asm) claimCall(p stubParams) (worker int) {
	store, thunk := []byte{0x49, 0x89, 0x3a}, []byte{0x49, 0x8d, 0x3c, 0x03} // mov [r10], rdi; lea rdi, [r11+rax]
	if p.body == 2 {
		store, thunk = []byte{0x49, 0x89, 0x12}, []byte{0x49, 0x8d, 0x14, 0x03} // the same with rdx
	}
	a.raw(0x50)       // push rax
	a.raw(0x49, 0xbb) // mov r11, ring
	a.imm64(p.ring)
	a.raw(0xb8, 1, 0, 0, 0)             // mov eax, 1
	a.raw(0xf0, 0x41, 0x0f, 0xc1, 0x83) // lock xadd [r11+calls], eax
	a.imm32(offCalls)
	a.raw(0x25) // and eax, calls-1
	a.imm32(ringCalls - 1)
	a.raw(0xc1, 0xe0, 4)          // shl eax, 4
	a.raw(0x4d, 0x8d, 0x94, 0x03) // lea r10, [r11+rax+first call]
	a.imm32(callsAt)
	a.raw(store...)
	a.raw(0x4c, 0x8d, 0x1d) // lea r11, [rip+worker]
	a.imm32(0)
	worker = len(a.b)
	a.raw(0x4d, 0x89, 0x5a, 8) // mov [r10+8], r11
	a.raw(0x49, 0xbb)          // mov r11, thunks
	a.imm64(p.thunks)
	a.raw(thunk...)
	a.raw(0x58) // pop rax
	return worker
}

// worker is what runs in the place of the work; r10 names the call.
func (a *asm) worker(p stubParams) (working, frame int) {
	args := 0
	if p.variadic {
		args = (p.stackArgs + 15) &^ 15
	}
	a.record(p, Begin)
	a.raw(0x48, 0x81, 0xec) // sub rsp, args+frame
	a.imm32(uint32(args + workFrame))
	a.passOn(args, args+workFrame)
	a.raw(0x41, 0xff, 0x12) // call [r10]
	working = len(a.b)
	a.raw(0x48, 0x81, 0xc4) // add rsp, args+frame
	a.imm32(uint32(args + workFrame))
	a.record(p, End)
	a.raw(0xc3)
	return working, args + workFrame
}

// thunkBytes is the size of a call's and of a thunk.
const thunkBytes = 16

// thunks assembles the thunks of all calls.
func thunks(ring uint64) []byte {
	var a asm
	for i := range uint64(ringCalls) {
		a.raw(0x49, 0xba) // mov r10, call
		a.imm64(ring + callsAt + i*thunkBytes)
		a.raw(0x41, 0xff, 0x62, 8) // jmp [r10+8]
		a.raw(0xcc, 0xcc)
	}
	return a.b
}
