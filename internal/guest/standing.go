package guest

import (
	"golang.org/x/sys/unix"

	"lime/internal/cpu"
)

// standing is how a thread stands among others, on the processor and the disk. The program sees what
// it has inherited or asked for; it changes nothing in a simulated run. Child processes and the
// program that replaces this one really get it.
type standing struct {
	nice, policy, priority int
	resetOnFork            bool
	io                     uint64 // ioprio_set(2)

	changed bool // since the process was started: the host's knows it as it was then
}

const (
	resetOnFork = 0x40000000 // SCHED_RESET_ON_FORK, in a policy
	flagReset   = 1          // SCHED_FLAG_RESET_ON_FORK
	whoProcess  = 1          // IOPRIO_WHO_PROCESS
	attrSize    = 48         // bytes of the first version of struct sched_attr
)

// Policies of sched(7).
const (
	policyOther = 0
	policyBatch = 3
	policyIdle  = 5
)

// hostStanding is that of lime's own process, which was started like the program.
func hostStanding() (s standing) {
	var b [attrSize]byte
	if _, errno := hostCall(unix.SYS_SCHED_GETATTR, 0, ptrOf(b[:]), attrSize, 0); errno == 0 {
		s = attrStanding(b[:])
	}
	if n, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // other policies' attributes have none
		s.nice = 20 - n
	}
	s.io, _ = hostCall(unix.SYS_IOPRIO_GET, whoProcess, 0)
	return s
}

// attrStanding reads a struct sched_attr.
func attrStanding(b []byte) standing {
	return standing{policy: int(le32(b[4:])), resetOnFork: le64(b[8:])&flagReset != 0,
		nice: int(int32(le32(b[16:]))), priority: int(le32(b[20:]))}
}

// attr is the struct sched_attr.
func (s *standing) attr() []byte {
	b := make([]byte, attrSize)
	putLE32(b, attrSize)
	putLE32(b[4:], uint32(s.policy))
	if s.resetOnFork {
		putLE32(b[8:], flagReset)
	}
	putLE32(b[16:], uint32(s.nice))
	putLE32(b[20:], uint32(s.priority))
	return b
}

// ofChild is that of a new thread or process.
func (s standing) ofChild() standing {
	if s.resetOnFork {
		return standing{io: s.io, nice: max(s.nice, 0), changed: true}
	}
	return s
}

// script gives it to the process of the host that makes these calls, as long as attr, which is
// s.attr(), is kept. An idle thread's niceness is none of its attributes.
func (s *standing) script(attr []byte) []cpu.Call {
	if !s.changed {
		return nil
	}
	return []cpu.Call{{unix.SYS_SCHED_SETATTR, 0, ptrOf(attr), 0}, {unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, uint64(s.nice)},
		{unix.SYS_IOPRIO_SET, whoProcess, 0, s.io}}
}

// set makes a change that is allowed.
func (s *standing) set(to standing) int64 {
	if to.nice < s.nice && !mayRaise(to.nice) {
		return errRes(unix.EACCES)
	}
	to.changed = true
	*s = to
	return 0
}

// mayRaise says that the process may be as little nice as this (setpriority(2)).
func mayRaise(nice int) bool {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NICE, &l) == nil && uint64(20-nice) <= l.Cur {
		return true
	}
	return capable(unix.CAP_SYS_NICE)
}

// capable says that the process has a capability.
func capable(n int) bool {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	return unix.Capget(&h, &d[0]) == nil && d[n/32].Effective>>(n%32)&1 != 0
}

// standingOf is that of the thread that argument i names, nil if it is none of the program's.
func standingOf(c *call, i int) *standing {
	if t := c.p.threadArg(c.t, c.a[i]); t != nil {
		return &t.standing
	}
	return nil
}

// ofOthers says that setpriority or ioprio_set name more than one thread, or other processes.
func ofOthers(c *call, process int32) bool {
	return int32(c.a[0]) != process || standingOf(c, 1) == nil
}

// sysGetpriority answers 20 less the niceness, as the kernel does.
func sysGetpriority(c *call) int64 {
	if ofOthers(c, unix.PRIO_PROCESS) {
		return pass(c)
	}
	return int64(20 - standingOf(c, 1).nice)
}

// sysSetpriority leaves groups, and all of a user's processes, as they are: lime is one of them.
func sysSetpriority(c *call) int64 {
	switch {
	case int32(c.a[0]) != unix.PRIO_PROCESS:
		return 0
	case ofOthers(c, unix.PRIO_PROCESS):
		return pass(c)
	}
	s := standingOf(c, 1)
	to := *s
	to.nice = min(max(int(int32(c.a[2])), -20), 19)
	return s.set(to)
}

func sysIoprioGet(c *call) int64 {
	if ofOthers(c, whoProcess) {
		return pass(c)
	}
	return int64(standingOf(c, 1).io)
}

func sysIoprioSet(c *call) int64 {
	switch {
	case int32(c.a[0]) != whoProcess:
		return 0
	case ofOthers(c, whoProcess):
		return pass(c)
	}
	s := standingOf(c, 1)
	to := *s
	to.io = c.a[2] & 0xffff
	return s.set(to)
}

func sysSchedSetscheduler(c *call) int64 {
	var b [4]byte
	if !c.p.mem.read(c.a[2], b[:]) {
		return errRes(unix.EFAULT)
	}
	return schedule(c, int(c.a[1]&^resetOnFork), int(le32(b[:])), c.a[1]&resetOnFork != 0, nil)
}

// schedule sets a thread's policy; real-time ones are refused as they are to ordinary users.
func schedule(c *call, policy, priority int, reset bool, nice *int) int64 {
	s := standingOf(c, 0)
	if s == nil {
		return pass(c)
	}
	switch policy {
	case policyOther, policyBatch, policyIdle:
	case unix.SCHED_FIFO, unix.SCHED_RR:
		return errRes(unix.EPERM)
	default:
		return errRes(unix.EINVAL)
	}
	if priority != 0 {
		return errRes(unix.EINVAL)
	}
	to := *s
	to.policy, to.priority, to.resetOnFork = policy, 0, reset
	if nice != nil {
		to.nice = *nice
	}
	return s.set(to)
}

func sysSchedGetscheduler(c *call) int64 {
	s := standingOf(c, 0)
	switch {
	case s == nil:
		return pass(c)
	case s.resetOnFork:
		return int64(s.policy | resetOnFork)
	}
	return int64(s.policy)
}

func sysSchedGetparam(c *call) int64 {
	s := standingOf(c, 0)
	if s == nil {
		return pass(c)
	}
	return c.put32(c.a[1], uint32(s.priority))
}

// sysSchedSetparam sets the priority of the policy, of which all but real-time ones have none.
func sysSchedSetparam(c *call) int64 {
	var b [4]byte
	s := standingOf(c, 0)
	switch {
	case s == nil:
		return pass(c)
	case !c.p.mem.read(c.a[1], b[:]):
		return errRes(unix.EFAULT)
	case int(le32(b[:])) != s.priority:
		return errRes(unix.EINVAL)
	}
	return 0
}

func sysSchedGetattr(c *call) int64 {
	s := standingOf(c, 0)
	switch {
	case s == nil:
		return pass(c)
	case c.a[2] < attrSize || c.a[3] != 0:
		return errRes(unix.EINVAL)
	}
	return c.put(c.a[1], s.attr())
}

func sysSchedSetattr(c *call) int64 {
	var b [attrSize]byte
	if c.a[1] == 0 || c.a[2] != 0 {
		return errRes(unix.EINVAL)
	}
	if !c.p.mem.read(c.a[1], b[:]) {
		return errRes(unix.EFAULT)
	}
	a := attrStanding(b[:])
	if a.policy == policyIdle {
		return schedule(c, a.policy, a.priority, a.resetOnFork, nil)
	}
	return schedule(c, a.policy, a.priority, a.resetOnFork, &a.nice)
}
