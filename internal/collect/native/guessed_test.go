package native

import (
	"fmt"
	"testing"

	"lime/internal/collect/native/hook"
	"lime/internal/profile"
)

// acquire__atomic_semaphore stands for a function of a library's, whose name has these words.
func acquire__atomic_semaphore() {}

// permitTakers are threads that take permits of a semaphore of C++20, as far as its calls are seen: who
// gives one back wakes all who wait if there was none left.
func permitTakers(t *testing.T, threads, permits, cores int) (*takers, *profile.Profile) {
	m, p := takersIn(t, acquire__atomic_semaphore, "acquire__atomic_semaphore", threads, cores, 0)
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
			if m.value++; m.value == 1 {
				m.wakes(t)
			}
		}
	}
	return m, p
}

// meetAll ends what the threads do together.
func (m *takers) meetAll() {
	for _, phase := range []hook.Phase{hook.Enter, hook.Return} {
		for _, t := range m.list {
			m.barrier(t.tid, phase)
		}
	}
}

// However few cores there are, what is claimed is never more than what threads would wait for with a
// core for each; and that it is a semaphore is known from the first wait on.
func TestGuessedPermits(t *testing.T) {
	// One who waits may have to by the order in which they come; and a permit that is given back while
	// there is another is not seen.
	const near, enough = 0.01, 0.75
	for _, threads := range []int{3, 4} {
		for permits := 1; permits <= threads; permits++ {
			for _, cores := range []int{1, 2, threads} {
				m, p := permitTakers(t, threads, permits, cores)
				m.run(60)
				m.meetAll()
				if n := m.passages(t, p); n > 0 {
					t.Errorf("%d threads, %d permits, %d cores: %d passages of barriers", threads, permits, cores, n)
				}
				waits, time := permitWaits(p)
				got, want := waits/time, max(0, 1-10/(7*float64(threads)/float64(permits)))
				if got > want+near || 2*permits <= threads && cores > 1 && got < enough*want {
					t.Errorf("%d threads, %d permits, %d cores: wait for %.1f %% of the time, want %.1f %%", threads, permits, cores, 100*got, 100*want)
				}
			}
		}
	}
}

// Of a semaphore nothing is guessed by which somebody lets others go on who never waits there, nor
// before each has been seen to have a permit; and no permit is longer than the time that it lies in.
func TestGuess(t *testing.T) {
	a, b, c := &thread{}, &thread{}, &thread{}
	both := map[*thread]bool{a: true, b: true}
	for _, row := range []struct {
		name            string
		waiters, givers map[*thread]bool
		known, within   []uint64
		want            uint64
	}{
		{"alike", both, both, []uint64{10, 10, 10}, []uint64{15, 12, 10}, 30},
		{"one lies in less", both, both, []uint64{10, 10, 10}, []uint64{15, 4, 10}, 24},
		{"one was given back unseen", both, both, []uint64{10, 25, 10}, []uint64{15, 12, 28}, 30},
		{"too few are known", both, both, []uint64{10}, []uint64{15, 12}, 0},
		{"none is known", both, both, nil, []uint64{15, 12}, 0},
		{"one only gives", both, map[*thread]bool{a: true, c: true}, []uint64{10, 10, 10}, []uint64{15, 12}, 0},
		{"one only waits", map[*thread]bool{a: true, b: true, c: true}, both, []uint64{10, 10}, []uint64{15, 12}, 20},
	} {
		g := &guessed{waiters: row.waiters, givers: row.givers, known: row.known}
		if got := g.guess(row.within); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

// cxxPermits is the program of permits_test.go with semaphores of C++20.
func cxxPermits(t *testing.T, permits int) string {
	source := fmt.Sprintf(permitSource, "#include <semaphore>\nstatic std::counting_semaphore<16> s(K);", "", "s.acquire()", "s.release()")
	return buildWith(t, "g++", source, "-x", "c++", "-std=c++20", fmt.Sprintf("-DK=%d", permits))
}

// The semaphores of real threads are no barriers, and where there is a permit for each, nobody waits.
func TestCXXPermits(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, permits := range []int{1, 2, 4} {
		p, _ := record(t, Options{Command: []string{cxxPermits(t, permits)}})
		for _, s := range p.Tables().Sections {
			if s.Kind == profile.SectionBuilt {
				t.Errorf("%d permits: a barrier at %#x", permits, s.EndAddr)
			}
		}
		for _, n := range p.Meta().Notes {
			if n.Code == "permits" && permits == 4 {
				t.Errorf("%d permits: %s", permits, n.Text)
			}
		}
		if waits, _ := permitWaits(p); permits == 4 && waits > 0 {
			t.Errorf("%d permits: threads wait for %.0f ns", permits, waits)
		}
	}
}
