package watch

// False sharing: a line of memory that goes to and fro between two threads, which use different
// bytes of it.

import (
	"golang.org/x/sys/unix"

	"lime/internal/waste"
)

// lineBytes is what processors hand over to one another.
const lineBytes = 64

// line is the line of an access that was sampled. One of its words, chosen by chance, is watched in
// the other threads. If one of them comes to it, the owner's bytes are watched as well, and the
// word in the owner, until the owner has come back to its bytes, and the other one to the word:
// then the line has gone to and fro, and neither has touched what the other one uses.
type line struct {
	owner  int
	access access  // that was sampled
	ticks  float64 // for which it stands
	at     Place
	word   watched // a word of the line
	home   watched // the bytes of the access, or a part of them
	stage  stage
	guest  int   // who came to the word
	second Place // where
	ticked map[int]bool
}

type stage uint8

const (
	alone  stage = iota // nobody has come to the word
	shared              // the guest has; the owner has not come back since
	back                // the owner has; the guest has not come back since
)

// lend gives a register to lines once there are threads that can share one.
func (t *Tracer) lend() {
	const last = points - 1
	if t.slots.lent == 0 && len(t.threads) > 1 && t.o.Kinds.Has(waste.FalseSharing) {
		t.evict(last)
		t.slots.lent = 1
	}
}

// beside begins to look at the line of an access that a thread is about to make.
func (t *Tracer) beside(tid int, a access, at Place, ticks float64) {
	if t.slots.lent == 0 { // with whom?
		t.lineDecided(&line{owner: tid, access: a, at: at, ticks: ticks}, 0)
		return
	}
	first := a.addr &^ (lineBytes - 1)
	word := first + 8*uint64(t.rng.IntN(lineBytes/8))
	l := &line{owner: tid, access: a, at: at, ticks: ticks, ticked: map[int]bool{},
		word: newWatched(access{addr: word, bytes: 8}, wordData, t.rng.IntN),
		home: newWatched(a, homeData, t.rng.IntN)}
	t.line = l
	for other := range t.threads {
		if other != tid {
			l.word.add(other, a.writes) // who does not watch finds nothing
		}
	}
}

// lineDecided counts a line and forgets it.
func (t *Tracer) lineDecided(l *line, fraction float64) {
	d := &decision{kind: waste.FalseSharing, thread: t.latest[l.owner], at: l.at, first: l.at, second: l.second, addr: l.access.addr,
		bytes: l.access.bytes, ticks: l.ticks, fraction: fraction}
	if !l.access.writes { // who stores comes first
		d.first, d.second = d.second, d.first
	}
	t.tell(d)
	t.lineClosed(l)
}

// lineMissed forgets a line of which nothing is known.
func (t *Tracer) lineMissed(l *line) {
	t.sums.missed(waste.Of(waste.FalseSharing), t.latest[l.owner], l.at, float64(l.access.bytes)*l.ticks)
	t.lineClosed(l)
}

func (t *Tracer) lineClosed(l *line) {
	l.word.clear()
	l.home.clear()
	t.line = nil
}

// lineTick ends the look at a line that has not gone to and fro while one of the threads has run
// for a whole period: as seldom as that it costs nothing.
func (t *Tracer) lineTick(tid int) {
	l := t.line
	switch {
	case l == nil:
	case tid == l.owner || l.ticked[tid]:
		t.lineDecided(l, 0)
	default:
		l.ticked[tid] = true
	}
}

// lineJoined has a new thread watch what the others do.
func (t *Tracer) lineJoined(tid int) {
	switch l := t.line; {
	case l == nil:
	case l.stage == alone:
		l.word.add(tid, l.access.writes)
	case !l.home.add(tid, true):
		t.lineMissed(l)
	}
}

// lineLeft forgets a thread that has ended.
func (t *Tracer) lineLeft(tid int) {
	switch l := t.line; {
	case l == nil:
	case tid == l.owner || l.stage != alone && tid == l.guest:
		t.lineDecided(l, 0)
	default:
		l.word.remove(tid)
		l.home.remove(tid)
	}
}

// lineHit takes the trap of a thread that has come to the line.
func (t *Tracer) lineHit(th *thread, data uint64, late bool) {
	l := t.line
	if l == nil {
		return
	}
	w := &l.word
	if data == homeData {
		w = &l.home
	}
	var regs unix.PtraceRegs
	if _, watches := w.traps[th.tid]; !watches || late || unix.PtraceGetRegs(th.tid, &regs) != nil {
		return // it comes from a watch that has been closed since, or nobody knows from where
	}
	x := t.who(w, th.tid, &regs)
	if x.unknown || x.call {
		t.lineMissed(l)
		return
	}
	switch mine := th.tid == l.owner; {
	case !mine && x.within.overlap(l.access.addr, l.access.bytes) > 0, mine && data == wordData:
		t.sums.same++
		t.lineDecided(l, 0)
	case mine:
		t.ownerBack(l)
	case l.stage == alone:
		t.guestCame(l, x)
	case th.tid == l.guest:
		t.lineDecided(l, 1)
	}
}

// guestCame: another thread has come to the word.
func (t *Tracer) guestCame(l *line, x *touch) {
	l.stage, l.guest, l.second = shared, x.thread, x.at()
	l.word.clear()
	l.word.addr, l.word.bytes = piece(x.within.part(l.word.addr, l.word.bytes), t.rng.IntN)
	all := l.word.add(l.owner, true)
	for tid, th := range t.threads {
		th.astray() // the register that leads is needed
		reads := tid != l.owner || !l.access.writes
		all = l.home.add(tid, reads) && all
	}
	if !all {
		t.lineMissed(l)
	}
}

// ownerBack: the owner has come back to its bytes.
func (t *Tracer) ownerBack(l *line) {
	l.stage = back
	l.home.remove(l.owner)
	if !l.word.add(l.guest, l.access.writes) {
		t.lineMissed(l)
	}
}
