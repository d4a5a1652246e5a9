// Locks where threads run in parallel. Who takes a lock when it is free has not waited on the host,
// which may have had no core for whoever else wanted it. So the uses of a lock are replayed, each
// when it is over, with a core for every thread.

package sim

import (
	"slices"
	"sort"
)

// lockLine is when a lock was held, by clocks that give each thread a core of its own: stretches in
// ascending order that do not touch. All that is known of the uses of a lock is that they exclude
// one another. So whoever holds it takes of the time that those have left who held it before, in the
// order of this run, from when it came to the lock on.
type lockLine []stretch

type stretch struct{ from, to uint64 }

// mostStretches is how many are kept; before the oldest of them the lock counts as free.
const mostStretches = 4096

// first is the index of the first stretch that does not end before a clock.
func (l lockLine) first(at uint64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].to >= at })
}

// free is when the lock is free first, from a clock on.
func (l lockLine) free(at uint64) uint64 {
	if i := l.first(at); i < len(l) && l[i].from <= at {
		return l[i].to
	}
	return at
}

// hold fills what is free from a clock on with so many units, and returns when they are over.
func (l *lockLine) hold(at, units uint64) (end uint64) {
	line := *l
	i := line.first(at)
	k, now := i, stretch{at, at}
	if i < len(line) && line[i].from <= at {
		k, now = i+1, line[i]
	}
	for ; k < len(line) && line[k].from-now.to < units; k++ {
		units -= line[k].from - now.to
		now.to = line[k].to
	}
	now.to += units
	end = now.to
	if k < len(line) && line[k].from == end {
		now.to, k = line[k].to, k+1
	}
	line = slices.Replace(line, i, k, now)
	*l = line[max(0, len(line)-mostStretches):]
	return end
}

// comesTo sets the clock of a thread that has got a lock back to when it came to it: for how long
// it has waited on the host says nothing.
func (b *beside) comesTo(t *thread, c *call) {
	switch {
	case b == nil:
	case c.slow:
		b.since(t, c.at, c.at)
	case t.core != nil:
		t.core.clock -= min(t.core.clock, c.waited)
		c.waited = 0
	}
}

// replay is for a thread that is about to give a lock back: it has had it as long as it takes with
// those excluded who held it before, and has waited for the rest.
func (l *locks) replay(t *thread, lock uint64) {
	h := l.lockBook.heldBy(t, lock)
	now := t.now()
	if l.beside == nil || h == nil || h.shared || now <= h.since {
		return
	}
	line := l.beside.lines[lock]
	late := line.hold(h.since, now-h.since) - now
	l.beside.lines[lock] = line
	if late > 0 {
		l.clocks.advance(t, now+late)
		t.host.from = t.now()
		h.since += late // that is no time for which it is held
		l.reportLocked(t, &call{fn: h.fn, ret: h.ret, object: lock}, late)
	}
}
