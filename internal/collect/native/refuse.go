package native

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lime/internal/sender"
)

// What cannot be recorded is said before anything is done: here, why.

// checkProc tells whether the kernel's file system is there, which tells of processes.
func checkProc() error {
	if _, err := os.Stat("/proc/self/maps"); err != nil {
		return &startError{name: "/proc", why: "not mounted",
			hint: "lime reads there what is mapped into a program: mount -t proc proc /proc", err: err}
	}
	return nil
}

// leastAddresses is the address space that a recording takes: 1.4 GB of it, most never used, were
// mapped on two processors, and rings of each further one are 4 MB.
const leastAddresses = 2 << 30

// checkAddresses tells of a limit that would end lime in the middle of a recording.
func checkAddresses() error {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur >= leastAddresses {
		return nil
	}
	return &startError{name: "lime record",
		why:  fmt.Sprintf("the address space is limited to %d KB (ulimit -v), and a recording takes %d KB", l.Cur>>10, leastAddresses>>10),
		hint: fmt.Sprintf("limit the program alone: lime record -- sh -c 'ulimit -v %d; exec PROGRAM'", l.Cur>>10), err: errAddresses}
}

var errAddresses = errors.New("address space limited")

// checkProcess tells why a process that runs cannot be recorded.
func checkProcess(pid int) error {
	const state, flags, kernelThread = 0, 6, 0x00200000 // PF_KTHREAD
	f := sender.Stat(pid)
	if len(f) <= flags {
		return notAttached(pid, unix.ENOENT)
	}
	out := &startError{name: fmt.Sprintf("process %d", pid), err: errNotRecorded}
	bits, _ := strconv.ParseUint(f[flags], 10, 64) // else 0: of the program, like most
	switch group := groupOf(pid); {
	case bits&kernelThread != 0:
		out.why, out.hint = "a thread of the kernel's, and no program", "perf record -g -p looks into the kernel"
	case f[state] == "Z" || f[state] == "X":
		out.why, out.hint = "it has ended", "its parent has not taken notice yet"
	case group != 0 && group != pid:
		out.why, out.hint = fmt.Sprintf("a thread of process %d", group), fmt.Sprintf("record all of it: -p %d", group)
	default:
		return wrongKind(out.name, pid)
	}
	return out
}

var errNotRecorded = errors.New("not to be recorded")

// groupOf is the process that a thread belongs to, 0 if that is not known.
func groupOf(pid int) (group int) {
	b, _ := os.ReadFile(procPath(pid, "status"))
	_, rest, _ := strings.Cut(string(b), "\nTgid:")
	_, _ = fmt.Sscan(rest, &group) // 0 if it is gone
	return group
}

// checkRights tells of rights that a file gives to whoever runs it (execve(2), capabilities(7)):
// the kernel does not give them to a program that is traced by somebody who could not trace the
// other user's programs anyway. It would run, but not as it does alone.
func checkRights(cmd *exec.Cmd) error {
	st := unix.Stat_t{}
	if cmd.Err != nil || unix.Stat(cmd.Path, &st) != nil || mayTrace() || withoutNewRights(cmd.Path) {
		return nil
	}
	const groupMayRun = 0o010
	what := ""
	switch {
	case st.Mode&unix.S_ISUID != 0 && int(st.Uid) != os.Geteuid():
		what = "those of " + userName(st.Uid) + " (set-user-ID)"
	case st.Mode&unix.S_ISGID != 0 && st.Mode&groupMayRun != 0 && int(st.Gid) != os.Getegid():
		what = fmt.Sprintf("those of group %d (set-group-ID)", st.Gid)
	case hasCapabilities(cmd.Path):
		what = "capabilities (getcap)"
	default:
		return nil
	}
	return &startError{name: cmd.Path, why: "it runs with rights of its own, " + what +
		", which the kernel does not give to a program that you trace",
		hint: "record it as root, or a copy of the file, which has your rights only", err: unix.EPERM}
}

// mayTrace reports whether lime may trace programs of any user.
func mayTrace() bool {
	h, d := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	return unix.Capget(&h, &d[0]) == nil && d[0].Effective&(1<<unix.CAP_SYS_PTRACE) != 0
}

// withoutNewRights reports whether the file would give no rights anyway: because of where it lies,
// of what lime was started by, or because it is a script.
func withoutNewRights(path string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_NOSUID != 0 {
		return true
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err == nil && n == 1 {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 2)
	_, err = f.Read(b)
	return err == nil && string(b) == "#!"
}

func hasCapabilities(path string) bool {
	n, err := unix.Getxattr(path, "security.capability", nil)
	return err == nil && n > 0
}

func userName(uid uint32) string {
	if u, err := user.LookupId(fmt.Sprint(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprintf("user %d", uid)
}
