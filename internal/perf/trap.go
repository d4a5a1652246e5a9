package perf

// Events that stop their thread with SIGTRAP at the very instruction, for who traces it: ticks of
// its clock, and accesses to memory (perf_event_open(2), sigtrap; Linux 5.13).

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Trap is such an event. It goes when it is closed, when the thread replaces its program, or with
// the process that holds it.
type Trap struct{ fd int }

// Trap code and flags of a siginfo (include/uapi/asm-generic/siginfo.h).
const (
	trapCode  = 6 // TRAP_PERF
	trapAsync = 1 // TRAP_PERF_FLAG_ASYNC: the signal was blocked when the event came
)

// What x/sys does not name (enum perf_event_attr, bits 36 and 37).
const (
	bitRemoveOnExec = 1 << 36
	bitSigtrap      = 1 << 37
)

// Kinds of access of a watchpoint (include/uapi/linux/hw_breakpoint.h).
const (
	bpWrite     = 2
	bpReadWrite = 3
	bpExecute   = 4
)

// Watchpoint is a place in memory: 1, 2, 4 or 8 bytes at a multiple of their number.
type Watchpoint struct {
	Addr  uint64
	Bytes int
	Reads bool // loads trap as well as stores
}

// Slots is how many watchpoints a thread can have at once (Intel SDM vol. 3, 17.2: DR0 to DR3).
const Slots = 4

// OpenTick stops a thread whenever it has run for so many nanoseconds in its own code.
func OpenTick(tid int, nanos, data uint64) (Trap, error) {
	return openTrap(tid, "task-clock with traps", unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK,
		Sample: nanos, Sig_data: data, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv})
}

// OpenWatch stops a thread behind every instruction of its own code that accesses a place. The
// kernel's accesses would trap, too, those included by which it copies stacks for who samples them;
// no trap tells them apart.
func OpenWatch(tid int, w Watchpoint, data uint64) (Trap, error) {
	a := w.attr()
	a.Sig_data = data
	return openTrap(tid, watchName, a)
}

// watchName is what errors call a watchpoint.
const watchName = "watchpoint"

func (w *Watchpoint) attr() unix.PerfEventAttr {
	a := unix.PerfEventAttr{Type: unix.PERF_TYPE_BREAKPOINT, Sample: 1, Bp_type: bpWrite, Ext1: w.Addr, Ext2: uint64(w.Bytes),
		Bits: unix.PerfBitExcludeHv | unix.PerfBitExcludeKernel}
	if w.Reads {
		a.Bp_type = bpReadWrite
	}
	return a
}

// errNeverTraps: the kernel has set up a watchpoint, and nothing came of it.
var errNeverTraps = errors.New("accesses to watched memory do not trap")

// WatchTraps reports why accesses to watched memory do not trap, nil if they do: there are virtual
// machines whose kernel hands out debug registers that the processor never gets. It stores to a
// watched word and asks the event whether it has counted that.
func WatchTraps() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(page) }()
	word := (*uint64)(unsafe.Pointer(unsafe.SliceData(page)))
	w := Watchpoint{Addr: uint64(uintptr(unsafe.Pointer(word))), Bytes: 8}
	return counts(w.attr(), func() { atomic.StoreUint64(word, 1) })
}

// counts reports why an event of this thread does not see what happens in a function.
func counts(a unix.PerfEventAttr, what func()) error {
	a.Size = uint32(unsafe.Sizeof(a))
	fd, err := unix.PerfEventOpen(&a, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return &UnsupportedError{watchName, err, hint(err)}
	}
	defer unix.Close(fd)
	what()
	var n [8]byte
	if _, err = unix.Read(fd, n[:]); err == nil && n == [8]byte{} {
		err = errNeverTraps
	}
	if err != nil {
		return &UnsupportedError{watchName, err, hint(err)}
	}
	return nil
}

// OpenBreak stops a thread before it executes the instruction at an address.
func OpenBreak(tid int, pc, data uint64) (Trap, error) {
	const long = 8 // what the kernel wants as the length of an instruction
	return openTrap(tid, "breakpoint", unix.PerfEventAttr{Type: unix.PERF_TYPE_BREAKPOINT, Sample: 1,
		Bp_type: bpExecute, Ext1: pc, Ext2: long, Sig_data: data,
		Bits: unix.PerfBitExcludeHv | unix.PerfBitExcludeKernel})
}

func openTrap(tid int, name string, a unix.PerfEventAttr) (Trap, error) {
	a.Size = uint32(unsafe.Sizeof(a))
	a.Bits |= bitRemoveOnExec | bitSigtrap
	fd, err := unix.PerfEventOpen(&a, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return Trap{}, &UnsupportedError{name, err, hint(err)}
	}
	return Trap{fd}, nil
}

// Close removes the event. A trap that has come may still be delivered.
func (t Trap) Close() { _ = unix.Close(t.fd) }

// TrapInfo is what a siginfo of SIGTRAP tells of the event; ok is false for traps of others. late:
// the signal was blocked when the event came, and the thread has gone on since.
func TrapInfo(info []byte) (data uint64, late, ok bool) {
	const code, perfData, perfFlags, size = 8, 24, 36, 40
	word := binary.LittleEndian
	if len(info) < size || word.Uint32(info[code:]) != trapCode {
		return 0, false, false
	}
	return word.Uint64(info[perfData:]), word.Uint32(info[perfFlags:])&trapAsync != 0, true
}
