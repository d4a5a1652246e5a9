package guest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
)

func sysRtSigaction(c *call) int64 {
	sig := int(int32(c.a[0]))
	if c.a[3] != 8 || sig < 1 || sig > numSignals || unblockable.has(sig) && c.a[1] != 0 {
		return errRes(unix.EINVAL)
	}
	a := &c.p.actions[sig]
	var b, old [32]byte
	if c.a[1] != 0 && !c.p.mem.read(c.a[1], b[:]) {
		return errRes(unix.EFAULT)
	}
	for i, v := range [4]uint64{a.handler, a.flags, a.restorer, uint64(a.mask)} {
		putLE64(old[8*i:], v)
	}
	if c.a[2] != 0 && !c.p.mem.write(c.a[2], old[:]) {
		return errRes(unix.EFAULT)
	}
	if c.a[1] == 0 {
		return 0
	}
	*a = sigAction{handler: le64(b[0:]), flags: le64(b[8:]), restorer: le64(b[16:]), mask: sigset(le64(b[24:])) &^ unblockable}
	if c.p.ignores(sig) {
		c.p.pending.drop(sig)
		for _, t := range c.p.threads {
			t.pending.drop(sig)
		}
		c.p.showSignals()
	}
	return 0
}

func sysRtSigprocmask(c *call) int64 {
	if c.a[3] != 8 {
		return errRes(unix.EINVAL)
	}
	t := c.t
	old := t.mask
	if c.a[1] != 0 {
		v, ok := c.p.mem.load64(c.a[1])
		if !ok {
			return errRes(unix.EFAULT)
		}
		switch c.a[0] {
		case unix.SIG_BLOCK:
			t.mask |= sigset(v)
		case unix.SIG_UNBLOCK:
			t.mask &^= sigset(v)
		case unix.SIG_SETMASK:
			t.mask = sigset(v)
		default:
			return errRes(unix.EINVAL)
		}
		t.mask &^= unblockable
	}
	if c.a[2] != 0 {
		return c.put64(c.a[2], uint64(old))
	}
	return 0
}

func sysRtSigpending(c *call) int64 {
	return c.put64(c.a[0], uint64((c.t.pending.set|c.p.pending.set)&c.t.mask))
}

func sysSigaltstack(c *call) int64 {
	const minimum = 2048
	t := c.t
	sp := t.Ctx.GPR[rsp]
	var old [24]byte
	putLE64(old[:], t.alt.sp)
	putLE32(old[8:], t.alt.status(sp))
	putLE64(old[16:], t.alt.size)
	if c.a[0] != 0 {
		var b [24]byte
		if !c.p.mem.read(c.a[0], b[:]) {
			return errRes(unix.EFAULT)
		}
		a := altStack{sp: le64(b[:]), flags: le32(b[8:]), size: le64(b[16:])}
		switch mode := a.flags &^ ssAutodisarm; {
		case t.alt.on(sp):
			return errRes(unix.EPERM)
		case mode == ssDisable:
			a = altStack{flags: ssDisable}
		case mode != 0 && mode != ssOnstack:
			return errRes(unix.EINVAL)
		case a.size < minimum:
			return errRes(unix.ENOMEM)
		default:
			a.flags &= ssAutodisarm
		}
		t.alt = a
	}
	if c.a[1] != 0 {
		return c.put(c.a[1], old[:])
	}
	return 0
}

func sysRtSigsuspend(c *call) int64 {
	if c.a[1] != 8 {
		return errRes(unix.EINVAL)
	}
	if errno := c.setTempMask(c.a[0], c.a[1]); errno != 0 {
		return errRes(errno)
	}
	return sysPause(c)
}

// sysPause waits for a signal.
func sysPause(c *call) int64 {
	if c.interrupted() {
		return restartNoHnd
	}
	return c.block(&blocking{wait: Wait{Kind: WaitSignal}, onSignal: restartNoHnd})
}

func sysRtSigtimedwait(c *call) int64 {
	set, ok := c.p.mem.load64(c.a[0])
	if c.a[3] != 8 {
		return errRes(unix.EINVAL)
	}
	if !ok {
		return errRes(unix.EFAULT)
	}
	want := sigset(set) &^ unblockable
	c.t.sigwait = 0
	if info, ok := c.p.dequeue(c.t, want); ok {
		if c.a[1] != 0 && c.put(c.a[1], info[:]) != 0 {
			return errRes(unix.EFAULT)
		}
		return int64(info.sig())
	}
	end, errno := c.deadline(c.a[2], false, unix.CLOCK_MONOTONIC)
	if errno != 0 {
		return errRes(errno)
	}
	if c.due(end) {
		return errRes(unix.EAGAIN)
	}
	c.t.sigwait = want
	return c.block(&blocking{wait: Wait{Kind: WaitSignal, Deadline: end}, onTimeout: errRes(unix.EAGAIN), onSignal: errRes(unix.EINTR)})
}

// sysKill: the id of the process, or of a thread, is the process itself; others are the host's.
func sysKill(c *call) int64 {
	pid, sig := int(int32(c.a[0])), int(int32(c.a[1]))
	if sig < 0 || sig > numSignals {
		return errRes(unix.EINVAL)
	}
	if pid == c.p.id || c.p.thread(pid) != nil {
		if sig != 0 {
			c.p.send(nil, infoFrom(sig, siUser, c.p.id, unix.Getuid(), 0))
		}
		return 0
	}
	return c.killOthers(pid, sig)
}

// killOthers sends a signal to other processes. All that may be signalled (-1) are the children:
// lime is one, too.
func (c *call) killOthers(pid, sig int) int64 {
	group := unix.Getpgrp()
	switch {
	case pid == 0 || pid == -group:
		return c.killGroup(group, sig)
	case pid == -1:
		for _, child := range c.p.childPIDs() {
			_ = unix.Kill(child, unix.Signal(sig))
		}
		return 0
	}
	errno, _ := errnoOf(unix.Kill(pid, unix.Signal(sig)))
	return errRes(errno)
}

func sysTkill(c *call) int64 { return c.tkill(int(int32(c.a[0])), int(int32(c.a[1])), nil) }

func sysTgkill(c *call) int64 {
	tgid := int(int32(c.a[0]))
	if tgid != c.p.id {
		return c.passKill(tgid, int(int32(c.a[1])), int(int32(c.a[2])))
	}
	return c.tkill(int(int32(c.a[1])), int(int32(c.a[2])), nil)
}

// passKill is tgkill on another process; never on one of lime's threads.
func (c *call) passKill(tgid, tid, sig int) int64 {
	if tgid <= 0 || tid <= 0 {
		return errRes(unix.EINVAL)
	}
	_, errno := hostCall(unix.SYS_TGKILL, uint64(tgid), uint64(tid), uint64(sig))
	return errRes(errno)
}

func (c *call) tkill(tid, sig int, info *sigInfo) int64 {
	if sig < 0 || sig > numSignals || tid <= 0 {
		return errRes(unix.EINVAL)
	}
	t := c.p.thread(tid)
	if t == nil {
		return errRes(unix.ESRCH)
	}
	if sig == 0 {
		return 0
	}
	i := infoFrom(sig, siTkill, c.p.id, unix.Getuid(), 0)
	if info != nil {
		i = *info
	}
	if !c.p.send(t, i) {
		return errRes(unix.EAGAIN)
	}
	return 0
}

func sysRtSigqueueinfo(c *call) int64 {
	sig := int(int32(c.a[1]))
	var i sigInfo
	if !c.p.mem.read(c.a[2], i[:]) {
		return errRes(unix.EFAULT)
	}
	putLE32(i[0:], uint32(sig))
	if pid := int(int32(c.a[0])); pid != c.p.id && c.p.thread(pid) == nil {
		return pass(c)
	}
	switch {
	case sig < 0 || sig > numSignals:
		return errRes(unix.EINVAL)
	case sig == 0:
		return 0
	}
	if !c.p.send(nil, i) {
		return errRes(unix.EAGAIN)
	}
	return 0
}

func sysRtTgsigqueueinfo(c *call) int64 {
	var i sigInfo
	if !c.p.mem.read(c.a[3], i[:]) {
		return errRes(unix.EFAULT)
	}
	putLE32(i[0:], uint32(c.a[2]))
	if int(int32(c.a[0])) != c.p.id {
		return pass(c)
	}
	return c.tkill(int(int32(c.a[1])), int(int32(c.a[2])), &i)
}

// PostSignal sends the process a signal from outside; any goroutine may call it.
func (p *Process) PostSignal(sig int) {
	p.extMu.Lock()
	p.external = append(p.external, sig)
	p.extMu.Unlock()
	p.extAny.Store(true)
	var one [8]byte
	one[0] = 1
	_, _ = unix.Write(p.signalFD, one[:])
}

// takeSignals takes in what PostSignal has left.
func (p *Process) takeSignals() {
	if !p.extAny.Swap(false) {
		return
	}
	sigs := posted(p)
	p.poked = true
	for _, s := range sigs {
		if s == int(unix.SIGCHLD) {
			p.childSignal()
			continue
		}
		p.send(nil, newInfo(s, siUser))
	}
}

func errnoOf(err error) (e unix.Errno, ok bool) {
	ok = errors.As(err, &e)
	return e, ok
}

// HandleFault turns a fault into a signal of the guest's.
func (p *Process) HandleFault(t *Thread, e cpu.Exit) (out Outcome) {
	defer p.guard(t, &out)
	p.now = max(p.now, p.host.Now(t))
	if nr, ok := vsyscalls[t.Ctx.RIP]; ok {
		return p.vsyscall(t, nr)
	}
	p.forceFault(t, e)
	return p.deliver(t, Outcome{})
}

// vsyscalls are the entries of the page at a fixed address through which old
// programs ask for the time (kernel: arch/x86/entry/vsyscall).
var vsyscalls = map[uint64]uint64{0xffffffffff600000: unix.SYS_GETTIMEOFDAY, 0xffffffffff600400: unix.SYS_TIME,
	0xffffffffff600800: unix.SYS_GETCPU}

// vsyscall does such a call and returns to the caller.
func (p *Process) vsyscall(t *Thread, nr uint64) Outcome {
	back, ok := p.mem.load64(t.Ctx.GPR[rsp])
	if !ok {
		return p.die(t, int(unix.SIGSEGV), "vsyscall without a stack")
	}
	t.Ctx.RIP = back
	t.Ctx.GPR[rsp] += 8
	return p.doCall(t, nr, nil)
}

// forceFault makes a signal of a fault.
func (p *Process) forceFault(t *Thread, e cpu.Exit) {
	info := newInfo(e.Signal, e.Code)
	putLE64(info[16:], e.Addr)
	t.faultTrap, t.faultErr, t.faultCR2 = e.Trapno, e.ErrNo, e.Addr
	p.force(t, info)
}

// RelayedSignals are the signals that a collector should hand to PostSignal: all
// that another process may send, but those that the Go runtime or the engine lives on
// (SIGURG, faults), SIGPIPE, which the guest makes itself, and those that stop.
func RelayedSignals() []os.Signal {
	out := []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
		unix.SIGTERM, unix.SIGCHLD,
		unix.SIGCONT, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGVTALRM, unix.SIGWINCH, unix.SIGIO, unix.SIGPWR}
	for n := 34; n <= numSignals; n++ {
		out = append(out, unix.Signal(n))
	}
	return out
}
