// Waits in a loop of the program's own that end in another wait.

package native

// looping is what a thread has waited in the loop of the program's own that it is in, in one piece:
// what spins for a while before it sleeps has come to what it waits for when it began to spin.
type looping struct {
	piece *piece
	wait  offWait
	cpu   uint64 // the thread's CPU time when it waited last
}

// waits adds a wait in a loop.
func (l *looping) waits(p *piece, w offWait, cpu uint64) {
	if l.before(p, cpu).n == 0 || l.wait.call != w.call || l.wait.kind != w.kind {
		*l = looping{piece: p, wait: offWait{kind: w.kind, call: w.call}}
	}
	l.wait.n, l.wait.wait, l.cpu = l.wait.n+w.n, l.wait.wait+w.wait, cpu
}

// before is what a thread has waited in a loop right before it waits for something else, nothing if
// it has done anything in between.
func (l *looping) before(p *piece, cpu uint64) offWait {
	if l.piece != p || cpu-min(cpu, l.cpu) >= onTheWay {
		return offWait{}
	}
	return l.wait
}

// comesSpinning notes that a thread begins to wait, and what it has spun for before.
func (t *thread) comesSpinning(at uint64) {
	t.piece.spunBefore = t.looping.before(t.piece, t.cpu.at(at))
}
