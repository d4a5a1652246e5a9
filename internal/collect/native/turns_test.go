package native

import (
	"math"
	"slices"
	"testing"

	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/profile"
)

// taker is a thread of the tests below.
type taker struct {
	tid    int32
	left   int  // of its piece of work
	holds  bool // a permit
	sleeps bool
	rounds int
	on     bool // a core
}

// takers are threads that take permits of a semaphore, or meet at a barrier, on a number of cores
// that they get by turns. Both wake all who wait each time; who only spins is not seen to wait.
type takers struct {
	told
	list    []*taker
	cores   int
	work    func(t *taker) int  // how much it has to do once it goes on
	comes   func(t *taker)      // it has done that
	looks   func(t *taker) bool // whether it may go on
	spins   int                 // how often it looks before it sleeps
	caller  uint64
	value   int  // of the word
	atOnce  bool // who has come waits in the same moment, and cannot be let go before
	spinned map[*taker]int
}

const word = 64

// run lets each thread do its rounds.
func (m *takers) run(rounds int) {
	for next := 0; slices.ContainsFunc(m.list, func(t *taker) bool { return t.rounds < rounds }); next++ {
		on := 0
		for i := range m.list {
			t := m.list[(next/3+i)%len(m.list)]
			able := !t.sleeps && (t.rounds < rounds || t.left > 0) && on < m.cores
			m.places(t, able, !t.sleeps)
			if able {
				on++
			}
		}
		m.at += 100_000
		for _, t := range m.list {
			if t.on {
				m.step(t)
			}
		}
	}
}

// places gives a thread a core, or takes it away; forced: which it wants.
func (m *takers) places(t *taker, on, forced bool) {
	if t.on != on {
		m.switches(t.tid, !on, forced)
		t.on = on
	}
}

// switches tells that a thread gets a core, or loses it.
func (m *takers) switches(tid int32, out, forced bool) {
	m.at += 1000
	m.main.dispatcher.apply(&item{at: m.at, typ: perf.TypeSwitch, tid: tid, out: out, forced: out && forced})
}

func (m *takers) step(t *taker) {
	if t.left > 0 {
		if t.left--; t.left == 0 {
			m.comes(t)
		}
		if t.left > 0 || !m.atOnce {
			return
		}
	}
	switch {
	case m.looks(t):
		t.rounds, m.spinned[t], t.left = t.rounds+1, 0, m.work(t)
	case m.spinned[t] < m.spins:
		m.spinned[t]++
	default:
		m.futex(t.tid, hook.Enter, m.caller, word, futexWait, m.value)
		t.sleeps = true
		m.places(t, false, false)
	}
}

// wakes wakes all who sleep.
func (m *takers) wakes(by *taker) {
	m.futex(by.tid, hook.Enter, m.caller, word, futexWake, math.MaxInt32)
	for _, t := range m.list {
		t.sleeps = false
	}
}

// newTakers makes threads.
func newTakers(t *testing.T, threads, cores, spins int) (*takers, *profile.Profile) {
	t.Helper()
	name := "serve"
	if spins > 0 {
		name = "serve__waiter"
	}
	return takersIn(t, newTakers, name, threads, cores, spins)
}

// takersIn makes threads that wait in a function of this program, by that name if it has no symbols.
func takersIn(t *testing.T, f any, name string, threads, cores, spins int) (*takers, *profile.Profile) {
	t.Helper()
	r, p := recording(t, Options{})
	m := &takers{told: told{r, 5000}, cores: cores, spins: spins, spinned: map[*taker]int{}}
	m.caller = m.pcIn(f, name)
	m.tells(perf.TypeSwitch, m.main.program.pid, false)
	for i := range threads {
		m.list = append(m.list, &taker{tid: int32(101 + i), left: 1 + i})
		m.tells(perf.TypeFork, int32(101+i), false)
	}
	m.tells(perf.TypeSwitch, m.main.program.pid, true)
	return m, p
}

// passages ends the run, and counts the passages of barriers that the program has built.
func (m *takers) passages(t *testing.T, p *profile.Profile) (n int) {
	t.Helper()
	if _, err := m.finish(nil, false); err != nil {
		t.Fatal(err)
	}
	for id, s := range p.Tables().Sections {
		if s.Kind == profile.SectionBuilt {
			for range p.Instances(profile.SectionID(id)) {
				n++
			}
		}
	}
	return n
}

// However many permits there are for however many threads on however many cores, taking them is no
// barrier. It is not known before somebody has waited twice, or could not have come.
func TestPermitsAreNoBarrier(t *testing.T) {
	for _, threads := range []int{3, 4} {
		for permits := 1; permits < threads; permits++ {
			for _, cores := range []int{1, 2, threads} {
				for _, spins := range []int{0, 2} {
					m, p := newTakers(t, threads, cores, spins)
					m.value = permits
					m.work = func(*taker) int { return 7 }
					m.looks = func(t *taker) bool {
						if m.value == 0 {
							return false
						}
						m.value, t.holds = m.value-1, true
						return true
					}
					m.comes = func(t *taker) {
						if t.holds {
							t.holds, t.left = false, 3 // without one
							m.value++
							m.wakes(t)
						}
					}
					m.run(60)
					if n := m.passages(t, p); n > candidateFails+permits {
						t.Errorf("%d threads, %d permits, %d cores, spinning %d: %d passages of barriers", threads, permits, cores, spins, n)
					}
				}
			}
		}
	}
}

// A barrier is one however the threads get cores, whoever comes last, and whether its word counts or
// has but two values: who was last once waits for the same value again.
func TestSleepersBarrierIsOne(t *testing.T) {
	const rounds = 40
	same := func(t *taker) int { return 3 + int(t.tid)%3 }
	changing := func(t *taker) int { return 3 + (int(t.tid)*7+t.rounds*5)%6 }
	for _, c := range []struct {
		name   string
		values int
		work   func(t *taker) int
	}{{"counts, the same last", rounds + 1, same}, {"counts", rounds + 1, changing}, {"two values", 2, changing}, {"three values", 3, changing}} {
		for _, threads := range []int{3, 5} {
			for _, cores := range []int{1, 2, threads} {
				m, p := newTakers(t, threads, cores, 0)
				m.atOnce = true
				come, opened := 0, 0
				seen := map[*taker]int{}
				m.work = c.work
				m.comes = func(t *taker) {
					seen[t] = opened
					if come++; come == threads {
						come, opened = 0, opened+1
						m.value = opened % c.values
						m.wakes(t)
					}
				}
				m.looks = func(t *taker) bool { return opened != seen[t] }
				m.run(rounds)
				if n := m.passages(t, p); n < rounds-2 {
					t.Errorf("%s, %d threads, %d cores: %d of %d passages", c.name, threads, cores, n, rounds)
				}
			}
		}
	}
}

// meets has threads do some work each and meet at a barrier in a function, whose word they count up from
// a value on.
func (m *takers) meets(tids []int32, rounds, value int, caller uint64) {
	for round := range rounds {
		last := tids[round%len(tids)]
		for _, tid := range tids {
			m.switches(tid, false, false)
			m.at += 100_000
			if tid != last {
				m.futex(tid, hook.Enter, caller, word, futexWait, value+round)
			}
			m.switches(tid, true, tid == last)
		}
		m.switches(last, false, false)
		m.futex(last, hook.Enter, caller, word, futexWake, math.MaxInt32)
		m.switches(last, true, true)
	}
}

// Who has left a barrier need not come to it, and have no core for long, without its being anything else
// to those who meet there still.
func TestWhoHasLeftABarrier(t *testing.T) {
	const rounds = 40
	m, p := newTakers(t, 4, 4, 0)
	all := []int32{101, 102, 103, 104}
	m.meets(all, rounds/2, 0, m.caller)
	m.switches(104, false, false)
	m.at += 10_000
	m.switches(104, true, true)
	m.meets(all[:3], rounds/2, rounds/2, m.caller)
	if n := m.passages(t, p); n < rounds-4 {
		t.Errorf("%d of %d passages", n, rounds)
	}
}

// A word at which threads took turns may be a barrier's later: memory is used again.
func TestABarrierWhereTurnsWereTaken(t *testing.T) {
	const rounds = 40
	m, p := newTakers(t, 3, 3, 0)
	all := []int32{101, 102, 103}
	barrier := m.pcIn(TestABarrierWhereTurnsWereTaken, "meet")
	for range 5 { // each wakes the others, of which one gets what was given back
		for i, tid := range all {
			next := all[(i+1)%3]
			m.futex(next, hook.Enter, m.caller, word, futexWait, 0)
			m.switches(next, true, false)
			m.switches(tid, false, false)
			m.at += 100_000
			m.futex(tid, hook.Enter, m.caller, word, futexWake, math.MaxInt32)
			m.futex(tid, hook.Enter, m.caller, word, futexWait, 0)
			m.switches(tid, true, false)
		}
	}
	m.futex(101, hook.Enter, m.caller, word, futexWake, math.MaxInt32)
	m.meets(all, rounds, 0, barrier)
	if n := m.passages(t, p); n < rounds-2 || n > rounds+candidateFails+1 {
		t.Errorf("%d of %d passages", n, rounds)
	}
}

// Who is let go each time by a thread that never waits there has waited for what that one does,
// however alike the waits look; who waits there, too, at times, takes turns.
func TestWhoOnlyWakesTakesNoTurns(t *testing.T) {
	for _, row := range []struct {
		name string
		both bool
		want string
	}{{"a message", false, kindWork}, {"a lock", true, kindTurn}} {
		m, p := newTakers(t, 2, 2, 0)
		for round := range 40 {
			waits, wakes := int32(101), int32(102)
			if row.both && round%4 == 0 {
				waits, wakes = wakes, waits
			}
			m.switches(wakes, false, false)
			m.switches(waits, false, false)
			m.at += 10_000
			m.futex(waits, hook.Enter, m.caller, word, futexWait, 7)
			m.switches(waits, true, false)
			m.at += 500_000
			m.futex(wakes, hook.Enter, m.caller, word, futexWake, 1)
			m.switches(waits, false, false)
			m.at += 10_000
			m.switches(waits, true, true)
			m.switches(wakes, true, true)
		}
		if _, err := m.finish(nil, false); err != nil {
			t.Fatal(err)
		}
		costs, _ := offCosts(p)
		all := costs[kindWork] + costs[kindTurn]
		if all == 0 || costs[row.want] < 0.8*all {
			t.Errorf("%s: %v", row.name, costs)
		}
	}
}
