package guest

import (
	"maps"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// What the program's children do on their own: they end and stop, and it may trace them. They are
// processes of the host, and so is their parent: ids need no translation.

// child is a child process that has not been waited for.
type child struct {
	fd   int  // of the process (pidfd), -1 if there is none
	sig  int  // that it sends its parent when it ends
	told bool // the program has been sent SIGCHLD about the state that it is in
}

func (p *Process) addChild(pid, sig int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		fd = p.files.protect(fd)
	} else {
		fd = -1
	}
	p.children[pid] = &child{fd: fd, sig: sig}
}

func (p *Process) dropChild(pid int) {
	if c := p.children[pid]; c != nil && c.fd >= 0 {
		p.files.unprotect(c.fd)
		unix.Close(c.fd)
	}
	delete(p.children, pid)
}

func (p *Process) hasChildren() bool { return len(p.children) > 0 }

// childPIDs are the children that have not been waited for.
func (p *Process) childPIDs() []int { return slices.Sorted(maps.Keys(p.children)) }

// childFDs are the descriptors to watch for the end of child pid, or of all if pid <= 0.
func (p *Process) childFDs(pid int) (out []unix.PollFd) {
	for _, k := range p.childPIDs() {
		if c := p.children[k]; (pid <= 0 || k == pid) && c.fd >= 0 {
			out = append(out, unix.PollFd{Fd: int32(c.fd), Events: unix.POLLIN})
		}
	}
	return out
}

// liveChildren says that a child process may yet do something, or has done what the program has not
// been told.
func (p *Process) liveChildren() bool {
	for _, c := range p.children {
		if !c.told {
			return true
		}
	}
	return false
}

// tellChildren sends the program SIGCHLD about children that have changed their state, as the
// kernel does when it happens. Lime gets the signal in a thread of its own, and so perhaps later
// than the program waits for the child.
func (p *Process) tellChildren() (any bool) {
	for _, pid := range p.childPIDs() {
		c := p.children[pid]
		if info, ok := stateOf(unix.P_PID, pid); ok && !c.told && c.sig == int(unix.SIGCHLD) {
			c.told, any = true, true
			p.send(nil, info)
		}
	}
	return any
}

// stateOf is a change of state that can be waited for.
func stateOf(which, pid int) (info sigInfo, ok bool) {
	const options = unix.WEXITED | unix.WSTOPPED | unix.WCONTINUED | unix.WNOHANG | unix.WNOWAIT
	_, errno := hostCall(unix.SYS_WAITID, uint64(which), uint64(pid), ptrOf(info[:]), options, 0)
	return info, errno == 0 && info.sig() != 0
}

// childSignal takes in a SIGCHLD from outside.
func (p *Process) childSignal() {
	p.reapIgnored()
	if !p.tellChildren() && !p.toldAhead {
		info, ok := stateOf(unix.P_ALL, 0)
		if !ok {
			info = newInfo(int(unix.SIGCHLD), cldExited)
		}
		p.send(nil, info)
	}
	p.toldAhead = false
	for _, t := range append([]*Thread(nil), p.hostWaiters...) {
		if t.block.wait.Kind == WaitChild {
			p.wake(t, causeRetry, p.now)
		}
	}
}

// ignoresChildren says of the action for SIGCHLD that the program does not want to hear of the ends of
// its children: they leave no zombies, and waits see none (wait(2), notes on SIG_IGN and SA_NOCLDWAIT).
func (a *sigAction) ignoresChildren() bool { return a.handler == sigIgn || a.flags&saNocldwait != 0 }

// reapIgnored takes in the children that have ended of a program that ignores them.
func (p *Process) reapIgnored() {
	for p.actions[unix.SIGCHLD].ignoresChildren() {
		var info sigInfo
		_, errno := hostCall(unix.SYS_WAITID, unix.P_ALL, 0, ptrOf(info[:]), unix.WEXITED|unix.WNOHANG, 0)
		pid := int(le32(info[16:]))
		if errno != 0 || pid == 0 {
			return
		}
		p.dropChild(pid)
	}
}

const rusageBytes = 144 // struct rusage

func sysWait4(c *call) int64 {
	c.beforeWait()
	var status [4]byte
	var usage [rusageBytes]byte
	r, errno := hostCall(unix.SYS_WAIT4, c.a[0], ptrOf(status[:]), c.a[2]|unix.WNOHANG, ptrOf(usage[:]))
	switch ws := unix.WaitStatus(le32(status[:])); {
	case errno != 0:
		return result(0, errno)
	case r == 0 && c.a[2]&unix.WNOHANG != 0:
		return 0
	case r == 0:
		return c.waitChild(int(int32(c.a[0])))
	case c.p.actions[unix.SIGCHLD].ignoresChildren() && (ws.Exited() || ws.Signaled()):
		c.p.dropChild(int(r)) // it ended after beforeWait
		return sysWait4(c)
	}
	c.reaped(int(r))
	return outputs{{c.a[1], status[:]}, {c.a[3], usage[:]}}.put(c, int64(r))
}

// outputs is what a system call writes to guest memory, nothing where the program gave no address.
type outputs []struct {
	at    uint64
	bytes []byte
}

// put writes all of it, as a handler's last act, and then returns r.
func (o outputs) put(c *call, r int64) int64 {
	for _, out := range o {
		if out.at == 0 {
			continue
		}
		if e := c.put(out.at, out.bytes); e != 0 {
			return e
		}
	}
	return r
}

// beforeWait is what must have happened before a child is waited for.
func (c *call) beforeWait() {
	c.p.reapIgnored()
	if c.p.tellChildren() {
		c.p.toldAhead = true
	}
}

// reaped notes that a child has been waited for, unless it has only stopped.
func (c *call) reaped(pid int) {
	if ch := c.p.children[pid]; ch != nil {
		ch.told = false
	}
	if unix.Kill(pid, 0) == unix.ESRCH {
		c.p.dropChild(pid)
	}
}

// waitChild blocks until a child's state may have changed.
func (c *call) waitChild(pid int) int64 {
	p := c.p
	b := &blocking{wait: Wait{Kind: WaitChild, PID: pid}, onSignal: restartSys, fds: p.childFDs(pid)}
	if b.fds == nil {
		b.watch = func() bool { return true }
	}
	return c.block(b)
}

func sysWaitid(c *call) int64 {
	c.beforeWait()
	var info sigInfo
	var usage [rusageBytes]byte
	_, errno := hostCall(unix.SYS_WAITID, c.a[0], c.a[1], ptrOf(info[:]), c.a[3]|unix.WNOHANG, ptrOf(usage[:]))
	if errno != 0 {
		return result(0, errno)
	}
	pid := int(int32(le32(info[16:])))
	switch {
	case pid == 0 && c.a[3]&unix.WNOHANG == 0:
		which := -1
		if c.a[0] == unix.P_PID {
			which = int(int32(c.a[1]))
		}
		return c.waitChild(which)
	case pid != 0 && c.p.actions[unix.SIGCHLD].ignoresChildren() && hasEnded(int32(le32(info[8:]))):
		if c.a[3]&unix.WNOWAIT == 0 {
			c.p.dropChild(pid) // it ended after beforeWait
		}
		return sysWaitid(c)
	case pid == 0:
		return waited(c.a[2], &info).put(c, 0)
	}
	if c.a[3]&unix.WNOWAIT == 0 {
		c.reaped(pid)
	}
	return append(waited(c.a[2], &info), outputs{{c.a[4], usage[:]}}...).put(c, 0)
}

// waited is what waitid writes of a siginfo_t: signal, error, code; process, user, status.
func waited(at uint64, info *sigInfo) outputs {
	if at == 0 {
		return nil
	}
	return outputs{{at, info[:12]}, {at + 16, info[16:28]}}
}

// hasEnded says that code of a SIGCHLD tells of the end of a child (CLD_EXITED, CLD_KILLED, CLD_DUMPED).
func hasEnded(code int32) bool { return code >= cldExited && code <= cldDumped }

// sysPtrace traces other processes: children run natively, and the host's thread that runs the
// program is their tracer.
func sysPtrace(c *call) int64 {
	if c.a[0] == unix.PTRACE_TRACEME || c.p.own(int(int32(c.a[1]))) {
		c.p.note("ptrace", "the program wants to be traced itself: it was told EPERM")
		return errRes(unix.EPERM)
	}
	return pass(c)
}

// killGroup sends a signal to the program's process group, of which lime may be a member, too.
func (c *call) killGroup(group, sig int) int64 {
	for _, pid := range groupMembers(group) {
		if pid != c.p.id && pid != c.p.cfg.Lime {
			_ = unix.Kill(pid, unix.Signal(sig))
		}
	}
	if sig != 0 {
		c.p.send(nil, infoFrom(sig, siUser, c.p.id, unix.Getuid(), 0))
	}
	return 0
}

// groupMembers lists the processes of a group.
func groupMembers(group int) (out []int) {
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		if got, err := unix.Getpgid(pid); err == nil && got == group {
			out = append(out, pid)
		}
	}
	return out
}
