package section

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lime/internal/unit"
)

// Pipelines of any shape: stages of some threads each, with bounded queues in between and
// conditions on both sides, as an event by event simulation of them goes. No wait in them is one at
// a barrier.
func TestPipelinesHoldNoBarrier(t *testing.T) {
	bad := 0
	for seed := range uint64(2000) {
		p := newPipeline(rand.New(rand.NewPCG(seed, 7)))
		p.run(t)
		for _, in := range p.found {
			if in.Kind == Built {
				if bad++; bad <= 5 {
					t.Errorf("seed %d: %v: a barrier of %d parts", seed, p.shape, len(in.Parts))
				}
			}
		}
	}
	if bad > 5 {
		t.Errorf("%d in all", bad)
	}
}

// pipeline is one, and how far it has come.
type pipeline struct {
	rec     *Recogniser
	found   []Instance
	shape   string
	workers []*worker
	items   int // that the first stage has not made yet
}

// bounded is a queue.
type bounded struct {
	count, depth, producers int
	filled, emptied         condition
}

type condition struct {
	object uint64
	waits  []*worker
}

// worker is a thread of a stage: it takes, works and hands on, step by step.
type worker struct {
	id      ThreadID
	in, out *bounded
	clock   unit.Cycles
	work    func() unit.Cycles
	step    int
	code    unit.Addr // its stage's
	inlined bool      // taking and handing on are
	waiting bool
	woken   bool
	gone    bool
}

// The steps of a worker.
const (
	takes = iota
	works
	hands
	steps
)

func newPipeline(rng *rand.Rand) *pipeline {
	p := &pipeline{items: 4 + rng.IntN(60)}
	p.rec = New(func(in Instance) { p.found = append(p.found, in) })
	inlined := rng.IntN(2) == 0
	var from *bounded
	stages := 2 + rng.IntN(3)
	for s := range stages {
		n := 1 + rng.IntN(6)
		var to *bounded
		if s < stages-1 {
			to = &bounded{depth: 1 + rng.IntN(16), producers: n}
			to.filled.object, to.emptied.object = uint64(2*s+1), uint64(2*s+2)
		}
		long := unit.Cycles(10 + rng.IntN(3)*rng.IntN(3)*500)
		for range n {
			p.workers = append(p.workers, &worker{id: ThreadID(len(p.workers) + 1), in: from, out: to, inlined: inlined,
				code: unit.Addr(1000 * (s + 1)), work: func() unit.Cycles { return long/2 + unit.Cycles(rng.IntN(int(long))) }})
		}
		p.shape += fmt.Sprintf(" %d threads x %d", n, long)
		from = to
	}
	return p
}

func (p *pipeline) feed(t *testing.T, op Op) {
	if endsPiece[op.Kind] {
		op.Span = fmt.Sprint(op.Thread, op.At)
	}
	if err := p.rec.Feed(op); err != nil {
		t.Fatal(err)
	}
}

func (p *pipeline) run(t *testing.T) {
	p.feed(t, Op{Kind: OpStart, Other: NoThread})
	for i, w := range p.workers {
		w.clock = unit.Cycles(10 * (i + 1))
		p.feed(t, Op{Kind: OpCreate, At: w.clock, Other: w.id, Site: Site{Stack: []Frame{{Call: 10, Func: 1}}}})
		p.feed(t, Op{Kind: OpStart, Thread: w.id, At: w.clock})
	}
	now := unit.Cycles(10 * (len(p.workers) + 2))
	for _, w := range p.workers {
		p.feed(t, Op{Kind: OpJoinBegin, At: now, Other: w.id, Site: Site{Stack: []Frame{{Call: 11, Func: 1}}}})
		for !w.gone {
			next := p.next()
			if next == nil {
				t.Fatalf("%v: all wait", p.shape)
			}
			next.clock = max(next.clock, now)
			now = next.clock
			p.act(t, next)
		}
		p.feed(t, Op{Kind: OpJoinEnd, At: now, Other: w.id})
	}
	p.feed(t, Op{Kind: OpExit, At: now})
	p.rec.Close(now)
}

// next is who acts next.
func (p *pipeline) next() (first *worker) {
	for _, w := range p.workers {
		if !w.gone && !w.waiting && (first == nil || w.clock < first.clock) {
			first = w
		}
	}
	return first
}

func (p *pipeline) act(t *testing.T, w *worker) {
	if w.woken {
		w.woken = false
		p.feed(t, Op{Kind: OpWaitEnd, Thread: w.id, At: w.clock, Other: NoThread, Idle: true})
	}
	done := true
	switch w.step {
	case takes:
		done = p.take(t, w)
	case works:
		w.clock += w.work()
	case hands:
		done = p.hand(t, w)
	}
	if done {
		w.step = (w.step + 1) % steps
	}
	w.clock++
}

func (p *pipeline) take(t *testing.T, w *worker) (done bool) {
	q := w.in
	switch {
	case q == nil && p.items == 0, q != nil && q.count == 0 && q.producers == 0:
		p.end(t, w)
		return false
	case q == nil:
		p.items--
	case q.count == 0:
		p.wait(t, w, &q.filled, takes)
		return false
	default:
		q.count--
		p.signal(t, w, &q.emptied, takes, 1)
	}
	return true
}

func (p *pipeline) hand(t *testing.T, w *worker) (done bool) {
	q := w.out
	switch {
	case q == nil:
	case q.count == q.depth:
		p.wait(t, w, &q.emptied, hands)
		return false
	default:
		q.count++
		p.signal(t, w, &q.filled, hands, 1)
	}
	return true
}

func (p *pipeline) end(t *testing.T, w *worker) {
	if q := w.out; q != nil {
		q.producers--
		p.signal(t, w, &q.filled, steps, len(q.filled.waits))
	}
	w.gone = true
	p.feed(t, Op{Kind: OpExit, Thread: w.id, At: w.clock, Other: NoThread})
}

func (p *pipeline) wait(t *testing.T, w *worker, c *condition, step int) {
	w.waiting = true
	c.waits = append(c.waits, w)
	p.feed(t, Op{Kind: OpWaitBegin, Thread: w.id, At: w.clock, Other: NoThread, Object: c.object, Site: w.site(step)})
}

func (p *pipeline) signal(t *testing.T, w *worker, c *condition, step, n int) {
	for range min(n, len(c.waits)) {
		q := c.waits[0]
		c.waits = c.waits[1:]
		q.waiting, q.woken, q.clock = false, true, w.clock+1
		p.feed(t, Op{Kind: OpRelease, Thread: w.id, At: w.clock, Other: NoThread, Object: c.object, Woken: []ThreadID{q.id},
			Site: w.site(step)})
	}
}

// site is where a worker stands in a step: in a function of the queue's, unless that is inlined.
func (w *worker) site(step int) Site {
	at := Frame{Call: w.code + unit.Addr(step), Func: w.code}
	if w.inlined {
		return Site{Stack: []Frame{at}}
	}
	f := unit.Addr(100 * (step + 1))
	return Site{Stack: []Frame{{Call: f + 1, Func: f}, at}}
}
