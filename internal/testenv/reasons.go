// The reasons for which a test may skip on a machine that has all tools, each with a check that it
// holds.
package testenv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Reason is something about the machine, or the run of the tests, that leaves a test nothing to
// look at.
type Reason struct {
	name  string
	why   string
	holds func(t testing.TB) bool
}

// reasons is the table. Whoever adds a row says how to tell that it holds, by other means than the
// test that skips.
var reasons = []Reason{
	{Short, "the tests were asked to be short (-short)", func(testing.TB) bool { return testing.Short() }},
	{NotLong, "it takes minutes: LIME_LONG=1, as make check-long sets it", func(testing.TB) bool { return !Long() }},
	{OnRequest, "it writes figures or pages, when asked for", func(testing.TB) bool { return true }},
	{OneCore, "this machine has one core", func(testing.TB) bool { return runtime.NumCPU() < 2 }},
	{Root, "root may do everything", func(testing.TB) bool { return os.Geteuid() == 0 }},
	{NotRoot, "only root may become another user", func(testing.TB) bool { return os.Geteuid() != 0 }},
	{NoMount, "no file system may be mounted here", func(t testing.TB) bool { return !mounts(t) }},
	{InChroot, "the root directory is no mount (chroot), so there can be no name space of mounts of its own", func(testing.TB) bool {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		return errors.Is(cmd.Run(), syscall.EINVAL)
	}},
	{NoTracing, "ptrace is not allowed here", func(testing.TB) bool { return !traces() }},
	{NoSampling, "perf events are not allowed here", func(testing.TB) bool { return !samples() }},
	{NoWatching, "accesses to watched memory do not trap here", func(testing.TB) bool { return !samples() || !debugRegisters() }},
	{NoFilters, "the kernel has no seccomp", func(testing.TB) bool {
		return unix.Prctl(unix.PR_GET_SECCOMP, 0, 0, 0, 0) != nil
	}},
	{NoAVX, "the processor has no AVX", func(testing.TB) bool { return !flagged("avx") }},
	{NoAVX512, "the processor has no AVX-512 with short vectors", func(testing.TB) bool { return !flagged("avx512vl") }},
	{OtherKernel, "the kernel is not of the series 6.12 to 6.18, whose places of maps are ours, or does not let go of " +
		"randomisation", func(testing.TB) bool {
		return !places()
	}},
	{NoTerminal, "terminals cannot be made here", func(testing.TB) bool {
		f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		_, gone := os.Stat("/dev/pts")
		return err != nil || gone != nil
	}},
	{NoKernelThreads, "the kernel's threads cannot be seen from here", func(testing.TB) bool {
		name, _ := os.ReadFile("/proc/2/comm")
		return string(name) != "kthreadd\n"
	}},
	{OldRust, "rustc is older than 1.80", func(testing.TB) bool { return !RustSince(80) }},
}

// The names of the reasons.
const (
	Short      = "short"
	NotLong    = "not long"
	OnRequest  = "on request"
	OneCore    = "one core"
	Root       = "root"
	NotRoot    = "not root"
	NoMount    = "no mount"
	NoTracing  = "no tracing"
	NoSampling = "no sampling"
	NoWatching = "no watching"
	NoFilters  = "no filters"
	NoAVX      = "no AVX"
	NoAVX512   = "no AVX-512"

	OtherKernel     = "other kernel"
	NoTerminal      = "no terminal"
	NoKernelThreads = "no kernel threads"
	InChroot        = "in a chroot"
	OldRust         = "old rust"
)

// Skip ends the test without a verdict, for a reason of the table; one that does not hold here is a
// failure.
func Skip(t testing.TB, reason string, details ...any) {
	t.Helper()
	for _, r := range reasons {
		if r.name != reason {
			continue
		}
		if !r.holds(t) {
			t.Fatalf("skips because %s, but that is not so: %v", r.why, details)
		}
		t.Log(details...)
		t.Skip(r.why)
	}
	t.Fatalf("%q is no reason to skip: see internal/testenv", reason)
}

// SkipShort skips the test if -short was given.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		Skip(t, Short)
	}
}

// SkipUnlessLong skips the test unless the long versions are wanted.
func SkipUnlessLong(t testing.TB) {
	t.Helper()
	if !Long() {
		Skip(t, NotLong)
	}
}

// mounts tells whether this user may mount a file system.
func mounts(t testing.TB) bool {
	dir := t.TempDir()
	if unix.Mount("none", dir, "tmpfs", 0, "size=16k") != nil {
		return false
	}
	return unix.Unmount(dir, unix.MNT_DETACH) == nil
}

// traces tells whether a child can be traced, and its memory be read.
func traces() bool {
	runtime.LockOSThread() // ptrace belongs to the thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/bin/sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if cmd.Start() != nil {
		return false
	}
	defer func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() }()
	var status unix.WaitStatus
	if _, err := unix.Wait4(cmd.Process.Pid, &status, unix.WALL, nil); err != nil {
		return false
	}
	var regs unix.PtraceRegs
	return unix.PtraceGetRegs(cmd.Process.Pid, &regs) == nil
}

// places tells whether the kernel is one of those whose places of maps lime follows, and can be
// asked for them.
func places() bool {
	var u unix.Utsname
	var major, minor int
	if unix.Uname(&u) != nil {
		return false
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major == 6 && minor >= 12 && minor <= 18 && exec.Command("setarch", "-R", "true").Run() == nil
}

// samples tells whether the simplest of sampling clocks can be had for this process.
func samples() bool {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: 1e6, Sample_type: unix.PERF_SAMPLE_IP,
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitDisabled,
	}
	attr.Size = unix.PERF_ATTR_SIZE_VER5
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return false
	}
	return unix.Close(fd) == nil
}

// debugRegisters tells whether the processor stops where a debug register says: a child that is traced
// has a breakpoint at its first instruction.
func debugRegisters() bool {
	const registers = 848 // u_debugreg in the kernel's struct user
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if cmd.Start() != nil {
		return false
	}
	pid := cmd.Process.Pid
	var regs unix.PtraceRegs
	var ws unix.WaitStatus
	_, err := unix.Wait4(pid, &ws, 0, nil) // it stands before its first instruction
	if err == nil {
		err = unix.PtraceGetRegs(pid, &regs)
	}
	for _, r := range []struct {
		number int
		value  uint64
	}{{0, regs.Rip}, {7, 1}} {
		if err == nil {
			_, err = unix.PtracePokeUser(pid, registers+8*uintptr(r.number), binary.LittleEndian.AppendUint64(nil, r.value))
		}
	}
	if err == nil {
		err = unix.PtraceCont(pid, 0)
	}
	if err == nil {
		_, err = unix.Wait4(pid, &ws, 0, nil)
	}
	stands := err == nil && ws.Stopped() && ws.StopSignal() == unix.SIGTRAP
	_ = cmd.Process.Kill() // it may have ended
	_, _ = cmd.Process.Wait()
	return stands
}

// RustSince tells whether rustc is of version 1.minor or newer.
func RustSince(minor int) bool {
	out, _ := exec.Command("rustc", "--version").Output()
	var have int
	_, err := fmt.Sscanf(string(out), "rustc 1.%d.", &have)
	return err == nil && have >= minor
}

// flagged tells whether /proc/cpuinfo lists a feature of the processor.
func flagged(feature string) bool {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "flags"); ok {
			return strings.Contains(" "+strings.TrimSpace(list)+" ", " "+feature+" ")
		}
	}
	return false
}
