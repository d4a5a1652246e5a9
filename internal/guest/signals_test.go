package guest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

func hex(a uint64) string { return "0x" + strings.TrimLeft(formatHex(a), "0") }

func formatHex(a uint64) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	for i := range b {
		b[15-i] = digits[a>>(4*i)&15]
	}
	return string(b[:])
}

// TestFrameLayoutAgainstC compares our offsets with the C library's structures.
func TestFrameLayoutAgainstC(t *testing.T) {
	testenv.Tool(t, "gcc")
	src := `
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <ucontext.h>
#define M(f) (long)offsetof(ucontext_t, uc_mcontext.f)
int main(void) {
	printf("%ld %ld %ld %ld ", (long)offsetof(ucontext_t, uc_flags), (long)offsetof(ucontext_t, uc_stack), M(gregs), (long)offsetof(ucontext_t, uc_sigmask));
	printf("%ld %ld %ld %ld %ld ", M(gregs[REG_RIP]), M(gregs[REG_EFL]), M(gregs[REG_CSGSFS]), M(gregs[REG_ERR]), M(gregs[REG_TRAPNO]));
	printf("%ld %ld %ld ", M(gregs[REG_OLDMASK]), M(gregs[REG_CR2]), M(fpregs));
	int r[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	for (int i = 0; i < 16; i++) printf("%ld ", M(gregs[r[i]]));
	printf("%ld %ld %ld %ld", (long)offsetof(siginfo_t, si_addr), (long)offsetof(siginfo_t, si_pid), (long)offsetof(siginfo_t, si_value), (long)sizeof(siginfo_t));
}`
	dir := t.TempDir()
	exe := filepath.Join(dir, "a")
	cmd := exec.Command("gcc", "-x", "c", "-", "-o", exe)
	cmd.Stdin = strings.NewReader(src)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []int{ucFlags, ucStack, ucMcontext, ucSigmask, mcRIP, mcEflags, mcSegments, mcErr, mcTrapno, mcOldmask, mcCR2, mcFpstate}
	for reg := range 16 {
		for i, r := range mcOrder {
			if r == reg {
				want = append(want, ucMcontext+8*i)
			}
		}
	}
	got := ints(t, string(out))
	for i := range want {
		if got[i] != want[i]-frameUC {
			t.Errorf("field %d: at %d in C, at %d here", i, got[i], want[i]-frameUC)
		}
	}
	if tail := got[len(want):]; tail[0] != 16 || tail[1] != 16 || tail[2] != 24 || tail[3] != len(sigInfo{}) {
		t.Errorf("siginfo: %v", tail)
	}
}

func ints(t *testing.T, s string) (out []int) {
	t.Helper()
	for _, f := range strings.Fields(s) {
		n := 0
		for _, c := range f {
			n = n*10 + int(c-'0')
		}
		out = append(out, n)
	}
	return out
}

const (
	handlerPC  = 0x1234000
	restorerPC = 0x1235000
)

func (r *rig) handle(sig unix.Signal, flags uint64, mask sigset) {
	var b [32]byte
	putLE64(b[0:], handlerPC)
	putLE64(b[8:], flags|saRestorer)
	putLE64(b[16:], restorerPC)
	putLE64(b[24:], uint64(mask))
	r.p.mem.write(r.mem+128, b[:])
	r.expect(0, 0, "rt_sigaction", uint64(sig), r.mem+128, 0, 8)
}

func TestSignalFrameRoundTrip(t *testing.T) {
	for _, onAlt := range []bool{false, true} {
		r := newRig(t, 1)
		th := r.p.threads[0]
		flags := uint64(saSiginfo)
		if onAlt {
			flags |= saOnstack
			var st [24]byte
			putLE64(st[:], r.mem+10*pageSize)
			putLE64(st[16:], 4*pageSize)
			r.p.mem.write(r.mem, st[:])
			r.expect(0, 0, "sigaltstack", r.mem, 0)
		}
		r.handle(unix.SIGUSR1, flags, setOf(int(unix.SIGUSR2)))
		for i := range th.Ctx.GPR {
			if i != rsp {
				th.Ctx.GPR[i] = uint64(i) * 0x0101010101010101
			}
		}
		th.Ctx.RIP, th.Ctx.RFLAGS = 0x401000, 0x202|1|flagDF
		for i := range th.Ctx.XSave[160:416] {
			th.Ctx.XSave[160+i] = byte(i)
		}
		putLE64(th.Ctx.XSave[xsaveHeader:], 3)
		before := *th.Ctx
		r.p.send(th, infoFrom(int(unix.SIGUSR1), siTkill, 1, 2, 3))
		if out := r.p.Enter(th); out.Kind != Continue {
			t.Fatal(out.Kind)
		}
		c := th.Ctx
		at := c.GPR[rsp]
		if c.RIP != handlerPC || c.GPR[rdi] != uint64(unix.SIGUSR1) || c.GPR[rsi] != at+frameInfo ||
			c.GPR[rdx] != at+frameUC || at%16 != 8 || c.RFLAGS&flagDF != 0 {
			t.Fatalf("handler entered wrongly: %+v", c.GPR)
		}
		if inAlt := at > r.mem+10*pageSize && at < r.mem+14*pageSize; inAlt != onAlt {
			t.Errorf("frame at %#x", at)
		}
		if at+frameSize > before.GPR[rsp]-redZone && !onAlt {
			t.Error("the frame overlaps the red zone")
		}
		if ret, _ := r.p.mem.load64(at); ret != restorerPC {
			t.Errorf("return address %#x", ret)
		}
		if th.mask != setOf(int(unix.SIGUSR1), int(unix.SIGUSR2)) {
			t.Errorf("mask in the handler %#x", th.mask)
		}
		resetFP(c)
		c.GPR[rsp] = at + 8 // the handler's ret has popped the restorer
		c.GPR[rax] = uint64(numberOf("rt_sigreturn"))
		r.p.HandleSyscall(th)
		if c.GPR != before.GPR || c.RIP != before.RIP || c.RFLAGS != before.RFLAGS || th.mask != 0 {
			t.Errorf("after sigreturn: %x rip %#x flags %#x mask %#x", c.GPR, c.RIP, c.RFLAGS, th.mask)
		}
		if c.XSave != before.XSave {
			t.Error("vector state changed")
		}
		if len(r.host.odd) > 0 {
			t.Errorf("back where it was interrupted, it has come to %#x by nothing", r.host.odd)
		}
		r.p.Close()
	}
}

func TestInterruptedCalls(t *testing.T) {
	rows := []struct {
		name  string
		args  []uint64
		flags uint64
		again bool
	}{
		{"futex", []uint64{0, futexWait, 0, 0}, saRestart, true},
		{"futex", []uint64{0, futexWait, 0, 0}, 0, false},
		{"pause", nil, saRestart, false},
		{"nanosleep", []uint64{64, 0}, saRestart, false},
		{"poll", []uint64{0, 0, 1000}, saRestart, false},
	}
	for _, row := range rows {
		r := newRig(t, 1)
		th := r.p.threads[0]
		r.timespec(r.mem+64, 1e9)
		args := append([]uint64(nil), row.args...)
		if len(args) > 0 && row.name != "poll" {
			args[0] += r.mem
		}
		r.handle(unix.SIGUSR1, row.flags, 0)
		th.Ctx.RIP = 0x401002
		r.blocks(0, row.name, args...)
		r.p.send(nil, newInfo(int(unix.SIGUSR1), siUser))
		r.woken(0)
		r.p.Enter(th)
		at := th.Ctx.GPR[rsp]
		rip, _ := r.p.mem.load64(at + mcRIP)
		ax, _ := r.p.mem.load64(at + ucMcontext + 13*8)
		if row.again && (rip != 0x401000 || ax != uint64(numberOf(row.name))) || !row.again &&
			(rip != 0x401002 || int64(ax) != -int64(unix.EINTR)) {
			t.Errorf("%s flags %#x: rip %#x rax %d", row.name, row.flags, rip, int64(ax))
		}
		r.comesBack(th)
		if odd := r.host.odd; row.again != slices.Equal(odd, []uint64{0x401000}) || !row.again && len(odd) > 0 {
			t.Errorf("%s flags %#x: it has come to %#x by nothing", row.name, row.flags, odd)
		}
		r.p.Close()
	}
}

// comesBack ends the handler that a thread is in.
func (r *rig) comesBack(th *Thread) {
	th.Ctx.GPR[rsp] += 8
	th.Ctx.GPR[rax] = uint64(numberOf("rt_sigreturn"))
	r.p.HandleSyscall(th)
}

// TestWhereHandlersComeBackTo has handlers come back to where a signal had interrupted a thread, or
// to elsewhere, one in another: only to elsewhere nothing has led it.
func TestWhereHandlersComeBackTo(t *testing.T) {
	const here, there = 0x401000, 0x402000
	for _, row := range []struct {
		depth int
		moved int  // the handler, counted from the innermost, that goes elsewhere; 0 none
		left  bool // the first signal's handler is left by a jump, and its frame is written over
	}{{depth: 1}, {depth: 1, moved: 1}, {depth: 3}, {depth: 3, moved: 1}, {depth: 3, moved: 3}, {depth: 2, left: true}, {depth: 1, moved: 1, left: true}} {
		r := newRig(t, 1)
		th := r.p.threads[0]
		r.handle(unix.SIGUSR1, saSiginfo|saNodefer, 0)
		signal := func() {
			r.p.send(th, newInfo(int(unix.SIGUSR1), siUser))
			r.p.Enter(th)
		}
		before := *th.Ctx
		if row.left {
			th.Ctx.RIP = there
			signal()
			*th.Ctx = before
		}
		th.Ctx.RIP = here
		for range row.depth {
			signal()
			th.Ctx.GPR[rax]++ // it runs
		}
		want := []uint64{}
		for k := range row.depth {
			if k+1 == row.moved {
				r.p.mem.store64(th.Ctx.GPR[rsp]+mcRIP, there+uint64(k))
				want = append(want, there+uint64(k))
			}
			r.comesBack(th)
		}
		if !slices.Equal(r.host.odd, want) {
			t.Errorf("%+v: it has come to %#x by nothing, not to %#x", row, r.host.odd, want)
		}
		r.p.Close()
	}
}

func TestMaskedSignalsWait(t *testing.T) {
	r := newRig(t, 2)
	r.handle(unix.SIGUSR1, 0, 0)
	r.p.mem.store64(r.mem, uint64(setOf(int(unix.SIGUSR1))))
	r.expect(0, 0, "rt_sigprocmask", 0, r.mem, 0, 8)
	r.expect(0, 1, "rt_sigprocmask", 0, r.mem, 0, 8)
	r.expect(0, 0, "kill", FirstTID, uint64(unix.SIGUSR1))
	r.expect(0, 0, "rt_sigpending", r.mem+8, 8)
	if v, _ := r.p.mem.load64(r.mem + 8); sigset(v) != setOf(int(unix.SIGUSR1)) {
		t.Errorf("pending %#x", v)
	}
	r.expect(int64(unix.SIGUSR1), 1, "rt_sigtimedwait", r.mem, r.mem+256, 0, 8)
	if v := r.load32(r.mem + 256); v != uint32(unix.SIGUSR1) {
		t.Errorf("siginfo of signal %d", v)
	}
}

func TestSigtimedwaitIsWokenAndTimesOut(t *testing.T) {
	r := newRig(t, 2)
	r.p.mem.store64(r.mem, uint64(setOf(int(unix.SIGUSR1))))
	for th := range 2 {
		r.expect(0, th, "rt_sigprocmask", 0, r.mem, 0, 8)
	}
	r.timespec(r.mem+64, 100)
	r.blocks(1, "rt_sigtimedwait", r.mem, 0, r.mem+64, 8)
	r.expect(0, 0, "tgkill", FirstTID, FirstTID+1, uint64(unix.SIGUSR1))
	r.woken(1)
	r.resumes(1, int64(unix.SIGUSR1))
	r.blocks(1, "rt_sigtimedwait", r.mem, 0, r.mem+64, 8)
	r.p.Advance(2000)
	r.woken(1)
	r.resumes(1, -int64(unix.EAGAIN))
}

func TestDefaultActions(t *testing.T) {
	rows := []struct {
		sig  unix.Signal
		dies bool
		core bool
	}{{unix.SIGTERM, true, false}, {unix.SIGABRT, true, true}, {unix.SIGCHLD, false, false},
		{unix.SIGURG, false, false}, {unix.SIGKILL, true, false}, {unix.SIGPIPE, true, false}}
	for _, row := range rows {
		r := newRig(t, 1)
		_, out := r.call(0, "kill", FirstTID, uint64(row.sig))
		if dies := out.Kind == ProcessExit; dies != row.dies {
			t.Errorf("%v: %v", row.sig, out.Kind)
		}
		if st := r.p.Status(); row.dies &&
			(st.Signal != int(row.sig) || st.Core != row.core || !strings.Contains(st.Text, unix.SignalName(row.sig))) {
			t.Errorf("%v: %+v", row.sig, st)
		}
		r.p.Close()
	}
}

func TestExternalSignalEndsIdle(t *testing.T) {
	r := newRig(t, 1)
	r.handle(unix.SIGINT, 0, 0)
	r.blocks(0, "pause")
	r.p.PostSignal(int(unix.SIGINT))
	if _, ok := r.p.Idle(5); !ok {
		t.Fatal("deadlock reported")
	}
	r.woken(0)
}
