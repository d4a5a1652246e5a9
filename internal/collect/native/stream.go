package native

import (
	"cmp"
	"slices"

	"lime/internal/collect/native/hook"
	"lime/internal/perf"
)

// item is something that happened: a record of the kernel's or of a hook's.
type item struct {
	at     uint64
	hook   *hook.Record
	typ    perf.Type
	tid    int32
	other  int32 // fork: parent
	alien  bool  // fork: of another process
	name   string
	out    bool
	forced bool // switch: it could have gone on
	sample workSample
	spins  bool
	event  string // sample: of an event, not of the clock
	pc     uint64
	inside bool // sample: code of the program's own runs inside of a hooked call
}

// stream puts the records of all rings in order of time. The rings are read one after the other, so
// an item is handed out only when none that comes before it can still be under way.
type stream struct {
	items []item
	order []int32
	held  uint64 // hooks: no item may pass this moment, 0 = none
	last  uint64
}

func (s *stream) add(x item) { s.items = append(s.items, x) }

// lag is how long after its time stamp a record may come to be seen in its ring, in ns.
const lag = 5_000_000

// take hands out, in order, what happened before a moment.
func (s *stream) take(before uint64, visit func(*item)) {
	s.order = s.order[:0]
	for i := range s.items {
		if s.items[i].at < before {
			s.order = append(s.order, int32(i))
		}
	}
	slices.SortFunc(s.order, func(i, j int32) int { return cmp.Or(cmp.Compare(s.items[i].at, s.items[j].at), cmp.Compare(i, j)) })
	for _, i := range s.order {
		visit(&s.items[i])
	}
	rest := s.items[:0]
	for i := range s.items {
		if s.items[i].at >= before {
			rest = append(rest, s.items[i])
		}
	}
	clear(s.items[len(rest):])
	s.items = rest
}
