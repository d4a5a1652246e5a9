package guest

import (
	"testing"

	"golang.org/x/sys/unix"
)

const noBits = uint64(futexMatchAny)

func TestFutexWakesInOrderOfArrival(t *testing.T) {
	r := newRig(t, 5)
	f := r.mem
	for _, th := range []int{2, 1, 3} {
		r.blocks(th, "futex", f, futexWait|futexPrivateFlag, 0, 0)
	}
	r.expect(2, 0, "futex", f, futexWake|futexPrivateFlag, 2)
	r.woken(2, 1)
	r.resumes(2, 0)
	r.resumes(1, 0)
	r.expect(1, 0, "futex", f, futexWake, 10)
	r.woken(3)
	r.expect(0, 0, "futex", f, futexWake, 10)
}

func TestFutexWaitLooksAtTheValue(t *testing.T) {
	r := newRig(t, 1)
	r.store32(r.mem, 7)
	r.expect(-int64(unix.EAGAIN), 0, "futex", r.mem, futexWait, 8)
	r.expect(-int64(unix.EFAULT), 0, "futex", 0x1000, futexWait, 8)
	r.expect(-int64(unix.EINVAL), 0, "futex", r.mem+2, futexWait, 8)
	r.expect(-int64(unix.EINVAL), 0, "futex", r.mem, futexWaitBitset, 7, 0, 0, 0)
	r.expect(-int64(unix.ENOSYS), 0, "futex", r.mem, 11, 7)
}

func TestFutexBitset(t *testing.T) {
	r := newRig(t, 3)
	r.blocks(1, "futex", r.mem, futexWaitBitset, 0, 0, 0, 1)
	r.blocks(2, "futex", r.mem, futexWaitBitset, 0, 0, 0, 2)
	r.expect(1, 0, "futex", r.mem, futexWakeBitset, 9, 0, 0, 2)
	r.woken(2)
}

func TestFutexTimeouts(t *testing.T) {
	r := newRig(t, 3)
	ts := r.timespec(r.mem+64, 500)
	r.blocks(1, "futex", r.mem, futexWait, 0, ts)
	abs := r.timespec(r.mem+96, bootTime+1200)
	r.blocks(2, "futex", r.mem, futexWaitBitset, 0, abs, 0, noBits)
	if at, ok := r.p.NextDeadline(); !ok || at != 1200 {
		t.Fatalf("next deadline %d %v, want 1200", at, ok)
	}
	r.p.Advance(1199)
	r.woken()
	r.p.Advance(1600)
	r.woken(2, 1)
	r.resumes(2, -int64(unix.ETIMEDOUT))
	r.resumes(1, -int64(unix.ETIMEDOUT))
	r.expect(0, 0, "futex", r.mem, futexWake, 10)
}

func TestFutexRequeue(t *testing.T) {
	r := newRig(t, 5)
	a, b := r.mem, r.mem+8
	for th := 1; th <= 4; th++ {
		r.blocks(th, "futex", a, futexWait, 0, 0)
	}
	r.expect(-int64(unix.EAGAIN), 0, "futex", a, futexCmpRequeue, 1, 2, b, 5)
	r.expect(3, 0, "futex", a, futexCmpRequeue, 1, 2, b, 0)
	r.woken(1)
	r.expect(2, 0, "futex", b, futexWake, 9)
	r.woken(2, 3)
	r.expect(1, 0, "futex", a, futexWake, 9)
	r.woken(4)
}

func TestFutexWakeOp(t *testing.T) {
	rows := []struct {
		op, cmp, arg, cmpArg uint32
		old, new             uint32
		second               bool
	}{
		{0, 0, 5, 3, 3, 5, true},
		{1, 1, 2, 3, 3, 5, false},
		{2, 4, 4, 1, 3, 7, true},
		{3, 2, 1, 1, 3, 2, false},
		{4, 3, 1, 3, 3, 2, true},
		{8, 5, 4, 3, 3, 16, true},
	}
	for _, row := range rows {
		r := newRig(t, 3)
		r.blocks(1, "futex", r.mem, futexWait, 0, 0)
		r.store32(r.mem+8, row.old)
		r.blocks(2, "futex", r.mem+8, futexWait, uint64(row.old), 0)
		want := int64(1)
		if row.second {
			want = 2
		}
		e := row.op<<28 | row.cmp<<24 | row.arg<<12 | row.cmpArg
		r.expect(want, 0, "futex", r.mem, futexWakeOp, 1, 1, r.mem+8, uint64(e))
		if got := r.load32(r.mem + 8); got != row.new {
			t.Errorf("%+v: word %d", row, got)
		}
		r.p.Close()
	}
}

func TestFutexPriorityInheritance(t *testing.T) {
	r := newRig(t, 3)
	tid := func(n int) uint32 { return uint32(r.p.threads[n].TID) }
	r.expect(0, 0, "futex", r.mem, futexLockPI, 0, 0)
	if v := r.load32(r.mem); v != tid(0) {
		t.Fatalf("word %#x", v)
	}
	r.expect(-int64(unix.EDEADLK), 0, "futex", r.mem, futexLockPI, 0, 0)
	r.expect(-int64(unix.EAGAIN), 1, "futex", r.mem, futexTrylockPI, 0, 0)
	r.blocks(1, "futex", r.mem, futexLockPI, 0, 0)
	r.blocks(2, "futex", r.mem, futexLockPI2, 0, 0)
	r.expect(-int64(unix.EPERM), 0, "futex", r.mem+4, futexUnlockPI)
	r.expect(0, 0, "futex", r.mem, futexUnlockPI)
	r.woken(1)
	r.resumes(1, 0)
	if v := r.load32(r.mem); v != tid(1)|futexWaiters {
		t.Fatalf("word %#x", v)
	}
	r.expect(0, 1, "futex", r.mem, futexUnlockPI)
	r.resumes(2, 0)
	r.expect(0, 2, "futex", r.mem, futexUnlockPI)
	if v := r.load32(r.mem); v != 0 {
		t.Fatalf("word %#x", v)
	}
}

func TestThreadExitWakesJoinerAndRobustLocks(t *testing.T) {
	r := newRig(t, 3)
	lock, head, tid := r.mem+512, r.mem+256, r.mem+768
	dying := r.p.threads[1]
	r.p.mem.store64(head, lock) // next: the lock's list entry
	r.p.mem.store64(head+8, 8)  // futex word at entry+8
	r.p.mem.store64(head+16, 0) // nothing pending
	r.p.mem.store64(lock, head) // end of the list
	r.store32(lock+8, uint32(dying.TID)|futexWaiters)
	r.store32(tid, uint32(dying.TID))
	r.expect(0, 1, "set_robust_list", head, 24)
	r.expect(int64(dying.TID), 1, "set_tid_address", tid)
	r.blocks(0, "futex", tid, futexWait, uint64(dying.TID), 0)
	r.blocks(2, "futex", lock+8, futexWait, uint64(r.load32(lock+8)), 0)
	if _, out := r.call(1, "exit", 0); out.Kind != ThreadExit {
		t.Fatal(out.Kind)
	}
	r.woken(2, 0)
	if v := r.load32(lock + 8); v != futexWaiters|futexOwnerDied {
		t.Errorf("lock word %#x", v)
	}
	if v := r.load32(tid); v != 0 {
		t.Errorf("tid word %d", v)
	}
}

func TestDeadlockIsDescribed(t *testing.T) {
	r := newRig(t, 2)
	r.store32(r.mem, uint32(r.p.threads[1].TID))
	r.blocks(0, "futex", r.mem, futexWait, uint64(r.load32(r.mem)), 0)
	ws := r.p.Waits()
	if len(ws) != 1 || ws[0].Wait.Kind != WaitFutex || ws[0].Wait.Syscall != "futex" {
		t.Fatalf("%+v", ws)
	}
	want := "futex at " + hex(r.mem) + " (value 0x401641), held by thread 4200001"
	if ws[0].Text != want {
		t.Errorf("%q, want %q", ws[0].Text, want)
	}
	if _, ok := r.p.Idle(1000); ok {
		t.Error("no deadlock found")
	}
}
