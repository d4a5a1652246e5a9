// Package futex has a lock, and a place to wait behind it, for goroutines that have host threads of
// their own (runtime.LockOSThread). Go's own let a waiting goroutine go: to wake one that has a
// thread, Go must hand it over from thread to thread, which takes two switches more, and a
// processor of Go's must be free. Here the thread itself waits, in futex(2), and is woken by one
// call. It imports nothing of ours.
package futex

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mutex is a lock. The zero value is free.
type Mutex struct {
	state atomic.Uint32
	due   []*Cond // to be woken when it is given back: earlier they would only wait for it
}

// What a lock's word says (U. Drepper, Futexes Are Tricky, mutex 2).
const (
	free uint32 = iota
	held
	wanted // held, and perhaps somebody waits
)

// looks is how often a thread looks whether a lock is free before it sleeps: some hundred
// nanoseconds, which is less than going to sleep takes.
const looks = 200

// Lock takes the lock, and waits for it if need be.
func (m *Mutex) Lock() {
	for range looks {
		if m.state.Load() == free && m.state.CompareAndSwap(free, held) {
			return
		}
	}
	for m.state.Swap(wanted) != free {
		wait(&m.state, wanted, -1)
	}
}

// Unlock gives the lock back, and wakes who was signalled meanwhile.
func (m *Mutex) Unlock() {
	var room [8]*Cond
	due := append(room[:0], m.due...)
	m.due = m.due[:0]
	if m.state.Swap(free) == wanted {
		wake(&m.state, 1)
	}
	for _, c := range due {
		wake(&c.turn, all)
	}
}

// Cond is where threads wait that hold a lock, until another one that holds it has them look again.
type Cond struct {
	m       *Mutex
	turn    atomic.Uint32
	waiters int // guarded by m
}

// NewCond is a place to wait behind a lock.
func NewCond(m *Mutex) *Cond { return &Cond{m: m} }

// Wait gives the lock up until somebody calls Broadcast, at most for d (negative: for ever), and
// takes it again. It may come back for no reason.
func (c *Cond) Wait(d time.Duration) {
	turn := c.turn.Load()
	c.waiters++
	c.m.Unlock()
	wait(&c.turn, turn, d)
	c.m.Lock()
	c.waiters--
}

// Broadcast wakes all who wait, when the lock is given back.
func (c *Cond) Broadcast() {
	if c.waiters > 0 {
		c.turn.Add(1)
		c.m.due = append(c.m.due, c)
	}
}

// all is how many a call may wake.
const all = 1<<31 - 1

// Operations of futex(2).
const (
	opWait = 0 | 128 // FUTEX_WAIT_PRIVATE
	opWake = 1 | 128
)

// wait sleeps while a word has a value, at most for d, if that is not negative.
func wait(word *atomic.Uint32, value uint32, d time.Duration) {
	var until *unix.Timespec
	if d >= 0 {
		ts := unix.NsecToTimespec(int64(d))
		until = &ts
	}
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), opWait, uintptr(value), uintptr(unsafe.Pointer(until)), 0, 0)
}

func wake(word *atomic.Uint32, n int) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), opWake, uintptr(n), 0, 0, 0)
}
