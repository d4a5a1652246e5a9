package cpu

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Child processes run natively until they start a program. FollowExec has the kernel stop them
// there (a filter of system calls, which they inherit), and a handler start lime in the program's
// place.

// followed is what the handler needs. It lies outside Go's heap, at one place in all children.
type followed struct {
	exe    uint64 // lime's path
	prefix [followWords]uint64
	room   uint64 // what the handler has mapped: a child that shared this process's memory leaves it
	size   uint64
}

// followWords are the arguments before those of the program: lime, its verb, and what to do.
const followWords = 3

// follow is set once, before any child is made.
var follow *followed

// FollowExec makes all programs that child processes start, and those that these start, run as
//
//	lime verb text PATH [ARGUMENT...]
//
// where PATH is the file of the program, and the arguments begin with its name. The program may be
// started by any process in between; what becomes of a process that starts none is not changed.
func FollowExec(verb, text string, filtered bool) error {
	words := []string{"/proc/self/exe", "lime", verb, text}
	n := int(unsafe.Sizeof(followed{}))
	for _, w := range words {
		n += len(w) + 1
	}
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("memory for what children start: %w", err)
	}
	f := (*followed)(unsafe.Pointer(&mem[0]))
	at := int(unsafe.Sizeof(*f))
	for i, w := range words {
		where := uint64(uintptr(unsafe.Pointer(&mem[at])))
		if at += copy(mem[at:], w) + 1; i == 0 {
			f.exe = where
		} else {
			f.prefix[i-1] = where
		}
	}
	if !filtered {
		if err := filterExec(); err != nil {
			return err
		}
	}
	follow = f
	return nil
}

// FollowAction is the kernel's sigaction by which a child process hands lime what it starts.
func FollowAction() [4]uint64 {
	const siginfo, restorer, onStack, noDefer = 4, 0x04000000, 0x08000000, 0x40000000
	at := uint64(followPC())
	return [4]uint64{at, siginfo | restorer | onStack | noDefer, at, 0}
}

// FollowLeft gives back what a child that shared this process's memory has left in it.
func FollowLeft() {
	if f := follow; f != nil && f.room != 0 {
		_, _, _ = unix.Syscall(unix.SYS_MUNMAP, uintptr(f.room), uintptr(f.size), 0)
		f.room = 0
	}
}

func followPC() uintptr

// filterExec installs the filter. System calls of lime's own code pass: they are told by their
// address.
func filterExec() error {
	lo, hi, err := ownCode(followPC())
	if err != nil {
		return err
	}
	prog := execFilter(lo, hi)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if !mayFilter() {
		// What a child gains by set-user-ID programs it then does not gain: the kernel's condition.
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("prctl(PR_SET_NO_NEW_PRIVS): %w", err)
		}
	}
	const setFilter, allThreads = 1, 1
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, setFilter, allThreads, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(prog)
	switch {
	case errno != 0:
		return fmt.Errorf("the kernel lets no filter of system calls be set (seccomp: %w)", errno)
	case r != 0:
		return errors.New("the kernel set the filter of system calls for some threads only (seccomp)")
	}
	return nil
}

// mayFilter tells whether this process may set filters as it is: CAP_SYS_ADMIN.
func mayFilter() bool {
	const sysAdmin = 21
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&hdr, &data[0]) == nil && data[0].Effective>>sysAdmin&1 != 0
}

// ownCode is the mapping that holds an address of lime's code.
func ownCode(pc uintptr) (lo, hi uint64, err error) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		from, rest, _ := strings.Cut(line, "-")
		to, _, _ := strings.Cut(rest, " ")
		lo, e1 := strconv.ParseUint(from, 16, 64)
		hi, e2 := strconv.ParseUint(to, 16, 64)
		if e1 == nil && e2 == nil && lo <= uint64(pc) && uint64(pc) < hi {
			if hi>>32 != 0 {
				return 0, 0, fmt.Errorf("lime's code lies at %#x, above 4 GB: build it with make build", lo)
			}
			return lo, hi, nil
		}
	}
	return 0, 0, errors.New("lime's own code is not in /proc/self/maps")
}

// execFilter is the filter (seccomp(2)) for code outside [lo, hi), below 4 GB:
//
//   - execve is handed to the handler of SIGSYS;
//   - that handler stays what it is, whatever is asked for;
//   - execveat and clone3 (which can take the handler away) are said not to exist: C libraries then
//     do by other calls what they do.
func execFilter(lo, hi uint64) []unix.SockFilter {
	const (
		nr, arch, pcLow, pcHigh, arg0 = 0, 4, 8, 12, 16
		load, ret, equal, atLeast     = 0x20, 0x06, 0x15, 0x35
		allow, trap, fail             = 0x7fff0000, 0x00030000, 0x00050000
		x86                           = 0xc000003e
	)
	return []unix.SockFilter{
		{Code: load, K: arch},
		{Code: equal, Jf: 14, K: x86},
		{Code: load, K: pcHigh},
		{Code: equal, Jf: 3, K: 0},
		{Code: load, K: pcLow},
		{Code: atLeast, Jf: 1, K: uint32(lo)},
		{Code: atLeast, Jf: 9, K: uint32(hi)},
		{Code: load, K: nr}, // 7
		{Code: equal, Jt: 8, K: unix.SYS_EXECVE},
		{Code: equal, Jt: 4, K: unix.SYS_EXECVEAT},
		{Code: equal, Jt: 3, K: unix.SYS_CLONE3},
		{Code: equal, Jf: 4, K: unix.SYS_RT_SIGACTION},
		{Code: load, K: arg0},
		{Code: equal, Jt: 1, Jf: 2, K: uint32(unix.SIGSYS)},
		{Code: ret, K: fail | uint32(unix.ENOSYS)}, // 14
		{Code: ret, K: fail},                       // 15: it is done, the caller learns
		{Code: ret, K: allow},                      // 16
		{Code: ret, K: trap},                       // 17
	}
}

// DieOf ends this process by a signal, whatever the Go runtime does with it. It returns if the
// signal ends none.
func DieOf(sig unix.Signal) {
	var dfl [4]uint64
	var none uint64
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&dfl)), 0, 8, 0, 0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	setMask(&none, nil)
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
}
