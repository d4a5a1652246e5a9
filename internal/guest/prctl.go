package guest

import "golang.org/x/sys/unix"

// prctls are the requests of prctl(2) that mean something. What is none of lime's own affairs the
// host's process answers, which has inherited it and hands it on; all others are invalid.
var prctls = map[uint64]func(*call) int64{
	unix.PR_SET_NAME:                 setName,
	unix.PR_GET_NAME:                 getName,
	unix.PR_SET_PDEATHSIG:            setParentDeath, // lime's parent is not the program's
	unix.PR_GET_PDEATHSIG:            func(c *call) int64 { return c.put32(c.a[1], c.p.parentDeath) },
	unix.PR_SET_DUMPABLE:             setDumpable, // lime reads its own /proc files
	unix.PR_GET_DUMPABLE:             getDumpable,
	unix.PR_GET_TID_ADDRESS:          func(c *call) int64 { return c.put64(c.a[1], c.t.clearTID) },
	unix.PR_GET_SECCOMP:              value(0),
	unix.PR_SET_VMA:                  value(0),
	unix.PR_SET_PTRACER:              value(0),
	unix.PR_TASK_PERF_EVENTS_DISABLE: value(0),
	unix.PR_TASK_PERF_EVENTS_ENABLE:  value(0),
	unix.PR_GET_TSC:                  pass,
	unix.PR_GET_TIMING:               pass,
	unix.PR_SET_TIMING:               pass,
	unix.PR_SET_TIMERSLACK:           pass,
	unix.PR_GET_TIMERSLACK:           pass,
	unix.PR_SET_THP_DISABLE:          pass,
	unix.PR_GET_THP_DISABLE:          pass,
	unix.PR_SET_NO_NEW_PRIVS:         pass,
	unix.PR_GET_NO_NEW_PRIVS:         pass,
	unix.PR_SET_KEEPCAPS:             pass,
	unix.PR_GET_KEEPCAPS:             pass,
	unix.PR_SET_SECUREBITS:           pass,
	unix.PR_GET_SECUREBITS:           pass,
	unix.PR_CAPBSET_READ:             pass,
	unix.PR_CAPBSET_DROP:             pass,
	unix.PR_CAP_AMBIENT:              pass,
	unix.PR_MCE_KILL:                 pass,
	unix.PR_MCE_KILL_GET:             pass,
	unix.PR_SET_CHILD_SUBREAPER:      pass,
	unix.PR_GET_CHILD_SUBREAPER:      pass,
	unix.PR_GET_SPECULATION_CTRL:     pass,
	unix.PR_SET_SPECULATION_CTRL:     pass,
	unix.PR_SET_IO_FLUSHER:           pass,
	unix.PR_GET_IO_FLUSHER:           pass,
}

func sysPrctl(c *call) int64 {
	if do := prctls[c.a[0]&0xffffffff]; do != nil {
		return do(c)
	}
	return errRes(unix.EINVAL)
}

func setName(c *call) int64 {
	s, errno := c.p.mem.cString(c.a[1], pageSize)
	if errno != 0 {
		return errRes(errno)
	}
	c.t.Name = s[:min(len(s), maxName)]
	return 0
}

func getName(c *call) int64 {
	var b [16]byte
	copy(b[:maxName], c.t.Name)
	return c.put(c.a[1], b[:])
}

func setParentDeath(c *call) int64 {
	if c.a[1] > numSignals {
		return errRes(unix.EINVAL)
	}
	c.p.parentDeath = uint32(c.a[1])
	return 0
}

func setDumpable(c *call) int64 {
	if c.a[1] > 1 {
		return errRes(unix.EINVAL)
	}
	c.p.undumpable = c.a[1] == 0
	return 0
}

func getDumpable(c *call) int64 {
	if c.p.undumpable {
		return 0
	}
	return pass(c)
}
