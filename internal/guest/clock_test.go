package guest

import (
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
	"lime/internal/unit"
)

func TestTimersFireInOrder(t *testing.T) {
	var q timerQueue
	var got []int
	add := func(at unit.Nanos, n int) *timer {
		return q.set(at, func(unit.Nanos) { got = append(got, n) })
	}
	add(30, 3)
	add(10, 1)
	stopped := add(20, 9)
	add(10, 2)
	add(NoDeadline, 8)
	q.stop(stopped)
	q.stop(stopped)
	q.stop(nil)
	q.advance(9)
	q.advance(30)
	if len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 3 {
		t.Errorf("fired %v", got)
	}
	if _, ok := q.next(); ok {
		t.Error("something is left")
	}
}

func TestClocks(t *testing.T) {
	r := newRig(t, 2)
	r.host.now = 1_500_000_001
	rows := []struct {
		clock uint64
		want  unit.Nanos
	}{
		{unix.CLOCK_REALTIME, epoch + r.host.now}, {unix.CLOCK_MONOTONIC, bootTime + r.host.now}, {unix.CLOCK_BOOTTIME, bootTime + r.host.now},
		{unix.CLOCK_PROCESS_CPUTIME_ID, r.host.now}, {unix.CLOCK_THREAD_CPUTIME_ID, r.host.now},
		{uint64(cpuClockOf(FirstTID + 1)), r.host.now}, // pthread_getcpuclockid
	}
	for _, row := range rows {
		r.expect(0, 0, "clock_gettime", row.clock, r.mem)
		sec, _ := r.p.mem.load64(r.mem)
		ns, _ := r.p.mem.load64(r.mem + 8)
		if got := unit.Nanos(sec*1e9 + ns); got != row.want {
			t.Errorf("clock %#x: %d, want %d", row.clock, got, row.want)
		}
	}
	r.expect(-int64(unix.EINVAL), 0, "clock_gettime", 99, r.mem)
	r.expect(int64(epoch/1e9)+1, 0, "time", 0)
	r.expect(0, 0, "gettimeofday", r.mem, 0)
	if us, _ := r.p.mem.load64(r.mem + 8); us != 500_000 {
		t.Errorf("%d microseconds", us)
	}
}

func TestSleepEndsAtItsTime(t *testing.T) {
	r := newRig(t, 2)
	r.blocks(0, "nanosleep", r.timespec(r.mem, 5000), 0)
	r.blocks(1, "clock_nanosleep", unix.CLOCK_MONOTONIC, 1, r.timespec(r.mem+16, bootTime+3000), 0)
	then, ok := r.p.Idle(1000)
	if !ok || then != 3000 {
		t.Fatalf("idle until %d %v", then, ok)
	}
	if r.host.readyAt[0] != 3000 {
		t.Errorf("ready at %v", r.host.readyAt)
	}
	r.woken(1)
	r.host.now = 3000
	r.resumes(1, 0)
	if then, _ = r.p.Idle(3000); then != 6000 {
		t.Errorf("idle until %d", then)
	}
	r.woken(0)
	if _, out := r.call(1, "nanosleep", r.timespec(r.mem, 0), 0); out.Kind != Yield {
		t.Errorf("a sleep of 0: %v", out.Kind)
	}
	r.expect(-int64(unix.EINVAL), 1, "nanosleep", r.timespec(r.mem, -5), 0)
}

func TestIntervalTimers(t *testing.T) {
	r := newRig(t, 1)
	r.p.mem.write(r.mem, append(timevalBytes(2000_000), timevalBytes(1000_000)...))
	r.expect(0, 0, "setitimer", 0, r.mem, 0)
	r.expect(0, 0, "getitimer", 0, r.mem+64)
	if us, _ := r.p.mem.load64(r.mem + 64 + 24); us != 1000 {
		t.Errorf("%d microseconds left", us)
	}
	r.blocks(0, "pause")
	r.handleLater(unix.SIGALRM)
	r.p.Advance(1_001_000)
	r.woken(0)
	if at, _ := r.p.NextDeadline(); at != 3_001_000 {
		t.Errorf("next at %d", at)
	}
	r.p.Advance(8_000_000)
	if at, _ := r.p.NextDeadline(); at != 9_001_000 {
		t.Errorf("after a jump: next at %d", at)
	}
}

// handleLater sets a handler without a call.
func (r *rig) handleLater(sig unix.Signal) {
	r.p.actions[sig] = sigAction{handler: handlerPC, flags: saRestorer, restorer: restorerPC}
}

func TestPosixTimer(t *testing.T) {
	r := newRig(t, 2)
	r.handleLater(unix.SIGUSR1)
	var ev [64]byte
	putLE64(ev[:], 77)
	putLE32(ev[8:], uint32(unix.SIGUSR1))
	putLE32(ev[12:], 4) // SIGEV_THREAD_ID
	putLE32(ev[16:], FirstTID+1)
	r.p.mem.write(r.mem, ev[:])
	r.expect(0, 0, "timer_create", unix.CLOCK_REALTIME, r.mem, r.mem+128)
	id := uint64(r.load32(r.mem + 128))
	r.p.mem.write(r.mem+256, append(timespecBytes(0), timespecBytes(500)...))
	r.expect(0, 0, "timer_settime", id, 0, r.mem+256, 0)
	r.blocks(1, "pause")
	r.p.Advance(1500)
	r.woken(1)
	r.p.Enter(r.p.threads[1])
	at := r.p.threads[1].Ctx.GPR[rsp]
	if v := r.load32(at + frameInfo + 24); v != 77 {
		t.Errorf("value %d", v)
	}
	if v := int32(r.load32(at + frameInfo + 8)); v != siTimer {
		t.Errorf("code %d", v)
	}
	r.expect(0, 0, "timer_delete", id)
	r.expect(-int64(unix.EINVAL), 0, "timer_delete", id)
}

func TestTimerDescriptor(t *testing.T) {
	r := newRig(t, 1)
	fd := uint64(r.must(0, "timerfd_create", unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC))
	defer r.call(0, "close", fd)
	r.p.mem.write(r.mem, append(timespecBytes(1000), timespecBytes(1000)...))
	r.expect(0, 0, "timerfd_settime", fd, 0, r.mem, 0)
	r.blocks(0, "read", fd, r.mem+64, 8)
	r.p.Advance(4500)
	r.woken(0)
	r.resumes(0, 8)
	if n, _ := r.p.mem.load64(r.mem + 64); n != 3 {
		t.Errorf("%d expirations, want 3", n)
	}
}

// cpuClockOf is the clock of pthread_getcpuclockid.
func cpuClockOf(tid uint32) uint32 { return ^tid<<3 | 6 }

func TestTimeThroughTheOldFixedPage(t *testing.T) {
	r := newRig(t, 1)
	th := r.p.threads[0]
	sp := th.Ctx.GPR[rsp]
	r.p.mem.store64(sp, 0x401234)
	th.Ctx.RIP = 0xffffffffff600400
	r.p.HandleFault(th, cpu.Exit{Signal: int(unix.SIGSEGV), Trapno: 14})
	if c := th.Ctx; c.GPR[rax] != uint64(epoch/1e9) || c.RIP != 0x401234 || c.GPR[rsp] != sp+8 {
		t.Errorf("time %d, rip %#x", c.GPR[rax], c.RIP)
	}
}
