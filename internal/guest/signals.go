package guest

import (
	"fmt"
	"math/bits"

	"golang.org/x/sys/unix"
)

// Signal numbers and flags (signal(7), sigaction(2)).
const (
	numSignals = 64

	saNocldstop = 0x1
	saNocldwait = 0x2
	saSiginfo   = 0x4
	saRestorer  = 0x04000000
	saOnstack   = 0x08000000
	saRestart   = 0x10000000
	saNodefer   = 0x40000000
	saResethand = 0x80000000

	sigDfl = 0
	sigIgn = 1

	ssOnstack    = 1
	ssDisable    = 2
	ssAutodisarm = 1 << 31

	siUser    = 0
	siKernel  = 0x80
	siTimer   = -2
	siTkill   = -6
	siQueue   = -1
	cldExited = 1
	cldDumped = 3
)

// sigset is a set of signals: bit n-1 for signal n.
type sigset uint64

func setOf(sigs ...int) (s sigset) {
	for _, n := range sigs {
		s |= 1 << (n - 1)
	}
	return s
}

func (s sigset) has(n int) bool { return s>>(n-1)&1 != 0 }

func (s sigset) first() int { return bits.TrailingZeros64(uint64(s)) + 1 }

// sigAction is what the program has set for a signal (the kernel's layout).
type sigAction struct {
	handler, flags, restorer uint64
	mask                     sigset
}

// defaultAct is what a signal does when the program has set nothing.
type defaultAct uint8

const (
	actTerm defaultAct = iota
	actCore
	actIgnore
	actStop
)

var (
	unblockable = setOf(int(unix.SIGKILL), int(unix.SIGSTOP))
	coreSignals = setOf(int(unix.SIGQUIT), int(unix.SIGILL), int(unix.SIGTRAP), int(unix.SIGABRT), int(unix.SIGBUS),
		int(unix.SIGFPE), int(unix.SIGSEGV), int(unix.SIGXCPU), int(unix.SIGXFSZ), int(unix.SIGSYS))
	ignoredSignals = setOf(int(unix.SIGCHLD), int(unix.SIGCONT), int(unix.SIGURG), int(unix.SIGWINCH))
	stopSignals    = setOf(int(unix.SIGSTOP), int(unix.SIGTSTP), int(unix.SIGTTIN), int(unix.SIGTTOU))
	syncSignals    = setOf(int(unix.SIGSEGV), int(unix.SIGBUS), int(unix.SIGILL), int(unix.SIGTRAP), int(unix.SIGFPE), int(unix.SIGSYS))
)

func defaultOf(sig int) defaultAct {
	switch {
	case ignoredSignals.has(sig):
		return actIgnore
	case stopSignals.has(sig):
		return actStop
	case coreSignals.has(sig):
		return actCore
	}
	return actTerm
}

// sigInfo is a siginfo_t: the kernel's 128 bytes.
type sigInfo [128]byte

func newInfo(sig int, code int32) (s sigInfo) {
	putLE32(s[0:], uint32(sig))
	putLE32(s[8:], uint32(code))
	return s
}

func (s *sigInfo) sig() int { return int(le32(s[0:])) }

// infoFrom is the information of kill, tkill and sigqueue.
func infoFrom(sig int, code int32, pid, uid int, value uint64) sigInfo {
	s := newInfo(sig, code)
	putLE32(s[16:], uint32(pid))
	putLE32(s[20:], uint32(uid))
	putLE64(s[24:], value)
	return s
}

// sigQueue holds pending signals: standard ones once, real-time ones in order.
type sigQueue struct {
	set   sigset
	infos []sigInfo
}

const maxQueued = 4096

func (q *sigQueue) add(i sigInfo) bool {
	sig := i.sig()
	if sig < 32 && q.set.has(sig) {
		return true
	}
	if len(q.infos) >= maxQueued {
		return false
	}
	q.set |= setOf(sig)
	q.infos = append(q.infos, i)
	return true
}

// take removes the oldest of a signal.
func (q *sigQueue) take(sig int) (out sigInfo) {
	rest := q.infos[:0]
	found, more := false, false
	for _, i := range q.infos {
		if i.sig() == sig && !found {
			out, found = i, true
			continue
		}
		more = more || i.sig() == sig
		rest = append(rest, i)
	}
	q.infos = rest
	if !more {
		q.set &^= setOf(sig)
	}
	return out
}

func (q *sigQueue) drop(sig int) {
	for q.set.has(sig) {
		q.take(sig)
	}
}

// ignores says that a signal would have no effect.
func (p *Process) ignores(sig int) bool {
	a := p.actions[sig]
	return a.handler == sigIgn || a.handler == sigDfl && defaultOf(sig) == actIgnore
}

// send sends a signal to a thread, or to the process if t is nil.
func (p *Process) send(t *Thread, info sigInfo) bool {
	sig := info.sig()
	if sig < 1 || sig > numSignals {
		return false
	}
	if sig == int(unix.SIGCONT) {
		for _, s := range []unix.Signal{unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU} {
			p.pending.drop(int(s))
		}
	}
	who := t
	if who == nil {
		who = p.taker(sig)
	}
	if p.ignores(sig) && !p.blocked(t, sig) && !p.awaited(sig) {
		return true
	}
	q := &p.pending
	if t != nil {
		q = &t.pending
	}
	if !q.add(info) {
		return false
	}
	p.showSignals()
	if w := p.waiterFor(t, sig); w != nil {
		p.wake(w, causeRetry, p.now)
	} else if who != nil && !who.mask.has(sig) {
		p.wake(who, causeSignal, p.now)
		p.interrupt(who)
	}
	return true
}

// blocked says that a signal sent to t, or to the process, waits even if it would
// have no effect: sigwait, a signal descriptor or a handler may come.
func (p *Process) blocked(t *Thread, sig int) bool {
	if t == nil && len(p.threads) > 0 {
		t = p.threads[0]
	}
	return t != nil && t.mask.has(sig)
}

// taker is the thread that gets a signal sent to the process: the first that does not block it.
func (p *Process) taker(sig int) *Thread {
	for _, t := range p.threads {
		if !t.mask.has(sig) {
			return t
		}
	}
	return nil
}

// waiterFor is a thread that waits for just this signal (sigtimedwait).
func (p *Process) waiterFor(t *Thread, sig int) *Thread {
	for _, w := range p.threads {
		if (t == nil || t == w) && w.block != nil && w.block.cause == causeNone && w.sigwait.has2(sig) {
			return w
		}
	}
	return nil
}

func (s sigset) has2(n int) bool { return s != 0 && s.has(n) }

func (p *Process) awaited(sig int) bool { return p.waiterFor(nil, sig) != nil }

// deliverable is the set of pending signals that t does not block.
func (p *Process) deliverable(t *Thread) sigset {
	return (t.pending.set | p.pending.set) &^ t.mask
}

// Interrupted reports whether t has a signal to handle before it runs on.
func (p *Process) Interrupted(t *Thread) bool { return p.deliverable(t) != 0 }

// dequeue takes t's next signal out of its queue or the process's; faults come first.
func (p *Process) dequeue(t *Thread, want sigset) (sigInfo, bool) {
	set := (t.pending.set | p.pending.set) & want
	if set == 0 {
		return sigInfo{}, false
	}
	sig := set.first()
	if s := t.pending.set & want & syncSignals; s != 0 {
		sig = s.first()
	}
	defer p.showSignals()
	if t.pending.set.has(sig) {
		return t.pending.take(sig), true
	}
	return p.pending.take(sig), true
}

// deliver delivers what is pending for t, before it runs on.
func (p *Process) deliver(t *Thread, out Outcome) Outcome {
	for {
		info, ok := p.dequeue(t, ^t.mask)
		if !ok {
			break
		}
		if o, over := p.act(t, info); over {
			return o
		}
	}
	p.endCall(t, nil)
	if t.astray {
		t.astray = false
		p.host.Odd(t)
	}
	if t.savedMask != nil { // no handler took it: sigsuspend's mask ends here
		t.mask, t.savedMask = *t.savedMask, nil
	}
	return out
}

// act does what the program, or the default, wants for a signal.
func (p *Process) act(t *Thread, info sigInfo) (Outcome, bool) {
	sig := info.sig()
	a := &p.actions[sig]
	switch {
	case a.handler == sigIgn:
		return Outcome{}, false
	case a.handler != sigDfl:
		p.endCall(t, a)
		if !p.pushFrame(t, a, info) {
			return p.die(t, int(unix.SIGSEGV), "no room on the stack for a signal frame"), true
		}
		return Outcome{}, false
	}
	switch defaultOf(sig) {
	case actIgnore:
		return Outcome{}, false
	case actStop:
		p.stopSelf(sig)
		return Outcome{}, false
	}
	return p.die(t, sig, faultText(info)), true
}

// endCall settles how an interrupted system call goes on: a is the handler that
// runs first, or nil.
func (p *Process) endCall(t *Thread, a *sigAction) {
	if !t.inCall {
		return
	}
	t.inCall = false
	r := int64(t.Ctx.GPR[rax])
	again := r == restartNoInt || r == restartSys && (a == nil || a.flags&saRestart != 0) || r == restartNoHnd && a == nil
	switch {
	case again:
		t.Ctx.GPR[rax] = t.callNr
		t.Ctx.RIP -= 2
		t.astray = true
	case r == restartSys || r == restartNoHnd:
		t.Ctx.GPR[rax] = uint64(errRes(unix.EINTR))
	}
}

// stopSelf stops this process in the host, as the signal would have.
func (p *Process) stopSelf(sig int) {
	if sig != int(unix.SIGSTOP) { // Go's runtime or lime may have a handler for it
		sig = int(unix.SIGSTOP)
	}
	_ = unix.Kill(unix.Getpid(), unix.Signal(sig))
}

// die ends the process by a signal, and says what about.
func (p *Process) die(t *Thread, sig int, what string) Outcome {
	p.status = Status{Exited: true, Signal: sig, Core: coreSignals.has(sig), Thread: t, What: what,
		Text: fmt.Sprintf("thread %d at pc %#x: %s", t.TID, t.Ctx.RIP, what)}
	return Outcome{Kind: ProcessExit}
}

// faultText says what a fatal signal was about.
func faultText(info sigInfo) string {
	sig := info.sig()
	s := "got " + unix.SignalName(unix.Signal(sig))
	if sig > 31 {
		s = fmt.Sprintf("got signal %d", sig)
	}
	if code := int32(le32(info[8:])); syncSignals.has(sig) && code > 0 {
		return fmt.Sprintf("%s, address %#x", s, le64(info[16:]))
	}
	return s
}

// force sends a signal that cannot be ignored or blocked (a fault).
func (p *Process) force(t *Thread, info sigInfo) {
	sig := info.sig()
	if t.mask.has(sig) || p.actions[sig].handler == sigIgn {
		p.actions[sig].handler = sigDfl
		t.mask &^= setOf(sig)
	}
	t.pending.drop(sig)
	t.pending.add(info)
}
