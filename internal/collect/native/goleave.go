// Why a goroutine stands back.

package native

import (
	"strings"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/section"
)

// leftAs is why a goroutine left its thread.
type leftAs uint8

const (
	leftReady leftAs = iota // it may go on
	leftLock                // for a lock
	leftAwait               // until others have counted down
	leftOff                 // asleep, or for the outside world
	leftTold                // for another goroutine: OpWaitBegin
)

// leaves tells why a goroutine stands back, by the functions of the runtime that it is in, and what
// kind of time off a core that is.
func (gr *goroutines) leaves(h *hook.Record) (as leftAs, kind string) {
	for _, ret := range gr.places.callers(h) {
		_, s, ok := gr.program.images.symbol(ret - 1)
		for _, w := range parkings() {
			if ok && strings.Contains(s.Name, w.name) {
				return w.as, ""
			}
		}
		if ok && known.GoWaitsOutside(s.Name) {
			return leftOff, outsideKind(s.Name)
		}
		if gr.program.images.own(ret - 1) { // of the runtime's packages, that is time.Sleep, too
			break
		}
	}
	return leftTold, ""
}

// outsideSite is the place of a call that waits for something outside, without the functions of the
// runtime's packages that are there for that.
func (gr *goroutines) outsideSite(h *hook.Record) section.Site {
	s := gr.goSite(h)
	for len(s.Stack) > 1 {
		_, sym, ok := gr.program.images.symbol(uint64(s.Stack[0].Call))
		if !ok || !known.GoWaitsOutside(sym.Name) {
			break
		}
		s.Stack = s.Stack[1:]
	}
	return s
}

// outsideKind is what a goroutine waits for that waits for something outside: a time, or files. The
// collection of garbage is the runtime's own affair.
func outsideKind(function string) string {
	switch {
	case known.GoSleeps(function):
		return kindSleep
	case known.GoWaitsForFile(function):
		return kindIO
	}
	return ""
}

// parking is a function in which goroutines wait that nothing but its name tells of.
type parking struct {
	name string
	as   leftAs
}

func parkings() []parking {
	return []parking{
		{"runtime_SemacquireMutex", leftLock},
		{"runtime_SemacquireRWMutex", leftLock},
		{"sync.(*WaitGroup).Wait", leftAwait},
	}
}
