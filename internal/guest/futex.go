package guest

import (
	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// Futex operations (Linux, include/uapi/linux/futex.h; futex(2)).
const (
	futexWait        = 0
	futexWake        = 1
	futexRequeue     = 3
	futexCmpRequeue  = 4
	futexWakeOp      = 5
	futexLockPI      = 6
	futexUnlockPI    = 7
	futexTrylockPI   = 8
	futexWaitBitset  = 9
	futexWakeBitset  = 10
	futexLockPI2     = 13
	futexPrivateFlag = 128
	futexClockFlag   = 256 // FUTEX_CLOCK_REALTIME

	futexWaiters   = 0x80000000
	futexOwnerDied = 0x40000000
	futexTIDMask   = 0x3fffffff
	futexMatchAny  = 0xffffffff
)

// futexKey names a futex: an address, or a place in a shared file.
type futexKey struct{ dev, ino, at uint64 }

// futexWaiter is one thread in a queue.
type futexWaiter struct {
	t      *Thread
	bitset uint32
	key    futexKey
}

// futexTable holds the queues, each first in, first out.
type futexTable map[futexKey][]*futexWaiter

func (f futexTable) add(w *futexWaiter) { f[w.key] = append(f[w.key], w) }

func (f futexTable) remove(w *futexWaiter) {
	q := f[w.key]
	for i := range q {
		if q[i] == w {
			f.put(w.key, append(q[:i:i], q[i+1:]...))
			return
		}
	}
}

func (f futexTable) put(k futexKey, q []*futexWaiter) {
	if len(q) == 0 {
		delete(f, k)
		return
	}
	f[k] = q
}

// take removes up to n waiters whose bitset meets bits, oldest first.
func (f futexTable) take(k futexKey, n int, bits uint32) []*futexWaiter {
	var out, rest []*futexWaiter
	for _, w := range f[k] {
		if len(out) < n && w.bitset&bits != 0 {
			out = append(out, w)
			continue
		}
		rest = append(rest, w)
	}
	if len(out) > 0 {
		f.put(k, rest)
	}
	return out
}

// move appends up to n waiters of one queue to another.
func (f futexTable) move(from, to futexKey, n int) int {
	ws := f.take(from, n, futexMatchAny)
	for _, w := range ws {
		w.key = to
		f.add(w)
	}
	return len(ws)
}

// futexKeyOf names the futex at an address; shared file maps by their file.
func (p *Process) futexKeyOf(a uint64, private bool) futexKey {
	if m, ok := p.mem.maps.find(a); ok && !private && m.shared && m.file != nil {
		return futexKey{m.file.dev, m.file.ino, m.off + a - m.lo}
	}
	return futexKey{at: a}
}

// wakeFutex wakes up to n waiters.
func (p *Process) wakeFutex(k futexKey, n int, bits uint32) int64 {
	ws := p.futexes.take(k, n, bits)
	for _, w := range ws {
		p.finish(w.t, 0, p.now)
	}
	return int64(len(ws))
}

func sysFutex(c *call) int64 {
	op := c.a[1]
	cmd := int(op &^ (futexPrivateFlag | futexClockFlag))
	private := op&futexPrivateFlag != 0
	f, ok := futexOps[cmd]
	if !ok {
		return errRes(unix.ENOSYS)
	}
	if c.a[0]%4 != 0 {
		return errRes(unix.EINVAL)
	}
	return f(c, c.p.futexKeyOf(c.a[0], private), private)
}

// futexOps are the operations; what is missing (WAIT_REQUEUE_PI, CMP_REQUEUE_PI) answers ENOSYS.
var futexOps = map[int]func(c *call, k futexKey, private bool) int64{
	futexWait:       futexDoWait,
	futexWaitBitset: futexDoWait,
	futexWake:       futexDoWake,
	futexWakeBitset: futexDoWake,
	futexRequeue:    futexDoRequeue,
	futexCmpRequeue: futexDoRequeue,
	futexWakeOp:     futexDoWakeOp,
	futexLockPI:     futexDoLockPI,
	futexLockPI2:    futexDoLockPI,
	futexTrylockPI:  futexDoTrylockPI,
	futexUnlockPI:   futexDoUnlockPI,
}

// count reads an int argument as the kernel does: negative or huge means all.
func futexCount(v uint64) int {
	if n := int32(v); n >= 0 {
		return int(n)
	}
	return 1 << 30
}

func futexDoWait(c *call, k futexKey, private bool) int64 {
	cmd := int(c.a[1] &^ (futexPrivateFlag | futexClockFlag))
	bits := uint32(futexMatchAny)
	if cmd == futexWaitBitset {
		if bits = uint32(c.a[5]); bits == 0 {
			return errRes(unix.EINVAL)
		}
	}
	v, ok := c.p.mem.load32(c.a[0])
	if !ok {
		return errRes(unix.EFAULT)
	}
	if v != uint32(c.a[2]) {
		return errRes(unix.EAGAIN)
	}
	clock := unix.CLOCK_MONOTONIC
	if c.a[1]&futexClockFlag != 0 {
		clock = unix.CLOCK_REALTIME
	}
	end, errno := c.deadline(c.a[3], cmd == futexWaitBitset, clock)
	if errno != 0 {
		return errRes(errno)
	}
	w := &futexWaiter{t: c.t, bitset: bits, key: k}
	return c.waitFutex(w, end, c.a[3] != 0, private)
}

// waitFutex puts a thread into a queue.
func (c *call) waitFutex(w *futexWaiter, end unit.Nanos, timed, private bool) int64 {
	p, addr := c.p, c.a[0]
	p.futexes.add(w)
	b := &blocking{
		wait:      Wait{Kind: WaitFutex, Addr: addr, Bitset: w.bitset, Deadline: end},
		onTimeout: errRes(unix.ETIMEDOUT), onSignal: restartSys,
		leave: func() { p.futexes.remove(w) },
	}
	if timed {
		b.onSignal = errRes(unix.EINTR) // the timeout could not be told again
	}
	if w.key.ino != 0 && !private && p.hasChildren() { // another process may change the word: a spurious wake-up is allowed
		was, _ := p.mem.load32(addr)
		b.watch = func() bool { v, ok := p.mem.load32(addr); return !ok || v != was }
	}
	return c.block(b)
}

func futexDoWake(c *call, k futexKey, private bool) int64 {
	bits := uint32(futexMatchAny)
	if int(c.a[1]&^(futexPrivateFlag|futexClockFlag)) == futexWakeBitset {
		if bits = uint32(c.a[5]); bits == 0 {
			return errRes(unix.EINVAL)
		}
	}
	n := futexCount(c.a[2])
	woken := c.p.wakeFutex(k, max(n, 1), bits)
	if k.ino != 0 && !private && c.p.hasChildren() {
		if r, errno := hostCall(unix.SYS_FUTEX, c.a[0], futexWake, uint64(n)); errno == 0 {
			woken += int64(r)
		}
	}
	return woken
}

func futexDoRequeue(c *call, k futexKey, private bool) int64 {
	if int(c.a[1]&^futexPrivateFlag) == futexCmpRequeue {
		v, ok := c.p.mem.load32(c.a[0])
		if !ok {
			return errRes(unix.EFAULT)
		}
		if v != uint32(c.a[5]) {
			return errRes(unix.EAGAIN)
		}
	}
	if int32(c.a[2]) < 0 || int32(c.a[3]) < 0 {
		return errRes(unix.EINVAL)
	}
	to := c.p.futexKeyOf(c.a[4], private)
	woken := c.p.wakeFutex(k, int(c.a[2]), futexMatchAny)
	moved := 0
	if to != k {
		moved = c.p.futexes.move(k, to, int(c.a[3]))
	} else {
		moved = min(len(c.p.futexes[k]), int(c.a[3]))
	}
	return woken + int64(moved)
}

// wakeOps are the operations of FUTEX_WAKE_OP, wakeCmps its comparisons.
var (
	wakeOps = [...]func(old, arg uint32) uint32{
		func(_, a uint32) uint32 { return a },
		func(o, a uint32) uint32 { return o + a },
		func(o, a uint32) uint32 { return o | a },
		func(o, a uint32) uint32 { return o &^ a },
		func(o, a uint32) uint32 { return o ^ a },
	}
	wakeCmps = [...]func(old, arg int32) bool{
		func(o, a int32) bool { return o == a },
		func(o, a int32) bool { return o != a },
		func(o, a int32) bool { return o < a },
		func(o, a int32) bool { return o <= a },
		func(o, a int32) bool { return o > a },
		func(o, a int32) bool { return o >= a },
	}
)

func futexDoWakeOp(c *call, k futexKey, private bool) int64 {
	e := uint32(c.a[5])
	op, cmp := e>>28, e>>24&15
	arg, cmpArg := uint32(int32(e<<8)>>20), int32(e<<20)>>20
	if op&8 != 0 {
		arg = 1 << (arg & 31)
	}
	if int(op&7) >= len(wakeOps) || int(cmp) >= len(wakeCmps) {
		return errRes(unix.ENOSYS)
	}
	old, ok := c.p.mem.update32(c.a[4], func(old uint32) uint32 { return wakeOps[op&7](old, arg) })
	if !ok {
		return errRes(unix.EFAULT)
	}
	n := c.p.wakeFutex(k, max(futexCount(c.a[2]), 1), futexMatchAny)
	if wakeCmps[cmp](int32(old), cmpArg) {
		n += c.p.wakeFutex(c.p.futexKeyOf(c.a[4], private), max(futexCount(c.a[3]), 1), futexMatchAny)
	}
	return n
}

// futexDoLockPI takes a priority-inheriting lock. Priorities do not exist here:
// the lock passes on in the order of arrival.
func futexDoLockPI(c *call, k futexKey, private bool) int64 {
	r := futexDoTrylockPI(c, k, private)
	if r != errRes(unix.EAGAIN) {
		return r
	}
	v, _ := c.p.mem.load32(c.a[0])
	if c.p.thread(int(v&futexTIDMask)) == nil {
		return errRes(unix.ESRCH)
	}
	clock := unix.CLOCK_REALTIME
	if int(c.a[1]&^(futexPrivateFlag|futexClockFlag)) == futexLockPI2 && c.a[1]&futexClockFlag == 0 {
		clock = unix.CLOCK_MONOTONIC
	}
	end, errno := c.deadline(c.a[3], true, clock)
	if errno != 0 {
		return errRes(errno)
	}
	if !c.p.mem.swap32(c.a[0], v, v|futexWaiters) { // its owner has changed it meanwhile
		return futexDoLockPI(c, k, private)
	}
	w := &futexWaiter{t: c.t, bitset: futexMatchAny, key: k}
	r = c.waitFutex(w, end, false, true)
	c.t.block.onSignal = restartNoInt
	return r
}

func futexDoTrylockPI(c *call, _ futexKey, _ bool) int64 {
	v, ok := c.p.mem.load32(c.a[0])
	switch {
	case !ok:
		return errRes(unix.EFAULT)
	case v&futexTIDMask == uint32(c.t.TID):
		return errRes(unix.EDEADLK)
	case v&futexTIDMask != 0:
		return errRes(unix.EAGAIN)
	}
	if !c.p.mem.can(c.a[0], 4, unix.PROT_WRITE) {
		return errRes(unix.EFAULT)
	}
	if !c.p.mem.swap32(c.a[0], v, v&(futexOwnerDied|futexWaiters)|uint32(c.t.TID)) {
		return errRes(unix.EAGAIN)
	}
	return 0
}

func futexDoUnlockPI(c *call, k futexKey, _ bool) int64 {
	v, ok := c.p.mem.load32(c.a[0])
	switch {
	case !ok:
		return errRes(unix.EFAULT)
	case v&futexTIDMask != uint32(c.t.TID):
		return errRes(unix.EPERM)
	}
	c.p.passPI(c.a[0], k, 0)
	return 0
}

// passPI hands a PI lock to its first waiter, or frees it.
func (p *Process) passPI(addr uint64, k futexKey, flags uint32) {
	ws := p.futexes.take(k, 1, futexMatchAny)
	if len(ws) == 0 {
		p.mem.store32(addr, flags)
		return
	}
	v := uint32(ws[0].t.TID) | flags
	if len(p.futexes[k]) > 0 {
		v |= futexWaiters
	}
	p.mem.store32(addr, v)
	p.finish(ws[0].t, 0, p.now)
}

// leaveRobustList marks the locks that a dying thread holds (kernel:
// Documentation/locking/robust-futexes).
func (p *Process) leaveRobustList(t *Thread) {
	const limit = 2048
	head := t.robust
	if head == 0 {
		return
	}
	next, ok1 := p.mem.load64(head)
	off, ok2 := p.mem.load64(head + 8)
	pend, ok3 := p.mem.load64(head + 16)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	for i := 0; i < limit && next&^1 != head; i++ {
		at, pi := next&^1, next&1 != 0
		var ok bool
		if next, ok = p.mem.load64(at); !ok {
			return
		}
		if at != pend&^1 {
			p.ownerDied(t, at+off, pi)
		}
	}
	if pend != 0 {
		p.ownerDied(t, pend&^1+off, pend&1 != 0)
	}
}

func (p *Process) ownerDied(t *Thread, addr uint64, pi bool) {
	v, ok := p.mem.load32(addr)
	if !ok || v&futexTIDMask != uint32(t.TID) {
		return
	}
	k := p.futexKeyOf(addr, false)
	if pi {
		p.passPI(addr, k, futexOwnerDied)
		return
	}
	p.mem.store32(addr, v&futexWaiters|futexOwnerDied)
	if v&futexWaiters != 0 {
		p.wakeFutex(k, 1, futexMatchAny)
	}
}
