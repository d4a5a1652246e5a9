package hook

import (
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Functions that run other functions on several threads.

// workFrame is the room on the stack, above the arguments that are passed on, for what names the
// call; it keeps the stack aligned.
const workFrame = 24

// registerArguments come in registers (System V ABI, 3.2.3).
const registerArguments = 6

// workStub stands for a function that runs work on several threads until it returns. It puts
// another function in the place of the work, which it finds again by the address that it was called
// at: the work's own arguments stay what they are.
//
//	c = next of the ring's calls; *c = {work, worker}; call target(..., thunk of c, ...); record(return); ret
//	thunk of c: r10 = c; jmp worker
//	worker: record(begin); call work; record(end); ret
func (a *asm) workStub(p stubParams) stub {
	args := (p.stackArgs + 15) &^ 15
	plain := a.tooMany(p)
	worker := a.claimCall(p)
	a.record(p, Enter)
	call := enc.Mem{Base: x86.RSP, Index: x86.NoReg, Disp: int32(args), Least: 4}
	a.SubImm32(x86.RSP, int32(args+workFrame))
	a.Store(call, x86.R10)
	a.passOn(p.stackArgs, args+workFrame)
	inside := a.call(p.target)
	a.Load(x86.R10, call)
	a.AddImm32(x86.RSP, int32(args+workFrame))
	a.record(p, Return)
	a.Ret()
	a.BindFar(worker)
	working, room := a.worker(p)
	a.goOn(plain, p)
	return stub{code: a.Code, inside: inside, frame: args + workFrame, working: working, workFrame: room}
}

// tooMany jumps away if the function has more arguments than are passed on.
func (a *asm) tooMany(p stubParams) (away int) {
	if !p.variadic {
		return 0
	}
	a.Cmp32Imm32(x86.RSI, int32(p.stackArgs/8+registerArguments-1-p.body))
	return a.JccFar(enc.CondA)
}

// claimCall leaves what names the call in r10, and its thunk in the place of the function. All
// other registers are kept but for r11.
func (a *asm) claimCall(p stubParams) (worker int) {
	body := x86.RDI
	if p.body == 2 {
		body = x86.RDX
	}
	a.Push(x86.RAX)
	a.MovImm64(x86.R11, p.ring)
	a.MovImm(x86.RAX, 1)
	a.Lock()
	a.Xadd32(inSlot(offCalls), x86.RAX)
	a.AndEAX(ringCalls - 1)
	a.Shl32(x86.RAX, thunkShift)
	a.Lea(x86.R10, enc.Mem{Base: x86.R11, Index: x86.RAX, Scale: 1, Disp: callsAt})
	a.Store(enc.At(x86.R10, 0), body)
	a.Lea(x86.R11, a.Rip(7, 0)) // the worker
	worker = len(a.Code)
	a.Store(enc.At(x86.R10, 8), x86.R11)
	a.MovImm64(x86.R11, p.thunks)
	a.Lea(body, enc.Mem{Base: x86.R11, Index: x86.RAX, Scale: 1})
	a.Pop(x86.RAX)
	return worker
}

// worker is what runs in the place of the work; r10 names the call.
func (a *asm) worker(p stubParams) (working, frame int) {
	args := 0
	if p.variadic {
		args = (p.stackArgs + 15) &^ 15
	}
	a.record(p, Begin)
	a.SubImm32(x86.RSP, int32(args+workFrame))
	a.passOn(args, args+workFrame)
	a.CallMem(enc.At(x86.R10, 0))
	working = len(a.Code)
	a.AddImm32(x86.RSP, int32(args+workFrame))
	a.record(p, End)
	a.Ret()
	return working, args + workFrame
}

// thunkBytes is the size of a call's and of a thunk, thunkShift its logarithm.
const thunkBytes, thunkShift = 16, 4

// thunks assembles the thunks of all calls, and of the functions of tasks behind them.
func thunks(ring uint64) []byte {
	var a asm
	for i := range uint64(ringCalls + ringTasks) {
		a.MovImm64(x86.R10, ring+callsAt+i*thunkBytes)
		a.JmpMem(enc.At(x86.R10, 8))
		a.Int3()
		a.Int3()
	}
	return a.Code
}
