package guest

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
)

// forkChild makes a real process of a fork-like clone. It goes on natively.
func (c *call) forkChild(a cloneArgs) int64 {
	p, t := c.p, c.t
	if a.flags&^forkFlags != 0 {
		p.note("unsupported-clone", "clone with namespace flags: the program was told EPERM")
		return errRes(unix.EPERM)
	}
	p.noteChild()
	p.thawCode()
	ctx := t.Ctx
	saved := ctx.GPR
	ctx.GPR[rax] = 0
	if a.stack != 0 {
		ctx.GPR[rsp] = a.stack
	}
	pid, errno := c.runFork(a)
	ctx.GPR = saved
	if errno != 0 {
		return errRes(errno)
	}
	p.addChild(pid, int(a.exitSignal))
	return int64(pid)
}

func (p *Process) noteChild() {
	if p.cfg.FollowExec {
		p.note("child-process", "the program starts child processes; the programs that these start have profiles of their own, "+
			"what they do before or instead runs natively and is not profiled")
		return
	}
	p.note("child-process", "the program starts child processes; they run natively and are not profiled (--children follows them)")
}

// forkFlags are the flags of clone that a child process may have.
const forkFlags = unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SETTLS |
	unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_PARENT | unix.CLONE_PIDFD |
	unix.CLONE_PTRACE | unix.CLONE_UNTRACED | unix.CLONE_DETACHED | unix.CLONE_SYSVSEM | unix.CLONE_CLEAR_SIGHAND | unix.CLONE_IO

// runFork prepares what the child does before it jumps to the guest's code.
func (c *call) runFork(a cloneArgs) (int, unix.Errno) {
	p, t := c.p, c.t
	flags := a.flags&^(unix.CLONE_SIGHAND|unix.CLONE_SETTLS|unix.CLONE_CLEAR_SIGHAND) | a.exitSignal
	if flags&unix.CLONE_VM != 0 {
		flags |= unix.CLONE_VFORK // this thread must wait while the child uses its memory
	}
	fs := t.Ctx.FSBase
	if a.flags&unix.CLONE_SETTLS != 0 {
		fs = a.tls
	}
	ptid := a.ptid
	if flags&unix.CLONE_PIDFD != 0 {
		ptid = a.pidfd
		if flags&unix.CLONE_PARENT_SETTID != 0 && a.pidfd != a.ptid {
			flags &^= unix.CLONE_PARENT_SETTID // the old clone has one place for both
		}
	}
	acts := p.actions
	if a.flags&unix.CLONE_CLEAR_SIGHAND != 0 {
		clearHandlers(&acts)
	}
	alt := nativeAlt(t.alt)
	limits := map[uint64]*[2]uint64{}
	for what, l := range p.childLimits() {
		limits[what] = &l
	}
	child := t.standing.ofChild()
	attr := child.attr()
	own := append(child.script(attr), cpu.Call{unix.SYS_PERSONALITY, p.personality})
	script := append(own, c.childScript(&acts, &alt, limits, fs, flags&unix.CLONE_FILES == 0)...)
	mask := uint64(t.mask)
	act := cpu.FollowAction()
	if p.cfg.FollowExec {
		script = append(script, cpu.Call{unix.SYS_RT_SIGACTION, uint64(unix.SIGSYS), addressOf(&act), 0, 8})
		mask &^= 1 << (unix.SIGSYS - 1) // the kernel ends a process that blocks what stops it
	}
	var heap memoryMap
	if flags&unix.CLONE_VM == 0 {
		script = append(script, p.heapScript(&heap)...)
	}
	f := &cpu.Fork{Flags: flags, PTID: ptid, CTID: a.ctid, Ctx: t.Ctx, Script: script, Mask: mask}
	pid, errno := f.Run()
	cpu.FollowLeft()
	runtime.KeepAlive(&act)
	runtime.KeepAlive(attr)
	runtime.KeepAlive(&acts)
	runtime.KeepAlive(&alt)
	runtime.KeepAlive(&heap)
	runtime.KeepAlive(limits)
	if errno == 0 && a.flags&unix.CLONE_PARENT_SETTID != 0 && flags&unix.CLONE_PARENT_SETTID == 0 {
		p.mem.store32(a.ptid, uint32(pid))
	}
	return pid, errno
}

func clearHandlers(acts *[numSignals + 1]sigAction) {
	for i := range acts {
		if acts[i].handler != sigIgn {
			acts[i] = sigAction{}
		}
	}
}

// nativeStack is the kernel's stack_t.
type nativeStack struct {
	sp   uint64
	flag uint64
	size uint64
}

func nativeAlt(a altStack) nativeStack {
	if !a.usable() {
		return nativeStack{flag: ssDisable}
	}
	return nativeStack{sp: a.sp, flag: uint64(a.flags &^ ssOnstack), size: a.size}
}

// childScript is what makes the host's view of the child the guest's: signal
// handlers, alternate stack, thread pointers; lime's own files are closed.
func (c *call) childScript(acts *[numSignals + 1]sigAction, alt *nativeStack, limits map[uint64]*[2]uint64, fs uint64,
	closeFiles bool) []cpu.Call {
	const setGS, setFS = 0x1001, 0x1002
	var s []cpu.Call
	for sig := 1; sig <= numSignals; sig++ {
		if !unblockable.has(sig) {
			s = append(s, cpu.Call{unix.SYS_RT_SIGACTION, uint64(sig), addressOf(&acts[sig]), 0, 8})
		}
	}
	s = append(s,
		cpu.Call{unix.SYS_SIGALTSTACK, addressOf(alt), 0},
		cpu.Call{unix.SYS_ARCH_PRCTL, setFS, fs},
		cpu.Call{unix.SYS_ARCH_PRCTL, setGS, c.t.Ctx.GSBase})
	for what := range uint64(unix.RLIMIT_RTTIME + 1) {
		if l, ok := limits[what]; ok {
			s = append(s, cpu.Call{unix.SYS_PRLIMIT64, 0, what, addressOf(l), 0})
		}
	}
	if closeFiles {
		for _, r := range c.p.files.protectedRanges() {
			s = append(s, cpu.Call{unix.SYS_CLOSE_RANGE, uint64(r[0]), uint64(r[1]), 0})
		}
	}
	return s
}

// ptrOf is the address of a buffer that the caller keeps alive.
func ptrOf(b []byte) uint64 { return addressOf(unsafe.SliceData(b)) }

// addressOf is the address of what the caller keeps alive. It must not lie on the stack, which moves
// when it grows, and the address with it would be stale: what is stored here goes to the heap.
func addressOf[T any](v *T) uint64 {
	var kept atomic.Pointer[T]
	kept.Store(v)
	return uint64(uintptr(unsafe.Pointer(v)))
}

// sysExecve replaces the whole process: the collector closes the profile, then it is done.
func sysExecve(c *call) int64 { return c.exec(c.a[0], c.a[1], c.a[2]) }

func sysExecveat(c *call) int64 {
	const emptyPath = 0x1000
	path, errno := c.p.mem.cString(c.a[1], pathMax)
	if errno != 0 {
		return errRes(errno)
	}
	if path == "" && c.a[4]&emptyPath != 0 {
		return c.execPath(fdPath(int(int32(c.a[0]))), c.a[2], c.a[3])
	}
	if path != "" && path[0] != '/' && int32(c.a[0]) != unix.AT_FDCWD {
		path = fdPath(int(int32(c.a[0]))) + "/" + path
	}
	return c.execPath(path, c.a[2], c.a[3])
}

func (c *call) exec(pathAt, argv, envp uint64) int64 {
	path, errno := c.p.mem.cString(pathAt, pathMax)
	if errno != 0 {
		return errRes(errno)
	}
	if path == "" {
		return errRes(unix.ENOENT)
	}
	return c.execPath(path, argv, envp)
}

func (c *call) execPath(path string, argv, envp uint64) int64 {
	if path == "/proc/self/exe" {
		path = c.p.exe
	}
	args, e1 := c.p.mem.strings(argv)
	env, e2 := c.p.mem.strings(envp)
	if e1 != 0 || e2 != 0 {
		return errRes(max(e1, e2))
	}
	if len(args) == 0 {
		args = []string{""}
	}
	if lerr := checkProgram(path, args); lerr != nil {
		return errRes(execErrno(lerr))
	}
	c.p.exec = &ExecRequest{Path: path, Args: args, Env: env, Found: Found{Closed: closedOnExec()}, by: c.t}
	c.out = Outcome{Kind: Replace}
	return 0
}

// checkProgram says why a program cannot take the place of the present one.
func checkProgram(path string, args []string) *LoadError {
	prog, lerr := openProgram(path, args)
	if lerr != nil {
		return lerr
	}
	prog.file.Close()
	if prog.elf.interp == "" {
		return nil
	}
	interp, _, lerr := openInterp(prog)
	if lerr == nil {
		interp.Close()
	}
	return lerr
}

// execErrno is what execve answers for a program that cannot be loaded.
func execErrno(e *LoadError) unix.Errno {
	if errno, ok := errnoOf(e.Err); ok {
		return errno
	}
	if e.Status == 127 {
		return unix.ENOENT
	}
	if e.Hint != "" || e.Err != nil {
		return unix.ENOEXEC
	}
	return unix.EACCES
}
