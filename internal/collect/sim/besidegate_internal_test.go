package sim

import (
	"math/rand"
	"testing"
)

// meetingPlace is a barrier, or a lock, of some threads that go on in any order.
type meetingPlace struct {
	lock    bool
	threads []*thread
	in, out map[*thread]int // how often they have
	inside  map[*thread]bool
}

func newMeetingPlace(lock bool, n int) *meetingPlace {
	m := &meetingPlace{lock: lock, in: map[*thread]int{}, out: map[*thread]int{}, inside: map[*thread]bool{}}
	for range n {
		m.threads = append(m.threads, &thread{})
	}
	return m
}

// mayLeave reports whether a thread that is inside can come out.
func (m *meetingPlace) mayLeave(t *thread) bool {
	for _, o := range m.threads {
		if !m.lock && m.in[o] < m.in[t] {
			return false
		}
	}
	return true
}

// goesOn lets one of them go in or come out, if it can.
func (m *meetingPlace) goesOn(t *thread) (moved, out bool) {
	switch {
	case !m.inside[t]:
		m.in[t]++
		m.inside[t] = true
		return true, false
	case m.mayLeave(t):
		m.out[t]++
		m.inside[t] = false
		return true, true
	}
	return false, false
}

// TestTurns begins to count at any moment, knowing who is outside or not, and lets threads go on in
// any order: those of a barrier never seem to come out before all have gone in, those of a lock
// soon do.
func TestTurns(t *testing.T) {
	chance := rand.New(rand.NewSource(1))
	for range 3000 {
		m := newMeetingPlace(chance.Intn(4) == 0, 2+chance.Intn(5))
		for range chance.Intn(100) {
			m.goesOn(m.threads[chance.Intn(len(m.threads))])
		}
		if holds := countsTurns(m, chance); holds == m.lock {
			t.Fatalf("%d threads, lock %v: holds %v", len(m.threads), m.lock, holds)
		}
	}
}

// countsTurns reports whether what is counted from now on is true of a barrier.
func countsTurns(m *meetingPlace, chance *rand.Rand) bool {
	const steps = 500
	outside := map[*thread]bool{}
	if chance.Intn(2) == 0 {
		for _, o := range m.threads {
			outside[o] = !m.inside[o]
		}
	}
	x := newTurns(outside)
	for range steps {
		o := m.threads[chance.Intn(len(m.threads))]
		moved, out := m.goesOn(o)
		switch {
		case !moved:
		case !out:
			x.in[o]++
		case x.in[o] > x.out[o] && !x.comesOut(o, m.inside):
			return false
		}
	}
	return true
}

// TestWhoHasEndedHasHadItsChance asks of a thread that has ended since the trial began.
func TestWhoHasEndedHasHadItsChance(t *testing.T) {
	if !(&tried{}).hard(&beside{}, &thread{}) {
		t.Error("it is waited for")
	}
}
