package guest

import (
	"maps"
	"runtime"

	"golang.org/x/sys/unix"
)

// Found is what a program finds when it starts that lime's own process does not show as it is, and
// what it hands on to the program that replaces it (execve(2)). Bit n-1 of the sets is for signal n.
type Found struct {
	Ignored, Blocked uint64
	Pending          []sigInfo
	Limits           map[uint64][2]uint64 // soft and hard, of those that lime does not have itself
	Closed           []int                // descriptors
	Subreaper        bool                 // orphans among its descendants become its children
	ParentDeath      uint32               // the signal that it is sent when its parent ends
}

// handedOn is what a thread hands on by execve.
func handedOn(p *Process, t *Thread) Found {
	s := Found{Blocked: uint64(t.mask), Limits: p.limits, ParentDeath: p.parentDeath}
	for n := 1; n <= numSignals; n++ {
		if p.actions[n].handler == sigIgn {
			s.Ignored |= uint64(setOf(n))
		}
	}
	s.Pending = append(append(s.Pending, t.pending.infos...), p.pending.infos...)
	return s
}

// closedOnExec are those of the descriptors 0 to 2 that the next program finds closed: Go's runtime
// opens them, and so does SQLite when it finds them free.
func closedOnExec() (fds []int) {
	for fd := range 3 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// HandOn settles what the new program finds. Nothing may come by PostSignal any more, nor may a
// thread run: what has come until now is handed on. This process gets what it hands on by itself.
func (r *ExecRequest) HandOn(p *Process) {
	closed := r.Found.Closed
	r.Found = handedOn(p, r.by)
	r.Found.Closed = closed
	for _, n := range posted(p) {
		if n != int(unix.SIGCHLD) {
			r.Found.Pending = append(r.Found.Pending, newInfo(n, siUser))
		}
	}
	_, _ = hostCall(unix.SYS_PERSONALITY, p.personality)
	attr := r.by.standing.attr()
	for _, c := range r.by.standing.script(attr) {
		_, _ = hostCall(uintptr(c[0]), c[1:]...) // it was checked when the program asked for it
	}
	runtime.KeepAlive(attr)
}

// posted takes what PostSignal has left.
func posted(p *Process) []int {
	p.extMu.Lock()
	defer p.extMu.Unlock()
	out := p.external
	p.external = nil
	return out
}

// begin gives it to a program's first thread.
func (s *Found) begin(p *Process, t *Thread) {
	for n := 1; n <= numSignals; n++ {
		if sigset(s.Ignored).has(n) && !unblockable.has(n) {
			p.actions[n].handler = sigIgn
		}
	}
	t.mask = sigset(s.Blocked) &^ unblockable
	for _, i := range s.Pending {
		p.send(nil, i)
	}
	maps.Copy(p.limits, s.Limits)
	p.parentDeath = s.ParentDeath
	for _, fd := range s.Closed {
		unix.Close(fd)
	}
	if s.Subreaper {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
}
