package guest

import (
	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// callKind says what becomes of a system call.
type callKind uint8

// The kinds.
const (
	emulated callKind = iota // done here
	passed                   // done by the host, with the guest's arguments
	refused                  // answered ENOSYS
)

// sysRow is one row of the table of system calls. Numbers are those of
// arch/x86/entry/syscalls/syscall_64.tbl; arguments are described in section 2 of the manual.
type sysRow struct {
	nr    uint64
	name  string
	kind  callKind
	do    func(*call) int64
	fd    bool // the first argument is a descriptor: lime's own answer EBADF
	dir   bool // the same of a directory's
	quiet bool // refused without telling the user: every C library copes

	touchesFiles bool // may make a descriptor ready that another thread waits for

	takes unit.Nanos // for how long it keeps the core busy; 0: no longer than an instruction
}

// What calls and instructions take that programs make again and again to let time pass: if they
// took none, a thread that waits for a point in time would have to make millions. Others take the
// time of one instruction.
const (
	YieldTakes = 500 // sched_yield with nobody to yield to: 300 to 1000 ns on Linux 5 and 6, x86-64 with its usual mitigations
	clockTakes = 25  // clock_gettime and the like by way of the vDSO: 20 to 30 ns where the time stamp counter is the clock
	tscTakes   = 10  // rdtsc: 20 to 40 cycles (A. Fog, Instruction tables, Intel Skylake to AMD Zen 4)
)

// rowOf is the row of a number, nil if there is none.
func rowOf(nr uint64) *sysRow {
	if nr < uint64(len(sysByNr)) {
		return sysByNr[nr]
	}
	return nil
}

// sysByNr indexes the table; it is never changed.
var sysByNr = indexRows()

func indexRows() []*sysRow {
	var by []*sysRow
	for _, rows := range [][]sysRow{memoryRows, threadRows, timeRows, fileRows, pathRows, socketRows, hostRows, refusedRows} {
		for i := range rows {
			r := &rows[i]
			for uint64(len(by)) <= r.nr {
				by = append(by, nil)
			}
			by[r.nr] = r
			if r.do == nil && r.kind == passed {
				r.do = pass
			}
			if r.fd {
				r.touchesFiles = true
			}
			if r.fd || r.dir {
				r.do = guardFD(r.do)
			}
		}
	}
	return by
}

// guardFD keeps the guest off lime's own descriptors.
func guardFD(do func(*call) int64) func(*call) int64 {
	return func(c *call) int64 {
		if len(c.p.files.protected) > 0 && c.p.files.isProtected(c.fd()) {
			return errRes(unix.EBADF)
		}
		return do(c)
	}
}
