package hook

import (
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Functions that make tasks, which some thread runs later.

// taskFrame is the room on the stack for what names the task's function, the start and the result;
// it keeps the stack aligned.
const taskFrame = 40

// taskStub stands for a function that makes a task. There may be any number of tasks that nobody has
// run yet, but few functions of tasks: each has a place in the ring, by its address, and a thunk of
// its own, which is the task's function from then on. Where two have the same place, the tasks of the
// one that came later are not seen.
//
//	again: c = place of f; if *c = 0 { *c = f; record(enter); goto again }
//	if *c = f { c[1] = worker; f = thunk of c }; jmp target
//	thunk of c: r10 = c; jmp worker
//	worker: start = rdtsc; call *c; if rdtsc - start >= slow { record(end, *c, rdtsc - start) }; ret
func (a *asm) taskStub(p stubParams) stub {
	body := argumentRegs()[p.body]
	a.Push(x86.RAX)
	a.Push(x86.RCX)
	a.MovImm64(x86.R11, p.ring)
	a.Mov(x86.RCX, body)
	a.And32(x86.RCX, (ringTasks-1)*thunkBytes)
	a.Lea(x86.R10, enc.Mem{Base: x86.R11, Index: x86.RCX, Scale: 1, Disp: tasksAt})
	a.Zero(x86.RAX)
	a.Lock()
	enc.Table{Asm: &a.Asm}.Cmpxchg(enc.At(x86.R10, 0), body)
	claimed := a.JccFar(enc.CondE)
	a.CmpRegs(x86.RAX, body)
	other := a.JccFar(enc.CondNE)
	a.Lea(x86.RAX, a.Rip(7, 0)) // the worker
	worker := len(a.Code)
	a.Store(enc.At(x86.R10, 8), x86.RAX)
	a.MovImm64(x86.R11, p.thunks+ringCalls*thunkBytes)
	a.Lea(body, enc.Mem{Base: x86.R11, Index: x86.RCX, Scale: 1})
	a.BindFar(other)
	a.Pop(x86.RCX)
	a.Pop(x86.RAX)
	a.goTo(p.target)
	a.BindFar(claimed)
	a.Pop(x86.RCX)
	a.Pop(x86.RAX)
	made := p
	made.pick = [3]Pick{Pick(p.body + 1)}
	made.task = false
	a.record(made, Enter)
	a.Jmp(0)
	a.BindFar(worker)
	working := a.taskWorker(p)
	return stub{code: a.Code, inside: -1, working: working, workFrame: taskFrame}
}

// taskWorker is what runs in the place of the task's function; r10 is where that stands.
func (a *asm) taskWorker(p stubParams) (working int) {
	a.SubImm(x86.RSP, taskFrame)
	a.Store(onStack(0), x86.R10)
	a.clock()
	a.Store(onStack(8), x86.RAX)
	a.CallMem(enc.At(x86.R10, 0))
	working = len(a.Code)
	a.Store(onStack(16), x86.RAX)
	a.clock()
	a.SubMem(x86.RAX, onStack(8))
	a.Mov(x86.RSI, x86.RAX)
	a.Load(x86.R10, onStack(0))
	a.Load(x86.RAX, onStack(16))
	a.AddImm(x86.RSP, taskFrame)
	a.CmpImm32(x86.RSI, int32(p.slow))
	out := a.JccFar(enc.CondB)
	a.Load(x86.RDI, enc.At(x86.R10, 0))
	a.record(p, End)
	a.BindFar(out)
	a.Ret()
	return working
}
