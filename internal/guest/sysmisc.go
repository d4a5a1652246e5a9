package guest

import (
	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// fixed answers an error, whatever the arguments.
func fixed(e unix.Errno) func(*call) int64 { return func(*call) int64 { return errRes(e) } }

// value answers a number.
func value(n int64) func(*call) int64 { return func(*call) int64 { return n } }

// coreMask is a set of all cores, in whole words.
func (p *Process) coreMask() []byte {
	b := make([]byte, (p.cfg.Cores+63)/64*8)
	for i := range p.cfg.Cores {
		b[i/8] |= 1 << (i % 8)
	}
	return b
}

func sysSchedGetaffinity(c *call) int64 {
	t := c.p.threadArg(c.t, c.a[0])
	if t == nil {
		return errRes(unix.ESRCH)
	}
	b := t.affinity
	if b == nil {
		b = c.p.coreMask()
	}
	if c.a[1] < uint64(len(b)) || c.a[1]%8 != 0 {
		return errRes(unix.EINVAL)
	}
	if r := c.put(c.a[2], b); r != 0 {
		return r
	}
	return int64(len(b))
}

func sysSchedSetaffinity(c *call) int64 {
	t := c.p.threadArg(c.t, c.a[0])
	if t == nil {
		return errRes(unix.ESRCH)
	}
	all := c.p.coreMask()
	want := make([]byte, min(c.a[1], uint64(len(all))))
	if !c.p.mem.read(c.a[2], want) {
		return errRes(unix.EFAULT)
	}
	any := byte(0)
	for i := range all {
		if i >= len(want) {
			all[i] = 0
			continue
		}
		all[i] &= want[i]
		any |= all[i]
	}
	if any == 0 {
		return errRes(unix.EINVAL)
	}
	t.affinity = all
	c.out = Outcome{Kind: Yield} // it may have to move to another core
	return 0
}

// Affinity says on which cores t may run: bit c%8 of byte c/8; nil for all.
func (t *Thread) Affinity() []byte { return t.affinity }

func sysSchedRrGetInterval(c *call) int64 { return c.put(c.a[1], timespecBytes(100_000_000)) }

func sysGetcpu(c *call) int64 {
	var core, node [4]byte
	putLE32(core[:], uint32(c.p.host.Core(c.t)))
	if c.a[0] != 0 && c.put(c.a[0], core[:]) != 0 || c.a[1] != 0 && c.put(c.a[1], node[:]) != 0 {
		return errRes(unix.EFAULT)
	}
	return 0
}

// sysMembarrier has nothing to do where guest threads run one after the other on one
// processor of the host.
func sysMembarrier(c *call) int64 {
	if c.p.cfg.Parallel != nil {
		return pass(c)
	}
	const all = 0x7f
	if c.a[0] == 0 {
		return all
	}
	if c.a[0]&^uint64(all) != 0 {
		return errRes(unix.EINVAL)
	}
	return 0
}

// sysSysinfo tells of a fixed machine.
func sysSysinfo(c *call) int64 {
	var b [112]byte
	putLE64(b[0:], uint64((c.p.now+bootTime)/1e9))
	putLE64(b[32:], memTotal)
	putLE64(b[40:], memFree)
	putLE32(b[80:], 1) // procs
	putLE32(b[104:], 1)
	return c.put(c.a[0], b[:])
}

// virtualLimits are limits that would hit lime itself: they are remembered only.
var virtualLimits = map[uint64]bool{unix.RLIMIT_AS: true, unix.RLIMIT_DATA: true, unix.RLIMIT_RSS: true, unix.RLIMIT_NPROC: true,
	unix.RLIMIT_STACK: true, unix.RLIMIT_NOFILE: true, unix.RLIMIT_CPU: true, unix.RLIMIT_MEMLOCK: true, unix.RLIMIT_RTTIME: true}

func sysPrlimit(c *call) int64   { return c.rlimit(c.a[0], c.a[1], c.a[2], c.a[3]) }
func sysGetrlimit(c *call) int64 { return c.rlimit(0, c.a[0], 0, c.a[1]) }
func sysSetrlimit(c *call) int64 { return c.rlimit(0, c.a[0], c.a[1], 0) }

func (c *call) rlimit(pid, what, set, get uint64) int64 {
	if c.p.own(int(int32(pid))) {
		pid = 0
	}
	if pid != 0 || !virtualLimits[what] {
		return result(hostCall(unix.SYS_PRLIMIT64, pid, what, set, get))
	}
	old := c.p.limit(what)
	var b [16]byte
	if set != 0 {
		if !c.p.mem.read(set, b[:]) {
			return errRes(unix.EFAULT)
		}
		l := [2]uint64{le64(b[:]), le64(b[8:])}
		if l[0] > l[1] {
			return errRes(unix.EINVAL)
		}
		if l[1] > old[1] && !capable(unix.CAP_SYS_RESOURCE) {
			return errRes(unix.EPERM)
		}
		c.p.limits[what] = l
	}
	if get == 0 {
		return 0
	}
	putLE64(b[:], old[0])
	putLE64(b[8:], old[1])
	return c.put(get, b[:])
}

// usualFiles is the usual soft limit on open files.
const usualFiles = 1024

// childLimits are the limits that a child process gets: those of the guest, not lime's.
func (p *Process) childLimits() map[uint64][2]uint64 {
	out := map[uint64][2]uint64{unix.RLIMIT_NOFILE: p.limit(unix.RLIMIT_NOFILE)}
	for what, l := range p.limits {
		out[what] = l
	}
	return out
}

func (p *Process) limit(what uint64) [2]uint64 {
	if l, ok := p.limits[what]; ok {
		return l
	}
	var l unix.Rlimit
	_ = unix.Getrlimit(int(what), &l)
	if what == unix.RLIMIT_NOFILE { // Go's library has raised it for lime, and what it was is not known
		l.Cur = min(usualFiles, l.Max)
	}
	return [2]uint64{l.Cur, l.Max}
}

// ownID passes a call on with the id of any of the guest's threads in argument i turned into the
// process's.
func ownID(i int) func(c *call) int64 {
	return func(c *call) int64 {
		if c.p.own(int(int32(c.a[i]))) {
			c.a[i] = uint64(c.p.id)
		}
		return pass(c)
	}
}

// own says that an id is the process's or one of its threads'.
func (p *Process) own(id int) bool { return id == p.id || id > FirstTID && p.thread(id) != nil }

// Calls of System V IPC that wait: tried again until they succeed.

func sysSemop(c *call) int64 {
	if c.a[2] > 500 {
		return errRes(unix.E2BIG)
	}
	b := make([]byte, 6*max(c.a[2], 1))
	if !c.p.mem.read(c.a[1], b[:6*c.a[2]]) {
		return errRes(unix.EFAULT)
	}
	wait := true
	for i := 0; i+6 <= len(b); i += 6 {
		wait = wait && b[i+5]&(unix.IPC_NOWAIT>>8) == 0
		b[i+5] |= unix.IPC_NOWAIT >> 8
	}
	end := NoDeadline
	if c.nr == unix.SYS_SEMTIMEDOP {
		var errno unix.Errno
		if end, errno = c.deadline(c.a[3], false, unix.CLOCK_MONOTONIC); errno != 0 {
			return errRes(errno)
		}
	}
	id, n := c.a[0], c.a[2]
	r := c.tryUntil(wait && !c.due(end), unix.EAGAIN, func() (uint64, unix.Errno) {
		return hostCall(unix.SYS_SEMOP, id, ptrOf(b), n)
	})
	if w := c.t.block; w != nil {
		w.onSignal, w.onTimeout = errRes(unix.EINTR), errRes(unix.EAGAIN)
		w.wait.Deadline, w.wait.FD = end, -1
		p, t := c.p, c.t
		w.timer = p.timers.set(end, func(at unit.Nanos) { p.wake(t, causeTimeout, at) })
		c.out.Wait = w.wait
	}
	return r
}

func sysMsgrcv(c *call) int64 { return c.msgOp(4, unix.ENOMSG) }
func sysMsgsnd(c *call) int64 { return c.msgOp(3, unix.EAGAIN) }

func (c *call) msgOp(flagAt int, busy unix.Errno) int64 {
	wait := c.a[flagAt]&unix.IPC_NOWAIT == 0
	c.a[flagAt] |= unix.IPC_NOWAIT
	nr, args := uintptr(c.nr), c.a
	return c.tryUntil(wait, busy, func() (uint64, unix.Errno) { return hostCall(nr, args[:]...) })
}

// sysMq waits for a message queue, which is a descriptor.
func sysMq(events int16) func(c *call) int64 {
	return func(c *call) int64 {
		end, errno := c.deadline(c.a[4], true, unix.CLOCK_REALTIME)
		if errno != 0 {
			return errRes(errno)
		}
		if c.p.files.waits(c.fd()) && !ready(c.fd(), events) {
			if c.due(end) {
				return errRes(unix.ETIMEDOUT)
			}
			if !c.waitFD(c.fd(), events, 0, end) {
				c.t.block.onTimeout = errRes(unix.ETIMEDOUT)
				return 0
			}
		}
		c.a[4] = 0
		return pass(c)
	}
}

// sysPkeyMprotect without a key is mprotect.
func sysPkeyMprotect(c *call) int64 {
	if int32(c.a[3]) != -1 {
		return errRes(unix.EINVAL)
	}
	return sysMprotect(c)
}

// ownCap is capget and capset, whose header names a process.
func ownCap(c *call) int64 {
	var h [8]byte
	if !c.p.mem.read(c.a[0], h[:]) {
		return errRes(unix.EFAULT)
	}
	pid := int(le32(h[4:]))
	if c.p.own(pid) {
		c.p.mem.store32(c.a[0]+4, 0)
		defer c.p.mem.store32(c.a[0]+4, uint32(pid))
	}
	return pass(c)
}

// askPersonality asks what it is.
const askPersonality = 0xffffffff

// sysPersonality remembers what is to hold for the programs that are started later: of the present
// one nothing depends on it, whose addresses lime gives out.
func sysPersonality(c *call) int64 {
	old := c.p.personality
	if to := c.a[0] & askPersonality; to != askPersonality {
		c.p.personality = to
	}
	return int64(old)
}
