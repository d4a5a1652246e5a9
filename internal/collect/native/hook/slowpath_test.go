package hook

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"
)

const oneWait = `
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void take(void) { pthread_mutex_lock(&m); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) static void give(void) { pthread_mutex_unlock(&m); __asm__ volatile("" ::: "memory"); }
static void *work(void *arg) { take(); give(); return arg; }
int main(void) {
	pthread_t t;
	for (int i = 0; i < 1000; i++) { take(); give(); }
	take();
	pthread_create(&t, 0, work, 0);
	while (*(volatile int *)&m != 2) usleep(100); /* until it waits */
	usleep(1000);
	give();
	pthread_join(t, 0);
	return 0;
}
`

// Of a thousand and two times that a lock is taken and given back, those are recorded for which
// somebody waited, with the lock and how long it took. Who has waited does not know whether
// somebody else waits still, and gives the lock back as if so.
func TestOnlyWaitsForLocksAreRecorded(t *testing.T) {
	out := compile(t, oneWait)
	for _, inner := range []bool{true, false} {
		cmd, tr, ring := prepared(t, out)
		in, err := Install(tr, ring, lockFuncs(inner))
		if err != nil {
			t.Fatal(err)
		}
		if inner && !in.Inner(0) {
			t.Log("this C library's locks cannot be hooked inside")
		}
		if err := tr.Detach(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		var n [2]int
		locks := map[uint64]bool{}
		ring.Drain(func(r Record) {
			n[r.Func]++
			locks[r.Arg0] = true
			if r.Func == 0 && (r.Arg1 < slow || int(r.TID) == cmd.Process.Pid) {
				t.Errorf("thread %d waited for %d cycles", r.TID, r.Arg1)
			}
			if first := n == [2]int{0, 1}; r.Func == 1 && first != (int(r.TID) == cmd.Process.Pid) {
				t.Errorf("thread %d gave it back, the first thread is %d", r.TID, cmd.Process.Pid)
			}
		})
		if n != [2]int{1, 2} || len(locks) != 1 {
			t.Errorf("inside %v: %d waits and %d releases of the locks %v, want 1, 2 and one lock", in.Inner(0), n[0], n[1], locks)
		}
		if want := map[bool]int{true: 2, false: 3}[in.Inner(0)]; len(in.Hooked) != want {
			t.Errorf("hooked %v", in.Hooked)
		}
	}
}

const slow = 3000

func lockFuncs(inner bool) []Func {
	return []Func{
		{Name: "pthread_mutex_lock", Slow: slow, Try: "pthread_mutex_trylock", Refused: 16, Inner: inner},
		{Name: "pthread_mutex_unlock", Contended: true, Inner: inner},
		{Name: "mtx_lock", Slow: slow, Same: "pthread_mutex_lock"},
	}
}

// Hooks that were taken out again record nothing, and the program runs on.
func TestSlowPathsAreRestored(t *testing.T) {
	cmd, tr, ring := prepared(t, compile(t, oneWait))
	in, err := Install(tr, ring, lockFuncs(true))
	if err != nil {
		t.Fatal(err)
	}
	if in.Inner(0) != (len(in.patches) > 0) {
		t.Errorf("hooked inside: %v, %d calls", in.Inner(0), len(in.patches))
	}
	if err := errors.Join(in.Remove(tr), tr.Detach(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	ring.Drain(func(r Record) { t.Errorf("a record of function %d", r.Func) })
}

// An image whose functions cannot be told apart has no slow calls.
func TestSlowCallsNeedTheUnwindTable(t *testing.T) {
	for _, head := range [][]byte{nil, make([]byte, 64), {1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}} {
		read := func(addr uint64, p []byte) error {
			if copy(p, head[min(addr, uint64(len(head))):]) < len(p) {
				return os.ErrInvalid
			}
			return nil
		}
		if _, err := newCodeMap(0, read); err == nil {
			t.Errorf("a table is read out of %x", head)
		}
	}
}

// The code that leads to the system call is found behind a jump; other calls are none of it.
func TestSlowCalls(t *testing.T) {
	const entry, proper, sleeps, other = 0x000, 0x100, 0x200, 0x300
	mem := make([]byte, 0x400)
	copy(mem[entry:], []byte{0xe9, 0xfb, 0, 0, 0})                                        // jmp proper
	copy(mem[proper:], []byte{0xe8, 0xfb, 1, 0, 0, 0x90, 0xe8, 0xf5, 0, 0, 0, 0xc3})      // call other; nop; call sleeps; ret
	copy(mem[sleeps:], []byte{0x31, 0xd2, 0xb8, 202, 0, 0, 0, 0x0f, 0x05, 0xc3})          // xor edx, edx; mov eax, futex; syscall; ret
	copy(mem[other:], []byte{0xb8, 202, 0, 0, 0, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3, 0}) // mov eax, futex; mov eax, getpid; syscall; ret
	m := &codeMap{starts: []uint64{entry, proper, sleeps, other}, read: func(addr uint64, p []byte) error {
		copy(p, mem[min(addr, uint64(len(mem))):])
		return nil
	}}
	got := m.slowCalls(entry)
	if len(got) != 1 || got[0] != (slowCall{proper + 6, sleeps}) {
		t.Errorf("%x", got)
	}
	if got := m.slowCalls(entry + 1); len(got) != 0 {
		t.Errorf("inside of a function: %x", got)
	}
}

// A ring is crowded from a quarter of its room on, until it is drained.
func TestCrowded(t *testing.T) {
	r, err := NewRing()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, n := range []uint64{0, ringSlots / 4, ringSlots/4 + 1} {
		atomic.StoreUint64(r.word(offHead), n)
		if r.Crowded() != (n > ringSlots/4) {
			t.Errorf("%d of %d slots: crowded %v", n, ringSlots, r.Crowded())
		}
	}
	r.next = ringSlots/4 + 1
	if r.Crowded() {
		t.Error("crowded when all is read")
	}
}
