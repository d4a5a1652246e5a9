package native

import (
	"slices"

	"lime/internal/collect/native/hook"
	"lime/internal/perf"
)

// item is something that happened: a record of the kernel's or of a hook's. There are tens of
// thousands a second, most of them switches and calls.
type item struct {
	at   uint64
	hook *hook.Record // while it is handed out
	*detail
	event  *eventCount // sample: of an event, not of the clock
	ref    uint64      // number of the hook's record plus 1, 0 = none
	typ    perf.Type
	tid    int32
	other  int32 // fork: parent
	alien  bool  // fork: of another process
	out    bool
	forced bool // switch: it could have gone on
	core   uint32
}

// detail is what only samples and names have.
type detail struct {
	name   string
	sample workSample
	spins  bool
	left   *leaving // sample: of a thread that leaves its core
	short  bool     // sample: of the clock for threads that end within a period of the first one
	inside bool     // sample: code of the program's own runs inside of a hooked call
}

// stream puts the records of all rings in order of time. The rings are read one after the other, so
// an item is handed out only when none that comes before it can still be under way.
type stream struct {
	items []item
	hooks func(number uint64) hook.Record // reads one where it lies
	first uint64                          // number of the first one that waits, plus 1; 0 = none
	order inOrder
	held  uint64 // hooks: no item may pass this moment
}

func (s *stream) add(x item) { s.items = append(s.items, x) }

func (s *stream) addHook(at, number uint64) { s.add(item{at: at, ref: number + 1}) }

// lag is how long after its time stamp a record may come to be seen in its ring, in ns.
const lag = 5_000_000

// take hands out, in order, what happened before a moment.
func (s *stream) take(before uint64, visit func(*item)) {
	s.order.reset()
	for i := range s.items {
		if at := s.items[i].at; at < before {
			s.order.add(at, int32(i))
		}
	}
	var h hook.Record
	for _, d := range s.order.sorted() {
		x := &s.items[d.index]
		if x.ref > 0 {
			h = s.hooks(x.ref - 1)
			x.hook = &h
		}
		visit(x)
	}
	s.keep(before)
}

// keep drops what was handed out.
func (s *stream) keep(before uint64) {
	rest := s.items[:0]
	s.first = 0
	for i := range s.items {
		x := &s.items[i]
		if x.at < before {
			continue
		}
		if x.ref > 0 && (s.first == 0 || x.ref < s.first) {
			s.first = x.ref
		}
		rest = append(rest, *x)
	}
	clear(s.items[len(rest):])
	s.items = rest
}

// dropHooks drops the records of hooks: their ring is gone.
func (s *stream) dropHooks() {
	s.items = slices.DeleteFunc(s.items, func(x item) bool { return x.ref > 0 })
	s.first = 0
}

// due is an item's place in the order of time.
type due struct {
	at    uint64
	index int32
}

// inOrder sorts items by time; those of the same time stay as they came. Each ring is in order, or
// nearly so: what is sorted already is merged.
type inOrder struct {
	list, spare []due
	runs        []int // where the stretches begin that are in order, and the end
}

func (o *inOrder) reset() { o.list, o.runs = o.list[:0], o.runs[:0] }

func (o *inOrder) add(at uint64, index int32) {
	if n := len(o.list); n == 0 || o.list[n-1].at > at {
		o.runs = append(o.runs, n)
	}
	o.list = append(o.list, due{at, index})
}

func (o *inOrder) sorted() []due {
	o.spare = slices.Grow(o.spare[:0], len(o.list))[:len(o.list)]
	o.runs = append(o.runs, len(o.list))
	for len(o.runs) > 2 {
		o.halve()
	}
	return o.list
}

// halve merges every two stretches that are neighbours.
func (o *inOrder) halve() {
	n := 0
	for i := 0; i+1 < len(o.runs); i += 2 {
		from, mid := o.runs[i], o.runs[i+1]
		to := o.runs[min(i+2, len(o.runs)-1)]
		merge(o.spare[from:to], o.list[from:mid], o.list[mid:to])
		o.runs[n] = from
		n++
	}
	o.runs = append(o.runs[:n], len(o.list))
	o.list, o.spare = o.spare, o.list
}

func merge(into, a, b []due) {
	for i := range into {
		if len(b) == 0 || len(a) > 0 && a[0].at <= b[0].at {
			into[i], a = a[0], a[1:]
		} else {
			into[i], b = b[0], b[1:]
		}
	}
}
