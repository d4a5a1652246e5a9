// What would be if a lock were held for less, or nobody waited for it: the threads do what they do,
// and the simulated clock goes otherwise.

package sim

import "lime/internal/cpu"

// LockChange is what is to be otherwise about a lock, or about all that were first taken in a call.
type LockChange struct {
	Addr  uint64  // of the lock; 0: by the call
	First uint64  // the call that takes it first
	Held  float64 // it is held for this part of the time
	Later bool    // the rest of the work is done when it has been given back, instead of never
	Free  bool    // nobody waits for it
}

// lockChanges changes the time that threads take while they hold locks.
type lockChanges struct {
	list  []LockChange
	calls *openCalls
	holds map[*thread]*changedHold
	found bool // one of the locks has been taken
}

// changedHold is the locks of the list that a thread holds, and what it has put off.
type changedHold struct {
	open []*LockChange
	owes uint64
	at   uint64 // the stack's height where the function begins that gives the last one back
}

// of is what is to be otherwise about a lock, nil if nothing is.
func (x *lockChanges) of(s *lockState, first uint64) *LockChange {
	if x == nil {
		return nil
	}
	for i := range x.list {
		if c := &x.list[i]; c.Addr != 0 && c.Addr == s.addr || c.Addr == 0 && c.First == first {
			x.found = true
			return c
		}
	}
	return nil
}

// begins notes that t has such a lock now.
func (x *lockChanges) begins(t *thread, c *LockChange) {
	if c == nil || c.Free {
		return
	}
	h := x.holds[t]
	if h == nil {
		h = &changedHold{}
		x.holds[t] = h
	}
	h.open = append(h.open, c)
}

// ends notes that t gives one back.
func (x *lockChanges) ends(t *thread, c *LockChange) {
	if c == nil || c.Free || x.holds[t] == nil {
		return
	}
	h := x.holds[t]
	for i := len(h.open) - 1; i >= 0; i-- {
		if h.open[i] == c {
			h.open = append(h.open[:i], h.open[i+1:]...)
			h.at, _ = x.calls.height(t)
			return
		}
	}
}

// time returns how far the clock moves for some units of a thread's work. What was put off is done
// once the function is left that gives the lock back, and wakes whoever waits. Go does the waking on
// the scheduler's stack, which may lie above the goroutine's.
func (x *lockChanges) time(t *thread, units uint64, exit cpu.Exit) uint64 {
	if x == nil || x.holds[t] == nil {
		return units
	}
	h := x.holds[t]
	if len(h.open) == 0 {
		if at, own := x.calls.height(t); own && exit.Reason != cpu.ExitSyscall && at >= h.at {
			units, h.owes = units+h.owes, 0
		}
		return units
	}
	c := h.open[len(h.open)-1]
	now := uint64(float64(units)*c.Held + 0.5)
	if c.Later {
		h.owes += units - min(units, now)
	}
	return now
}

// missed reports whether none of the locks was there.
func (x *lockChanges) missed() bool { return x != nil && !x.found }

func newLockChanges(list []LockChange, calls *openCalls) *lockChanges {
	if len(list) == 0 {
		return nil
	}
	return &lockChanges{list: list, calls: calls, holds: map[*thread]*changedHold{}}
}

// change is what is to be otherwise about the lock at an address.
func (b *lockBook) change(lock uint64) *LockChange {
	s := b.locks[lock]
	if s == nil || b.changes == nil {
		return nil
	}
	if !s.asked {
		s.asked, s.change = true, b.changes.of(s, s.first)
	}
	return s.change
}

// backTo lets a thread go on at the clock at which it came to a lock for which nobody is to wait.
func (c *clocks) backTo(t *thread, at uint64) {
	k := t.here().core
	k.clock = min(k.clock, at)
	c.cores.moved(k)
}
