// A thread in a loop in which it waits, and the list of all of them.

package sim

import (
	"lime/internal/collect/spin"
	"lime/internal/engine"
)

// spinner is a thread that goes round a loop in which threads wait, as far as the loop can tell
// (package spin).
type spinner struct {
	t        *thread
	loop     *spin.Loop
	blocks   map[engine.BlockID]bool
	heads    map[uint64]bool // their addresses
	own      map[uint64]bool // of these, those in the program's own code; all, if there are none
	until    uint64          // clock up to which it surely goes round, if nothing changes; or of its next look at the time
	keeps    uint64          // clock up to which it keeps its core then
	object   uint64          // first place watched that is not on the thread's stack
	reported bool            // the recogniser knows
	call     uint64          // the program's own place
	tried    uint64          // the lock that the thread tried to take in front of the loop, 0 if none
	point    uint64          // pass point, 0 if none
	passed   bool            // its segment ended there, and not at the loop
	woken    uint64          // the clock at which it was released
	spans    extents         // the code of its blocks
	takes    bool            // what it waits for is a lock, by its code or by how it was called
	contends bool            // what it tries to take then is another word
	looked   bool            // where it tries to take the lock is known
	out      uint64          // the block behind the loop in which the thread goes on
	seen     int             // blocks of the engine that it was held against
	glanced  []uint64        // what it watches, as the thread left it that may have let it go
	cameBy   uint64          // instructions of the thread when it came to it
	later    bool            // when it left, others who had been let go had changed that again
}

// extent is a stretch of code.
type extent struct{ lo, hi uint64 }

// in reports whether an instruction belongs to the loop.
func (s *spinner) in(pc uint64) bool { return s.spans.have(pc) }

// extents are the code of a loop.
type extents []extent

// have reports whether an instruction is in one of them.
func (x extents) have(pc uint64) bool {
	for i := range x {
		if x[i].lo <= pc && pc < x[i].hi {
			return true
		}
	}
	return false
}

// kind is what its wait is, if it ends no section. A lock is what those who waited try to take.
func (s *spinner) kind() waitEvent {
	if s.takes || s.tried != 0 && s.tried == s.object {
		return lockWait
	}
	return spinWait
}

// held reports whether the thread keeps its core: it may yet turn out that it did not wait.
func (s *spinner) held() bool { return !s.loop.Fixed }

// due is the clock up to which a held thread stands still: then it may leave its loop by itself, or
// others that wait for its core get that.
func (s *spinner) due(c *cores) uint64 {
	if k := s.t.core; k != nil && c.waitsFor(k) != nil {
		return min(s.until, s.keeps, k.quantum)
	}
	return s.until
}

// looksLater sets when a thread that may leave its loop by the clock looks at that next: it stands
// still meanwhile, and would see the same, but for the time. So a time-out is seen too late by an
// eighth of the wait at most, and who waits long is not run for it round by round.
func (s *spinner) looksLater() {
	waited := s.until - min(s.until, s.t.waitAt)
	if more := max(waited/clockShare, 1); s.until < never-more {
		s.until += more
		return
	}
	s.until = never // no clock lets it go
}

// clockShare is the part of a wait that its time-out may be seen too late.
const clockShare = 8

// yields reports whether all that a held thread does by a clock is to give its core away to others
// that wait for it. What it would do next time that it has one is to go round.
func (s *spinner) yields(c *cores, clock uint64) bool {
	return s.until == never && s.t.core != nil && s.due(c) <= clock
}

// lapses notes that the thread goes on by itself.
func (s *spinner) lapses() {
	if s.loop.Sleeps {
		s.t.lapsed = s
	}
}

// never is the clock up to which a thread goes round that nothing of its own can let go.
const never = ^uint64(0)

// spinners is the threads that spin.
type spinners struct{ parked []*spinner }

// glance notes what all of them watch holds now, before the first of them goes on.
func (x *spinners) glance(m *memory) {
	for _, s := range x.parked {
		s.glanced = s.glanced[:0]
		for i := range s.loop.Watches {
			v, _ := m.value(s.loop.Watches[i].Addr, s.loop.Watches[i].Bytes)
			s.glanced = append(s.glanced, v)
		}
	}
}

// stands reports whether nobody has changed since what it watches.
func (s *spinner) stands(m *memory) bool {
	for i := range s.loop.Watches {
		if v, _ := m.value(s.loop.Watches[i].Addr, s.loop.Watches[i].Bytes); i >= len(s.glanced) || v != s.glanced[i] {
			return false
		}
	}
	return true
}

// atOnce is how many of those who leave their loops were let go by one thread: not by others on
// their way out.
func atOnce(list []*spinner) (n int) {
	for _, s := range list {
		if !s.later {
			n++
		}
	}
	return n
}

// drop forgets a thread that is gone.
func (x *spinners) drop(t *thread) {
	for i, s := range x.parked {
		if s.t == t {
			x.parked = append(x.parked[:i:i], x.parked[i+1:]...)
			return
		}
	}
}
