package guest

import "golang.org/x/sys/unix"

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
	quiet bool // refused without telling the user: every C library copes

	touchesFiles bool // may make a descriptor ready that another thread waits for
}

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
