package native

import (
	"iter"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/mpi"
	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/unit"
)

// thread is a thread of the program.
type thread struct {
	id     section.ThreadID
	tid    int32
	name   string
	parent *thread
	batch  uint32 // of the threads that its parent made, which those are that it was made with
	start  uint64
	end    uint64
	ended  bool

	cpu      onCPU
	paced    paced
	line     line
	others   onPace
	piece    *piece
	calls    []call   // hooked calls that are open, outermost first
	bodies   []uint64 // regions that it works in, outermost first
	create   *section.Op
	child    *thread // the last one that it created
	making   making
	batches  uint32 // of threads that it has made: until one came to its end
	idle     bool   // belongs to a pool and has no work
	cond     condWait
	forWork  offWait  // its last wait for a condition, as long as it is not known what that was
	home     homeward // since its last wait that ended a section
	arriving homeward // since its last wait for a lock of a library's
	looping  looping
	lastLock lockWait
	lock     lockCall // at != 0: its call of the kernel for a lock that is taken
	got      gotLock
	permits  map[uint64]permit // that it has, by semaphore
	rested   uint64            // ns that it has slept, and waited for files, in all
	task     *piece            // tasks that it has done since it waits, as far as sampled
	onTask   bool              // does one now
	off      offCore
	met      *episode // that it came to last
	came     arrival
	spins    bool // its last sample was in a runtime's waiting

	sampled     bool       // has had a sample
	foreign     bool       // belongs to a child process
	candidate   *candidate // that it is in, as long as it is not known what it is
	candidateSP uint64     // stack pointer there

	goroutine *goroutine // nil: no goroutine
	hosts     *thread    // the goroutine that runs on it
}

// condWait is a wait for a condition variable, of which only the beginning is seen.
type condWait struct {
	on     bool
	since  uint64 // 0: it is not known
	object uint64
	off    bool   // the thread has left its CPU since
	waited uint64 // on the pace's clock
	call   uint64 // the program's own call that waits

	untyped bool   // it may be a lock's
	from    uint64 // the program's own open call that it is made in
}

// homeward is a thread's way through one call of the program's own: back into that code after a
// wait that ended a section, or from a lock of a library's to such a wait.
type homeward struct {
	from uint64 // the open call, 0 if it is not known
	cpu  uint64 // the thread's CPU time when it set out
}

// onTheWay is how long that takes, in ns of CPU time, locks left out.
const onTheWay = 20_000

// holds reports whether another call, at some CPU time of the thread's, is made on that way.
func (h *homeward) holds(from, cpu uint64) bool {
	return h.cpu != 0 && (from == 0 || h.from == 0 || h.from == from) && cpu-min(cpu, h.cpu) < onTheWay
}

// lockCall is a call at a moment.
type lockCall struct {
	h  hook.Record
	at uint64
}

// call is an open call of a hooked function.
type call struct {
	role   known.Role
	sp     uint64
	object uint64
	other  *thread
	body   bool   // not the call: the work of a region
	cpu    uint64 // of what makes a thread: the CPU time that its caller had had

	function  uint64 // of the work
	over      bool   // the call of a region whose work this thread has done
	candidate *candidate
	mpi       *mpi.Call // of a function of MPI's
	told      bool      // likewise: the recogniser knows
}

// onCPU adds up a thread's time on a CPU.
type onCPU struct {
	known bool // the kernel has told of a switch
	on    bool
	own   bool // off, of its own accord
	core  uint32
	seen  bool // that is known
	since uint64
	total uint64
	idle  uint64 // in all, off of its own accord, on the pace's clock
	gone  []gap  // its latest times off a CPU
	next  int
	blank uint64 // until then times off a CPU are forgotten
}

// gap is a time off a CPU; to is 0 while it lasts.
type gap struct {
	from, to uint64
	rest
}

// rest is what a thread was off its CPU for that was not for want of a core.
type rest struct {
	asleep uint64 // by the wall's clock
	waited uint64 // by the pace's
	due    uint64 // what would be left of it if every thread had a core
}

// keptGaps is how many times off a CPU are remembered: who waits for a lock that many want comes
// back and leaves again many times, and so does who holds one on a busy machine.
const keptGaps = 512

// in and out are the switches.
func (c *onCPU) in(at uint64, r rest) {
	if c.next < len(c.gone) && c.gone[c.next].to == 0 {
		c.gone[c.next].to, c.gone[c.next].rest = at, r
		c.next = (c.next + 1) % keptGaps
	}
	c.idle += r.waited
	c.known, c.on, c.since = true, true, at
}

func (c *onCPU) out(at uint64, forced bool) {
	c.total = c.at(at)
	c.known, c.on, c.own = true, false, !forced
	if c.next < len(c.gone) {
		c.blank = c.gone[c.next].to
		c.gone[c.next] = gap{from: at}
	} else {
		c.gone = append(c.gone, gap{from: at})
	}
}

// ends notes that the thread is no more. What it was off its CPU for before is asked for once more when
// the meeting is over at which it was last.
func (c *onCPU) ends(at uint64) {
	if c.on {
		c.out(at, false)
	}
	if c.left() != 0 {
		c.gone[c.next] = gap{}
	}
	c.gone = slices.Clip(c.gone)
}

// left is when the thread left its CPU, 0 if it has one.
func (c *onCPU) left() uint64 {
	if c.next < len(c.gone) && c.gone[c.next].to == 0 {
		return c.gone[c.next].from
	}
	return 0
}

// blocked reports whether the thread sleeps in the kernel, and is not merely short of a CPU.
func (c *onCPU) blocked() bool { return c.known && !c.on && c.own }

// gaps visits the times off its CPU that end behind a moment, as far as they are remembered, the
// latest first.
func (c *onCPU) gaps(from uint64) iter.Seq[*gap] {
	return func(visit func(*gap) bool) {
		n, last := len(c.gone), c.next
		if c.left() == 0 {
			last--
		}
		for k := range n {
			g := &c.gone[(last-k+n)%n]
			if g.to != 0 && g.to <= from || !visit(g) {
				return
			}
		}
	}
}

// offIn is how long the thread was off its CPU within a time, as far as it is remembered.
func (c *onCPU) offIn(from, to uint64) (off uint64) {
	for g := range c.gaps(from) {
		lo, hi := max(g.from, from), to
		if g.to != 0 {
			hi = min(g.to, to)
		}
		if g.from != 0 && hi > lo {
			off += hi - lo
		}
	}
	return off
}

// without is how long the thread wanted a core within a time and had none, or waited for one that had
// none. Should it have been woken when that began, what it slept until then is over. Of what is forgotten
// nobody knows, so that nothing is claimed of it.
func (c *onCPU) without(from, to uint64, woken bool) (ns uint64) {
	if known := min(c.blank, to); from < known {
		ns, from = known-from, known
	}
	for g := range c.gaps(from) {
		lo, hi := max(g.from, from), min(g.to, to)
		switch {
		case g.from == 0 || hi <= lo:
		case woken && g.from < from:
			ns += hi - lo
		default:
			ns += hi - lo - g.dueIn(lo, hi)
		}
	}
	return ns
}

// dueIn is how much of what is due of a time off a CPU lies within a time: it sleeps first, and wants a
// core then.
func (g *gap) dueIn(lo, hi uint64) uint64 {
	woken := g.from + g.asleep
	if hi = min(hi, woken); hi <= lo {
		return 0
	}
	return uint64(float64(hi-lo) * float64(min(g.due, g.asleep)) / float64(g.asleep))
}

// at is the thread's CPU time at a moment.
func (c *onCPU) at(now uint64) uint64 {
	if c.on && now > c.since {
		return c.total + (now - c.since)
	}
	return c.total
}

// piece is what a thread did from one operation to the next.
type piece struct {
	thread     *thread
	from       uint64          // moment
	to         uint64          // when it was cut
	entry      uint64          // function with which it begins, 0 if that is not known
	exit       []section.Frame // where it ends, innermost first, if that is in the program's own code: nil if that is not known
	cpuFrom    uint64
	cpu        uint64 // time on a CPU
	cores      []coreTime
	queued     uint64 // time for which the thread could have run and had no core
	samples    []workSample
	locks      []lockWait
	tail       lockWait     // one of them, on the way to the wait that it ends with: should that be a section's end, it belongs to that
	off        []offWait    // blocked for anything else
	held       []held       // permits that its thread gave back
	spunBefore offWait      // likewise, of these: in a loop in front of that wait
	spunFrom   uint64       // when that began, 0: it was not seen to
	cameUnseen bool         // its thread has spun at its end, and came at some moment before
	events     []eventCount // one event may stand there more than once
	spin       uint64       // period of samples inside of a runtime's waiting
	work       uint64       // period of the others
	spins      uint64       // samples inside of a runtime's waiting
	spunAt     *block       // where the last of them was
	spun       *spinMark    // nil: its last sample was elsewhere than in a loop of the program's own that waits
	tasks      bool         // done while the thread waits
	whole      uint64       // of cpu: in tasks that are known from their begin to their end
	after      uint64       // time on a CPU since the first one came to where the piece ends
	met        *episode     // nil: that is not known
	idled      uint64       // for how long its thread then waited there, as far as anybody had a core: where tasks are done meanwhile
	rested     uint64       // ns of samples in which its thread waited at a section's end
	awaits     bool         // it ends where its thread waits for those that it has made
	counts     bool         // it ends where a goroutine counts down
	idleAt     uint64       // when that then had nothing more to do; 0: it has not come that far
	traced     bool         // its samples stand in the traces
	charged    bool         // its samples stand in the call-path tree of a section
	open       []uint64     // the calls that were open at all its samples, outermost first
	seen       bool         // there are such samples

	row int32 // of the profile
}

// narrow leaves of the piece's open calls those that were open at a sample, too.
func (p *piece) narrow(open []uint64) {
	if open == nil {
		return
	}
	if !p.seen {
		p.open, p.seen = open, true
	}
	n := 0
	for n < len(p.open) && n < len(open) && p.open[n] == open[n] {
		n++
	}
	p.open = p.open[:n]
}

// workSample is a sample of a thread at work.
type workSample struct {
	path   int32
	b      *block
	period uint64
	nanos  uint64 // CPU time that it stands for
	loop   *block // of the program's own, in which it waits
	trips  []trip
	open   []uint64  // calls that were open, outermost first
	root   *function // the outermost of the program's own that were, nil if that is not known

	at      uint64 // CPU time since the piece began
	working int    // threads at work at that moment
}

// begin starts a piece; what the thread did since the last one is dropped.
func (t *thread) begin(at uint64) {
	if t.piece == nil {
		t.piece = new(piece)
	}
	*t.piece = piece{thread: t, from: at, cpuFrom: t.cpu.at(at), row: int32(t.id)}
}

// cut ends the thread's piece and starts the next one.
func (t *thread) cut(at uint64) *piece {
	p := t.piece
	p.to = at
	p.ranOn(&t.cpu, at)
	if now := t.cpu.at(at); now > p.cpuFrom {
		p.cpu = now - p.cpuFrom
	}
	t.piece = nil // p is the section's
	t.begin(at)
	return p
}

// covered reports whether the thread is inside of a hooked call, and not in the body of a region.
func (t *thread) covered() bool {
	n := len(t.calls)
	return n > 0 && !t.calls[n-1].body
}

// unwindCalls drops the calls that were left without a return, by an exception or longjmp: their
// frames lie below the stack pointer.
func (t *thread) unwindCalls(sp uint64) {
	for n := len(t.calls); n > 0 && !t.calls[n-1].body && t.calls[n-1].sp < sp; n-- {
		t.calls = t.calls[:n-1]
	}
}

func (t *thread) push(c call) { t.calls = append(t.calls, c) }

// pop takes the innermost open call if it is the one of that role.
func (t *thread) pop(r known.Role, body bool) (call, bool) {
	n := len(t.calls)
	if n == 0 || t.calls[n-1].role != r || t.calls[n-1].body != body {
		return call{}, false
	}
	c := t.calls[n-1]
	t.calls = t.calls[:n-1]
	return c, true
}

// waits reports whether the thread is known to wait: at a barrier, a join, for work.
func (t *thread) waits() bool {
	n := len(t.calls)
	if n == 0 {
		return t.idle
	}
	c := &t.calls[n-1]
	return !c.body && (c.role == known.Barrier || c.role == known.TeamBarrier || c.role == known.Join ||
		c.role == known.Gate || c.mpi != nil || c.over)
}

// gated reports whether the thread waits in code of the program's own.
func (t *thread) gated() bool {
	n := len(t.calls)
	return n > 0 && t.calls[n-1].candidate != nil
}

// op is an operation without a piece.
func (t *thread) op(kind section.OpKind, at uint64) section.Op {
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(at)}
}
