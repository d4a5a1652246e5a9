package native

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lime/internal/collect/native/hook"
	"lime/internal/perf"
)

// Check is one thing that recording needs, and whether this machine and user have it.
type Check struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Found string `json:"found"` // what was found
	Gives string `json:"gives"` // what it is good for
	Fix   string `json:"fix"`   // what would bring it, "" if nothing is missing
}

// Doctor looks at what can be recorded here.
func Doctor() []Check {
	var out []Check
	for _, check := range []func() []Check{paranoia, samplingClocks, counters, locked, tracing, timeStamps, debugRegisters} {
		out = append(out, check()...)
	}
	return out
}

func paranoia() []Check {
	c := Check{Name: "perf events", Gives: "samples of call paths, time on a CPU of every thread"}
	level, ok := perf.Paranoid()
	switch {
	case !ok:
		c.Found, c.Fix = "the kernel has none", "a kernel with CONFIG_PERF_EVENTS; in a container, a seccomp profile that allows perf_event_open"
	case level > 2 && os.Geteuid() != 0:
		c.Found = fmt.Sprintf("kernel.perf_event_paranoid is %d", level)
		c.Fix = "sudo sysctl kernel.perf_event_paranoid=2, or sudo setcap cap_perfmon+ep on lime"
	default:
		c.OK, c.Found = true, fmt.Sprintf("kernel.perf_event_paranoid is %d", level)
	}
	return []Check{c}
}

// samplingClocks tries the sampling clocks on lime itself.
func samplingClocks() []Check {
	c := Check{Name: "sampling clock", Gives: "samples"}
	for _, k := range perf.Clocks() {
		err := try(k, perf.Layout{Stack: DefaultStackBytes})
		if err == nil {
			c.OK, c.Found = true, k.Name
			return []Check{c}
		}
		c.Found, c.Fix = err.Error(), fixOf(err)
	}
	return []Check{c}
}

func try(k perf.Clock, l perf.Layout) error {
	s, err := perf.Open(perf.Options{PID: os.Getpid(), Clock: k, Frequency: 99, Layout: l, Leader: true, Pages: 1})
	if err == nil {
		s.Close()
	}
	return err
}

func fixOf(err error) string {
	var u *perf.UnsupportedError
	if errors.As(err, &u) {
		return u.Hint
	}
	return "see perf_event_open(2)"
}

// counters tries the processor's counters.
func counters() []Check {
	var out []Check
	for _, k := range append(perf.Clocks()[:1:1], perf.HardwareEvents()...) {
		c := Check{Name: "counter " + k.Name, Gives: "samples by " + k.Name}
		if err := try(k, perf.Layout{}); err != nil {
			c.Found, c.Fix = "not available", fixOf(err)
		} else {
			c.OK, c.Found = true, "available"
		}
		out = append(out, c)
	}
	return out
}

// locked tells how large the rings may be.
func locked() []Check {
	c := Check{Name: "memory for rings", OK: true, Gives: "no samples lost at high rates"}
	b, err := os.ReadFile("/proc/sys/kernel/perf_event_mlock_kb")
	if err != nil {
		return nil
	}
	c.Found = "kernel.perf_event_mlock_kb is " + strings.TrimSpace(string(b))
	return []Check{c}
}

// tracing starts a program under ptrace, as the hooks need it.
func tracing() []Check {
	c := Check{Name: "tracing", Gives: "sections: barriers, joins, parallel regions, and waits for locks"}
	if err := traceOne(); err != nil {
		c.Found = err.Error()
		c.Fix = "in a container: --cap-add SYS_PTRACE, or a seccomp profile that allows ptrace; else sysctl kernel.yama.ptrace_scope=1 or less"
		return []Check{c}
	}
	c.OK, c.Found = true, "programs can be prepared at their start"
	if b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil {
		c.Found += "; kernel.yama.ptrace_scope is " + strings.TrimSpace(string(b))
	}
	return []Check{c}
}

// traceOne starts lime itself under ptrace and stops it before its first instruction.
func traceOne() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "--version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill() // it has served its purpose
		_, _ = unix.Wait4(cmd.Process.Pid, nil, unix.WALL, nil)
	}()
	if _, err := unix.Wait4(cmd.Process.Pid, nil, unix.WALL, nil); err != nil {
		return err
	}
	t, err := hook.Attach(cmd.Process.Pid)
	if err != nil {
		return err
	}
	defer t.Detach() //nolint:errcheck // it is killed next
	_, err = hook.Mappings(cmd.Process.Pid)
	return err
}

// timeStamps looks at the clock of the hooks.
func timeStamps() []Check {
	c := Check{Name: "time stamps", Gives: "exact times of synchronisation"}
	b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	name := strings.TrimSpace(string(b))
	if err != nil {
		return nil
	}
	c.Found = "the kernel's clock source is " + name
	c.OK = name != "hpet" && name != "acpi_pm"
	if !c.OK {
		c.Fix = "the time stamp counter is not trusted by the kernel here: times between cores may be off by microseconds"
	}
	return []Check{c}
}
