// Waits in a loop of the program's own that end in another wait.

package native

// looping is what a thread has waited in the loop of the program's own that it is in, in one piece:
// what spins for a while before it sleeps has come to what it waits for when it began to spin.
type looping struct {
	piece *piece
	from  uint64 // when it was first seen there, 0: it was not, and may have had no core for its work
	wait  offWait
	cpu   uint64 // the thread's CPU time when it waited last
}

// waits adds a wait in a loop, in which the thread was seen at a moment, or not: 0.
func (l *looping) waits(p *piece, w offWait, from, cpu uint64) {
	if l.before(p, cpu).n == 0 || l.wait.call != w.call || l.wait.kind != w.kind {
		*l = looping{piece: p, wait: offWait{kind: w.kind, call: w.call}}
	}
	if l.from == 0 {
		l.from = from
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

// comesSpinning notes that a thread begins to wait, and what it has spun for before. It has come when
// it was first seen to spin: in the kernel's records, if it gave its core away.
func (t *thread) comesSpinning(at uint64) {
	t.piece.spunBefore = t.looping.before(t.piece, t.cpu.at(at))
	switch {
	case t.piece.spunBefore.n > 0:
		t.piece.spunFrom = t.looping.from
	case t.off.now.yields && t.off.now.where.seen:
		t.piece.spunFrom = max(t.off.now.from, t.piece.from)
	}
	t.piece.cameUnseen = t.piece.spunFrom != 0
}
