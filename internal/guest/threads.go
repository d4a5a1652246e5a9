package guest

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
)

func (p *Process) addThread(ctx *cpu.Context, parent *Thread) *Thread {
	t := &Thread{TID: FirstTID + p.made, Nr: p.made, Ctx: ctx, Parent: parent}
	if p.made == 0 {
		t.TID = p.id
	}
	p.made++
	if parent != nil {
		t.Name, t.mask, t.affinity, t.standing = parent.Name, parent.mask, parent.affinity, parent.standing.ofChild()
	}
	p.threads = append(p.threads, t)
	return t
}

// Number is the thread's id, but for the first thread, whose id is that of the process: a number
// that is the same in every run.
func (t *Thread) Number() int32 { return int32(FirstTID + t.Nr) }

// thread is the live thread with an id, or nil.
func (p *Process) thread(tid int) *Thread {
	for _, t := range p.threads {
		if t.TID == tid {
			return t
		}
	}
	return nil
}

// commOf is a program's name as ps shows it.
func commOf(path string) string {
	s := filepath.Base(path)
	return s[:min(len(s), 15)]
}

// cloneArgs is what clone and clone3 have in common.
type cloneArgs struct {
	flags                  uint64
	stack, ptid, ctid, tls uint64
	exitSignal             uint64
	pidfd                  uint64
}

func sysClone(c *call) int64 {
	return c.clone(cloneArgs{flags: c.a[0] &^ 0xff, exitSignal: c.a[0] & 0xff, stack: c.a[1], ptid: c.a[2],
		ctid: c.a[3], tls: c.a[4], pidfd: c.a[2]})
}

func sysFork(c *call) int64 { return c.clone(cloneArgs{exitSignal: uint64(unix.SIGCHLD)}) }
func sysVfork(c *call) int64 {
	return c.clone(cloneArgs{flags: unix.CLONE_VM | unix.CLONE_VFORK, exitSignal: uint64(unix.SIGCHLD)})
}

func sysClone3(c *call) int64 {
	const known = 88
	n := c.a[1]
	if n < 64 || n > pageSize {
		return errRes(unix.EINVAL)
	}
	b := make([]byte, max(n, known))
	if !c.p.mem.read(c.a[0], b[:n]) {
		return errRes(unix.EFAULT)
	}
	for _, x := range b[known:] {
		if x != 0 {
			return errRes(unix.E2BIG)
		}
	}
	w := func(i int) uint64 { return le64(b[8*i:]) }
	if w(9) != 0 || w(10) != 0 { // set_tid, cgroup
		return errRes(unix.EPERM)
	}
	a := cloneArgs{flags: w(0), pidfd: w(1), ctid: w(2), ptid: w(3), exitSignal: w(4), stack: w(5), tls: w(7)}
	if a.stack != 0 {
		a.stack += w(6)
	}
	return c.clone(a)
}

const threadFlags = unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_THREAD

func (c *call) clone(a cloneArgs) int64 {
	switch {
	case a.flags&unix.CLONE_THREAD != 0 && a.flags&threadFlags != threadFlags:
		return errRes(unix.EINVAL)
	case a.flags&unix.CLONE_THREAD == 0:
		return c.forkChild(a)
	}
	return c.newThread(a)
}

// newThread is clone of a thread: it shares all but registers and signal mask.
func (c *call) newThread(a cloneArgs) int64 {
	ctx, err := c.p.host.NewContext()
	if err != nil {
		return errRes(unix.EAGAIN)
	}
	copyRegisters(ctx, c.t.Ctx)
	if a.stack != 0 {
		ctx.GPR[rsp] = a.stack
	}
	if a.flags&unix.CLONE_SETTLS != 0 {
		ctx.FSBase = a.tls
	}
	ctx.GPR[rax] = 0
	t := c.p.addThread(ctx, c.t)
	if a.flags&unix.CLONE_PARENT_SETTID != 0 {
		c.p.mem.store32(a.ptid, uint32(t.TID))
	}
	if a.flags&unix.CLONE_CHILD_SETTID != 0 {
		c.p.mem.store32(a.ctid, uint32(t.TID))
	}
	if a.flags&unix.CLONE_CHILD_CLEARTID != 0 {
		t.clearTID = a.ctid
	}
	c.out.New = t
	return int64(t.TID)
}

// copyRegisters copies what a program sees of the processor.
func copyRegisters(to, from *cpu.Context) {
	to.GPR, to.RIP, to.RFLAGS = from.GPR, from.RIP, from.RFLAGS
	to.FSBase, to.GSBase = from.FSBase, from.GSBase
	to.XSave = from.XSave
}

func sysExit(c *call) int64 {
	p, t := c.p, c.t
	p.leave(t)
	if len(p.threads) == 0 {
		p.status = Status{Exited: true, Code: int(c.a[0] & 0xff)}
		c.out = Outcome{Kind: ProcessExit}
		return 0
	}
	c.out = Outcome{Kind: ThreadExit}
	return 0
}

// leave takes a thread out of the process.
func (p *Process) leave(t *Thread) {
	p.leaveRobustList(t)
	if t.clearTID != 0 && p.mem.store32(t.clearTID, 0) {
		p.wakeFutex(p.futexKeyOf(t.clearTID, false), 1, futexMatchAny)
	}
	i := slices.Index(p.threads, t)
	p.threads = slices.Delete(slices.Clone(p.threads), i, i+1)
	p.host.FreeContext(t.Ctx)
	t.Ctx = nil
	p.closeRest(t)
}

func sysExitGroup(c *call) int64 {
	c.p.status = Status{Exited: true, Code: int(c.a[0] & 0xff)}
	c.out = Outcome{Kind: ProcessExit}
	return 0
}

func sysSetTidAddress(c *call) int64 {
	c.t.clearTID = c.a[0]
	return int64(c.t.TID)
}

func sysSetRobustList(c *call) int64 {
	if c.a[1] != 24 {
		return errRes(unix.EINVAL)
	}
	c.t.robust = c.a[0]
	return 0
}

func sysGetRobustList(c *call) int64 {
	t := c.p.threadArg(c.t, c.a[0])
	if t == nil {
		return errRes(unix.ESRCH)
	}
	if !c.p.mem.store64(c.a[1], t.robust) || !c.p.mem.store64(c.a[2], 24) {
		return errRes(unix.EFAULT)
	}
	return 0
}

// threadArg is the thread that a tid argument names; 0 is the caller.
func (p *Process) threadArg(self *Thread, tid uint64) *Thread {
	if tid == 0 {
		return self
	}
	return p.thread(int(int32(tid)))
}

func sysGettid(c *call) int64 { return int64(c.t.TID) }
func sysGetpid(c *call) int64 { return int64(c.p.id) }

func sysArchPrctl(c *call) int64 {
	const setGS, setFS, getFS, getGS = 0x1001, 0x1002, 0x1003, 0x1004
	switch c.a[0] {
	case setFS, setGS:
		if c.a[1] >= 1<<47 {
			return errRes(unix.EPERM)
		}
		if c.a[0] == setFS {
			c.t.Ctx.FSBase = c.a[1]
		} else {
			c.t.Ctx.GSBase = c.a[1]
		}
		return 0
	case getFS:
		return c.put64(c.a[1], c.t.Ctx.FSBase)
	case getGS:
		return c.put64(c.a[1], c.t.Ctx.GSBase)
	}
	return errRes(unix.EINVAL)
}

func (c *call) put64(a, v uint64) int64 {
	if !c.p.mem.store64(a, v) {
		return errRes(unix.EFAULT)
	}
	return 0
}

func (c *call) put32(a uint64, v uint32) int64 {
	var b [4]byte
	putLE32(b[:], v)
	return c.put(a, b[:])
}

// maxName is the length of a thread's name (TASK_COMM_LEN, less the end).
const maxName = 15

func sysSchedYield(c *call) int64 {
	c.out.Kind = Yield
	return 0
}
