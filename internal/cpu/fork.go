package cpu

import (
	"syscall"
	"unsafe"
)

// CPUID runs the instruction on the host.
func CPUID(leaf, sub uint32) (a, b, c, d uint32) { return cpuid(leaf, sub) }

// Call is a system call of a Fork's script: number and arguments.
type Call [7]uint64

// Fork describes a child process that goes on in the guest's code natively.
type Fork struct {
	Flags      uint64 // of clone
	PTID, CTID uint64
	TLS        uint64
	Ctx        *Context // what the child starts with; XSave by the mask in SlotXMask
	Script     []Call   // what the child does first: signal handlers, thread pointer, ...
	Mask       uint64   // the child's signal mask
}

// forkArgs is what the assembly reads.
type forkArgs struct {
	flags, ptid, ctid, tls uint64
	ctx                    *Context
	script                 *Call
	n                      uint64
	mask                   *uint64
	start                  uint64
}

func forkInto(a *forkArgs) int64

// Run makes the child and answers its process id, or an errno. The child uses
// no stack of Go's and none of its runtime: it does the script, loads the guest's registers and
// jumps to its code, which lies where the guest thinks it does. With CLONE_VM the
// flags must hold CLONE_VFORK, so that this thread waits meanwhile.
func (f *Fork) Run() (pid int, errno syscall.Errno) {
	all, old := ^uint64(0), uint64(0)
	a := &forkArgs{flags: f.Flags, ptid: f.PTID, ctid: f.CTID, tls: f.TLS, ctx: f.Ctx,
		script: unsafe.SliceData(f.Script), n: uint64(len(f.Script)), mask: &f.Mask}
	a.start = f.Ctx.RIP
	setMask(&all, &old) // no handler of Go's may run in the child
	r := forkInto(a)
	setMask(&old, nil)
	if r < 0 {
		return 0, syscall.Errno(-r)
	}
	return int(r), 0
}

func setMask(set, old *uint64) {
	const sigSetmask = 2
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigSetmask, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
}
