package guest

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

func TestEveryRowOfTheTable(t *testing.T) {
	seen := map[uint64]string{}
	for _, rows := range [][]sysRow{memoryRows, threadRows, timeRows, fileRows, pathRows, socketRows, hostRows, refusedRows} {
		for _, r := range rows {
			if other, twice := seen[r.nr]; twice {
				t.Errorf("%d is %s and %s", r.nr, other, r.name)
			}
			seen[r.nr] = r.name
			if got := rowOf(r.nr); got == nil || got.name != r.name {
				t.Errorf("%d %s: not found", r.nr, r.name)
			}
			if (r.kind == refused) != (r.do == nil) {
				t.Errorf("%s: kind %d does not fit its handler", r.name, r.kind)
			}
			if r.quiet && r.kind != refused {
				t.Errorf("%s: quiet, but not refused", r.name)
			}
		}
	}
	if rowOf(1<<40) != nil || rowOf(100000) != nil {
		t.Error("a row for a number that does not exist")
	}
}

// TestNumbersAgainstTheKernelsHeader holds names and numbers to the installed header.
func TestNumbersAgainstTheKernelsHeader(t *testing.T) {
	testenv.Tool(t, "gcc") // whose packages bring it
	var text []byte
	for _, p := range []string{"/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"} {
		if b, err := os.ReadFile(p); err == nil {
			text = b
		}
	}
	if text == nil {
		t.Fatal("the kernel's headers (linux-libc-dev) are not installed")
	}
	missing := 0
	for _, m := range regexp.MustCompile(`#define __NR_(\w+)\s+(\d+)`).FindAllStringSubmatch(string(text), -1) {
		nr, _ := strconv.ParseUint(m[2], 10, 64)
		row := rowOf(nr)
		switch {
		case row == nil:
			missing++
			t.Logf("%s (%d) has no row: it answers ENOSYS", m[1], nr)
		case row.name != m[1]:
			t.Errorf("%d is %s, the table says %s", nr, m[1], row.name)
		}
	}
	if missing > 20 {
		t.Errorf("%d system calls have no row", missing)
	}
}

// TestRefusedCallsAnswerENOSYSOnce: each is named once, and the program goes on.
func TestRefusedCallsAnswerENOSYSOnce(t *testing.T) {
	r := newRig(t, 1)
	loud := 0
	for _, row := range refusedRows {
		for range 2 {
			r.expect(-int64(unix.ENOSYS), 0, row.name)
		}
		if !row.quiet {
			loud++
		}
	}
	if len(r.host.notes) != loud {
		t.Errorf("%d notes for %d refused calls: %q", len(r.host.notes), loud, r.host.notes)
	}
	th := r.p.threads[0]
	th.Ctx.GPR[rax] = 9999
	if r.p.HandleSyscall(th); int64(th.Ctx.GPR[rax]) != -int64(unix.ENOSYS) {
		t.Errorf("unknown call answers %d", int64(th.Ctx.GPR[rax]))
	}
}

// TestHandlersSurviveBadArguments: no argument may crash lime. Calls that end or
// replace the process, touch other processes or block in the host are left out.
func TestHandlersSurviveBadArguments(t *testing.T) {
	skip := map[string]bool{"exit": true, "exit_group": true, "fork": true, "vfork": true, "clone": true, "clone3": true,
		"execve": true, "execveat": true, "kill": true, "tkill": true, "tgkill": true, "rt_sigreturn": true, "close": true, "close_range": true,
		"dup2": true, "dup3": true, "shmat": true, "shmdt": true, "munmap": true, "mremap": true, "mmap": true,
		"mprotect": true, "rt_sigqueueinfo": true,
		"rt_tgsigqueueinfo": true, "brk": true}
	values := []uint64{0, 1, 0xfff, 1 << 20, 0x7fff_ffff_f000, ^uint64(0), 1 << 63}
	r := newRig(t, 1)
	for _, rows := range [][]sysRow{memoryRows, threadRows, timeRows} {
		for _, row := range rows {
			if skip[row.name] || row.kind == passed {
				continue
			}
			for i, a := range values {
				b := values[(i+3)%len(values)]
				th := r.p.threads[0]
				r.call(0, row.name, a, b, a, b, 8, a)
				if th.block != nil {
					r.p.wake(th, causeSignal, 0)
					th.block = nil
				}
				th.savedMask, th.mask, th.pending, r.p.pending = nil, 0, sigQueue{}, sigQueue{}
			}
		}
	}
}
