package section

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"lime/internal/unit"
)

// Recogniser turns operations into instances. It is not safe for concurrent use.
type Recogniser struct {
	Ran        onCores // set it before the first operation
	emit       func(Instance)
	handle     [opKinds]handler
	op         Op  // the one at hand: here, and not on the heap
	widest     int // most parts of an instance so far
	threads    map[ThreadID]*thread
	order      []*thread
	barriers   map[uint64]*episode
	regions    map[uint64]*region
	unreturned unreturned
	cuts       map[uint64]*cutSeries
	countdowns map[uint64]*countdown
	passages   map[uint64]map[ThreadID]*passage // by place
	loose      []*thread                        // gone, and nobody will ask for them
	levels     map[unit.Addr]bool               // function with a built barrier -> it is called for it (else the barrier is inlined in it)
	openings   map[uint64]unit.Cycles           // when a built barrier opened last
	undone     []*builtEpisode                  // built barriers whose place is not decided yet
	holding    holding
	pending    *release  // a release whose waiters have not all been woken yet
	final      unit.Addr // where the program was ended, if that is known
}

// New returns a recogniser that hands every finished instance to emit.
func New(emit func(Instance)) *Recogniser {
	r := &Recogniser{
		emit:       emit,
		handle:     handlers(),
		threads:    map[ThreadID]*thread{},
		barriers:   map[uint64]*episode{},
		regions:    map[uint64]*region{},
		cuts:       map[uint64]*cutSeries{},
		countdowns: map[uint64]*countdown{},
		passages:   map[uint64]map[ThreadID]*passage{},
		levels:     map[unit.Addr]bool{},
		openings:   map[uint64]unit.Cycles{},
	}
	r.holding.r = r
	return r
}

type state uint8

const (
	running state = iota
	arrived       // at a barrier or region end
	joining
	waiting // generic wait
	idle    // a pool's thread between regions
	gone
)

// thread is what the recogniser knows of one thread.
type thread struct {
	id       ThreadID
	state    state
	open     []*openPart // outermost first; never empty while the thread lives
	parts    int         // parts closed so far
	at       *episode    // barrier where it stands
	atPart   int         // its part there
	waits    unit.Cycles // arrived: since when, tasks left out
	wait     waitState
	groups   []*group // join groups that it opened, outermost first
	awaits   *group   // what it waits for in OpAwait
	lock     unit.Cycles
	parent   ThreadID
	dealer   ThreadID         // who created it, or ended its last wait
	fed      bool             // somebody has ended a wait of its
	partners map[*thread]bool // whose waits it has ended, or who have ended its own, since it had so many parts:
	since    int
	answered bool        // it has ended a wait of who gave it its last work
	dealt    bool        // it has given work out, and none of those who got it has answered since
	barrier  uint64      // the built barrier in which it took part last
	opened   unit.Cycles // when the last built barrier opened in which it took part
	early    *Part       // when gone: what it did before a wait that may have ended a section
	exit     *Part       // its last part, when gone and not joined yet
	region   []uint64
	ended    *region // whose end it has reached last, and its part there
	endPart  int
	task     taskState
	scopes   bool          // threads that it made were counted down, and not joined
	through  bool          // it has come back from its own function
	late     *builtEpisode // through: the section that its last part belongs to
	rest     bool          // through: its last part belongs to none
	lull     unit.Cycles   // since when it has nothing to do but wait for tasks
}

// openPart is a part under way.
type openPart struct {
	start     unit.Cycles
	lock, off unit.Cycles
	idle      unit.Cycles // waited for work to do
	lullOff   unit.Cycles // off when the lull began
	spans     []any
	kept      int
}

// clear drops what it holds so far.
func (p *openPart) clear() { p.spans, p.lock, p.off, p.idle = nil, 0, 0, 0 }

type handler func(*Recogniser, *thread, *Op)

// handlers has one row for every kind of operation.
func handlers() [opKinds]handler {
	return [opKinds]handler{
		OpStart:     (*Recogniser).start,
		OpExit:      (*Recogniser).exit,
		OpCreate:    (*Recogniser).create,
		OpCreated:   (*Recogniser).created,
		OpJoinBegin: (*Recogniser).joinBegin,
		OpJoinEnd:   (*Recogniser).joinEnd,
		OpArrive:    (*Recogniser).arrive,
		OpLeave:     (*Recogniser).leave,
		OpFork:      (*Recogniser).fork,
		OpMember:    (*Recogniser).member,
		OpMemberEnd: (*Recogniser).memberEnd,
		OpTask:      (*Recogniser).task,
		OpTaskEnd:   (*Recogniser).taskEnd,
		OpLull:      (*Recogniser).lull,
		OpLullEnd:   (*Recogniser).lullEnd,
		OpRegionEnd: (*Recogniser).regionEnd,
		OpWaitBegin: (*Recogniser).waitBegin,
		OpWaitEnd:   (*Recogniser).waitEnd,
		OpRelease:   (*Recogniser).release,
		OpLockBegin: (*Recogniser).lockBegin,
		OpLockEnd:   (*Recogniser).lockEnd,
		OpOff:       (*Recogniser).off,
		OpIdle:      (*Recogniser).idle,
		OpCut:       (*Recogniser).cut,
		OpCount:     (*Recogniser).count,
		OpCountUp:   (*Recogniser).countUp,
		OpAwait:     (*Recogniser).await,
		OpAwaitEnd:  (*Recogniser).awaitEnd,
		OpPass:      (*Recogniser).pass,
		OpPassEnd:   (*Recogniser).passEnd,
		OpPassKnown: (*Recogniser).passKnown,
	}
}

// Feed takes the next operation.
func (r *Recogniser) Feed(op Op) error {
	if op.Kind >= opKinds {
		return fmt.Errorf("section: operation kind %d is unknown", op.Kind)
	}
	t := r.threads[op.Thread]
	if t == nil && op.Kind != OpStart {
		return fmt.Errorf("section: thread %d acts before it starts", op.Thread)
	}
	if t != nil && t.state == gone {
		return fmt.Errorf("section: thread %d acts after its end", op.Thread)
	}
	r.op = op
	r.handle[op.Kind](r, t, &r.op)
	return nil
}

// start makes a thread known.
func (r *Recogniser) start(t *thread, op *Op) {
	if t != nil {
		return
	}
	t = &thread{id: op.Thread, parent: op.Other, dealer: op.Other, open: []*openPart{{start: op.At}}}
	r.threads[op.Thread] = t
	r.order = append(r.order, t)
	if n := len(r.order); n > 1 && r.order[n-2].id > t.id {
		sort.SliceStable(r.order, func(i, j int) bool { return r.order[i].id < r.order[j].id })
	}
}

// piece adds the piece that ends with op to every open part of t.
func (t *thread) piece(op *Op) {
	for _, p := range t.open {
		if op.Span != nil {
			p.spans = append(p.spans, op.Span)
			p.kept = min(p.kept, op.Site.Kept)
		}
	}
}

// top is the innermost open part.
func (t *thread) top() *openPart { return t.open[len(t.open)-1] }

// close turns the innermost open part into a Part that arrives at the given time, and
// begins a new one there. What the thread waited for work is no work: it arrives so much earlier.
func (t *thread) close(at unit.Cycles, site Site) Part {
	o := t.top()
	end := max(at, o.start)
	p := Part{
		Thread: t.id, Start: o.start, Arrive: end - min(o.idle, end-o.start), Came: end, Release: end,
		LockWait: o.lock, OffCPU: o.off, Spans: o.spans, site: site, first: t.parts == 0, Number: t.parts,
	}
	p.site.Kept = min(p.site.Kept, o.kept)
	t.parts++
	*o = openPart{start: at, kept: maxKept}
	return p
}

const maxKept = 1 << 30

// begin moves the start of the innermost open part: the release.
func (t *thread) begin(at unit.Cycles) { t.top().start = at }

func (t *thread) push(at unit.Cycles) {
	t.open = append(t.open, &openPart{start: at, kept: maxKept})
}

func (t *thread) pop() {
	if len(t.open) > 1 {
		t.open = t.open[:len(t.open)-1]
	}
}

// alone reports whether no other thread works at the moment.
func (r *Recogniser) alone(t *thread) bool {
	for _, o := range r.order {
		if o != t && !o.through && (o.state == running || o.state == arrived) {
			return false
		}
	}
	return true
}

// serial closes t's part as a serial stretch that ends at op.
func (r *Recogniser) serial(t *thread, op *Op) {
	p := t.close(op.At, op.Site)
	if p.Time() > 0 {
		r.finish(Instance{Kind: Serial, Place: op.Site.outside(), Parts: []Part{p}})
	}
}

// finish completes the instance's releases, sorts its parts and hands it out.
func (r *Recogniser) finish(in Instance) {
	if len(in.Parts) == 0 {
		return
	}
	var last unit.Cycles
	for i := range in.Parts {
		last = max(last, in.Parts[i].Arrive)
	}
	for i := range in.Parts {
		in.Parts[i].Release = max(in.Parts[i].Release, last)
	}
	slices.SortStableFunc(in.Parts, func(a, b Part) int { return cmp.Compare(a.Thread, b.Thread) })
	if len(in.Parts) == 1 && in.Kind != Tail && in.Kind != Custom && in.Kind != Meeting {
		in.Kind = Serial
	}
	r.widest = max(r.widest, len(in.Parts))
	r.markShared(in.Parts)
	r.emit(in)
}

func (r *Recogniser) lockBegin(t *thread, op *Op) { t.lock = op.At }

func (r *Recogniser) lockEnd(t *thread, op *Op) {
	for _, p := range t.open {
		p.lock += op.At - max(t.lock, min(p.start, op.At))
	}
}

func (r *Recogniser) off(t *thread, op *Op) {
	for _, p := range t.open {
		p.off += op.N
	}
}

// idle marks a pool's thread that has not begun to work yet.
func (r *Recogniser) idle(t *thread, op *Op) { t.state = idle }

// Close ends the run: what is complete is handed out, and what every thread did since its last
// section becomes a section that ends with the program.
func (r *Recogniser) Close(at unit.Cycles) {
	r.holding.handOut(func(*held) bool { return true })
	r.settle(true)
	for _, key := range sortedKeys(r.barriers) {
		r.finishBarrier(key)
	}
	r.closeCuts()
	for _, g := range r.unreturned {
		r.finish(g.instance())
	}
	r.tails(at)
}

// littleShare is how much of the longest part's work is worth a word: one in so many. A thread that
// did less and waits did next to nothing.
const littleShare = 100

// tails hands out the last parts of all threads that nobody joined, as one section that ends with
// the program. Those who wait for more work, and did next to nothing since they had some, take no
// part.
func (r *Recogniser) tails(at unit.Cycles) {
	var parts []Part
	var most unit.Cycles
	waits := map[ThreadID]bool{}
	for _, t := range r.order {
		waits[t.id] = t.state == waiting
		if p, ok := t.tail(at); ok {
			parts = append(parts, p)
			most = max(most, p.Time())
		}
	}
	parts = slices.DeleteFunc(parts, func(p Part) bool { return waits[p.Thread] && p.Time()*littleShare < most })
	r.finish(Instance{Kind: Tail, Place: cmp.Or(r.final, majorityPlace(parts, 0)), Parts: r.withoutKeepers(parts)})
}

// tail is what t did since its last section.
func (t *thread) tail(at unit.Cycles) (Part, bool) {
	if t.state == gone {
		if p := t.last(); p != nil && p.Time() > 0 {
			return *p, true
		}
		return Part{}, false
	}
	if t.state == idle || len(t.top().spans) == 0 {
		return Part{}, false
	}
	if t.state == waiting || t.state == joining {
		at = min(at, t.wait.at)
	}
	p := t.close(at, t.wait.site)
	return p, p.Time() > 0
}

func sortedKeys[V any](m map[uint64]V) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}
