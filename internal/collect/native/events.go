package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"lime/internal/collect"
	"lime/internal/perf"
	"lime/internal/profile"
)

// Sampled events: what the processor's counters, or the kernel, see happen in the program. They are
// sampled by frequency like time, so that a sample stands for as many events as passed since the
// one before; it has no stack, only the instruction.

// events are what the kernel tells of the program: samples of a clock and of events, switches,
// new threads and mappings.
type events struct {
	o     *Options
	notes collect.Notes

	session     []*perf.Session
	execs       *perf.Session     // tells at once that a process has replaced itself; nil: that shows later
	by          string            // the sampling clock, "" if there is none
	switches    bool              // the kernel tells of context switches
	leavings    leavings          // and samples where threads leave their cores
	short       shortTurns        // samples of threads that end within a period
	leftSamples int               // of them, since the budget was reckoned
	kinds       map[string]bool   // of events that are sampled
	eventIDs    map[uint64]string // by the kernel's id: the kind, "" for a clock
	lost        uint64            // records
	throttle    uint64            // times that the kernel stopped sampling
}

// eventStack is what the samples of events copy of the stack: all events of a ring have the same
// fields, so it cannot be nothing.
const eventStack = 8

// faultPeriod is how many page faults there are to a sample. A fault takes the kernel half a
// microsecond at least and a sample some one, so that samples take no hundredth of the faults' own
// time, however many there are. By frequency the kernel takes a second to find a fitting period for
// an event that comes in bursts.
const faultPeriod = 256

// adder opens a further event on a session.
type adder interface {
	Add(o perf.Options) error
}

// openEvents opens the events that the user names, or all that there are. Those that are sampled by
// frequency have together that of the clock.
func (ev *events) openEvents(s adder, o perf.Options) {
	o.Leader, o.Layout = false, perf.Layout{Stack: eventStack}
	o.Frequency = max(1, o.Frequency/uint64(len(perf.HardwareEvents())))
	for _, e := range perf.Events() {
		if ev.o.Events != nil && !slices.Contains(ev.o.Events, e.Name) {
			continue
		}
		o.Clock, o.Period = e, 0
		if e.Type == unix.PERF_TYPE_SOFTWARE {
			o.Period = faultPeriod
		}
		if err := s.Add(o); err == nil {
			ev.kinds[e.Name] = true
		} else if ev.o.Events != nil {
			ev.notes.Add("no-event", err.Error())
		}
	}
}

// CheckEvents reports names that are none of an event.
func CheckEvents(names []string) error {
	var known []string
	for _, e := range perf.Events() {
		known = append(known, e.Name)
	}
	for _, n := range names {
		if n != NoEvents && !slices.Contains(known, n) {
			return fmt.Errorf("there is no event %q: choose from %v, or %s", n, known, NoEvents)
		}
	}
	return nil
}

// NoEvents is the name by which a user asks for none.
const NoEvents = "none"

// eventName is the kind of event that a sample's id belongs to, "" for the clock.
func (ev *events) eventName(id uint64) string {
	if len(ev.kinds) == 0 {
		return ""
	}
	name, ok := ev.eventIDs[id]
	if !ok {
		for _, s := range ev.session {
			if n := s.EventName(id); ev.kinds[n] {
				name = n
			}
		}
		ev.eventIDs[id] = name
	}
	return name
}

// eventKey is a kind of event at an instruction.
type eventKey struct {
	kind string
	pc   uint64
}

// eventCount is how often it happened.
type eventCount struct {
	eventKey
	n uint64
}

// addEvent adds to one of the latest counts, if it is the same event: most samples are of a few
// instructions.
func (p *piece) addEvent(e *eventCount) {
	const latest = 8
	for i := len(p.events) - 1; i >= max(0, len(p.events)-latest); i-- {
		if c := &p.events[i]; c.pc == e.pc && c.kind == e.kind {
			c.n += e.n
			return
		}
	}
	p.events = append(p.events, *e)
}

// events writes how often a part's events happened, by samples.
func (o *output) events(x *profile.Instance, s *partSum, part int32) {
	if len(s.events) == 0 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(s.events), func(a, b eventKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.pc, b.pc))
	})
	for _, k := range keys {
		x.Events = append(x.Events, profile.Count{Row: int32(o.event(k)), Part: part, N: s.events[k]})
	}
}

// event is the row of a kind of event at an instruction.
func (o *output) event(k eventKey) profile.EventID {
	id, ok := o.eventRows[k]
	if !ok {
		kind, told := o.eventKinds[k.kind]
		if !told {
			kind = o.sink.AddKind(profile.NewKind(profile.Sampled, k.kind))
			o.eventKinds[k.kind] = kind
		}
		id = o.sink.AddEvent(profile.Event{Kind: kind, Node: o.code.spot(k.pc).b.id, Addr: k.pc})
		o.eventRows[k] = id
	}
	return id
}

// spun writes how many of a part's samples were taken off its time.
func (o *output) spun(x *profile.Instance, s *partSum, part int32) {
	if s.spins == 0 {
		return
	}
	if o.spinEvent == profile.None {
		kind := o.sink.AddKind(profile.NewKind(profile.Sampled, profile.KindSpinSamples))
		o.spinEvent = o.sink.AddEvent(profile.Event{Kind: kind, Node: o.code.at(s.spunAt.addr).b.id, Addr: s.spunAt.last})
	}
	x.Events = append(x.Events, profile.Count{Row: int32(o.spinEvent), Part: part, N: s.spins})
}
