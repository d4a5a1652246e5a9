package guest

import "golang.org/x/sys/unix"

// SignalState is what a program finds of signals when it starts, and hands on to the program that
// replaces it (execve(2)). Bit n-1 is for signal n.
type SignalState struct {
	Ignored, Blocked uint64
	Pending          []sigInfo
}

// handedOn is what a thread hands on by execve.
func handedOn(p *Process, t *Thread) SignalState {
	s := SignalState{Blocked: uint64(t.mask)}
	for n := 1; n <= numSignals; n++ {
		if p.actions[n].handler == sigIgn {
			s.Ignored |= uint64(setOf(n))
		}
	}
	s.Pending = append(append(s.Pending, t.pending.infos...), p.pending.infos...)
	return s
}

// HandOn settles what the new program finds of signals. Nothing may come by PostSignal any more, nor
// may a thread run: what has come until now is handed on.
func (r *ExecRequest) HandOn(p *Process) {
	r.Signals = handedOn(p, r.by)
	for _, n := range posted(p) {
		if n != int(unix.SIGCHLD) {
			r.Signals.Pending = append(r.Signals.Pending, newInfo(n, siUser))
		}
	}
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
func (s *SignalState) begin(p *Process, t *Thread) {
	for n := 1; n <= numSignals; n++ {
		if sigset(s.Ignored).has(n) && !unblockable.has(n) {
			p.actions[n].handler = sigIgn
		}
	}
	t.mask = sigset(s.Blocked) &^ unblockable
	for _, i := range s.Pending {
		p.send(nil, i)
	}
}
