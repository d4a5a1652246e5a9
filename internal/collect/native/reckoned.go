// What the kernel's scheduler itself reckons of threads. A switch tells that a thread left its core
// of its own accord and when it came back, but not when it was woken in between: what it waited for
// a core from then on is no more the program's than what a thread waits that had to leave.

package native

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"lime/internal/perf"
)

// reckoned is what /proc/PID/task/TID/schedstat says (Documentation/scheduler/sched-stats.rst):
// since the thread began, for how long it ran, and for how long it could have and had no core, in
// ns. The first is up to date while the thread is off its core.
type reckoned struct{ ran, queued uint64 }

func reckoning(pid, tid int32) (k reckoned, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
	if err != nil {
		return k, false
	}
	return parseReckoning(string(text))
}

func parseReckoning(text string) (k reckoned, ok bool) {
	f := strings.Fields(text)
	if len(f) != 3 {
		return k, false
	}
	ran, err1 := strconv.ParseUint(f[0], 10, 64)
	queued, err2 := strconv.ParseUint(f[1], 10, 64)
	return reckoned{ran, queued}, err1 == nil && err2 == nil
}

// turn is a switch of a thread.
type turn struct {
	at          uint64
	out, forced bool
}

// turns are a thread's switches, beside the scheduler's account of it.
type turns struct {
	fresh  []turn // since the last reading
	last   turn   // before those
	ran    uint64 // ns on a core since the reading in sure
	sure   uint64 // what the scheduler said of that when the thread was off its core
	queued uint64
	owed   int64 // ns in the queue that no switch stands for so far; below 0: the other way round
	read   bool  // there was a reading, or the thread was seen to begin
	lulls  []lull
	ended  bool
	over   bool // and was at the last reading
}

// lull is a stretch of time: each time that the thread came back in it after it had left its core
// of its own accord, it had waited for a core before, at most so long.
type lull struct{ until, each uint64 }

// settle adds up the switches until a reading, and compares. Lulls that were over before a moment
// are of no use any more.
func (t *turns) settle(at uint64, k reckoned, before uint64) (own int, waited uint64) {
	off, forced, whole := t.switches(at)
	late := t.late(k.ran)
	t.owed += int64(k.queued-min(t.queued, k.queued)+late) - int64(forced)
	if !t.read || !whole {
		t.owed = 0
	}
	t.queued, t.read = k.queued, true
	waited = t.cut(off, at)
	t.lulls = slices.DeleteFunc(t.lulls, func(l lull) bool { return l.until < before })
	t.lulls = append(t.lulls, lull{at, level(off, waited)})
	return len(off), waited
}

// switches takes those until a moment: the times off the core of the thread's own accord, how long
// the others were in all, and whether none was lost.
func (t *turns) switches(until uint64) (off []uint64, forced uint64, whole bool) {
	slices.SortStableFunc(t.fresh, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	whole = true
	n := 0
	for ; n < len(t.fresh) && t.fresh[n].at <= until; n++ {
		switch x := t.fresh[n]; {
		case t.last.at == 0:
		case x.out == t.last.out:
			whole = false
		case x.out:
			t.ran += x.at - t.last.at
		case t.last.forced:
			forced += x.at - t.last.at
		default:
			off = append(off, x.at-t.last.at)
		}
		t.last = t.fresh[n]
	}
	t.fresh = slices.Delete(t.fresh, 0, n)
	return off, forced, whole
}

// cut is how much of the times off the core since the last reading was in the queue. The two ways
// to know of a wait for a core never come at once: a wait is reckoned before the record that ends
// it is written, and lime may lose its core between what it reads and the clock. So what is too
// much or too little at one reading stays for the next one; and what may belong to a forced time
// off the core that is not over yet waits for its end.
func (t *turns) cut(off []uint64, at uint64) (waited uint64) {
	owed := t.owed
	if t.last.out && t.last.forced {
		owed -= int64(at - t.last.at)
	}
	for _, x := range off {
		waited += x
	}
	waited = min(waited, uint64(max(0, owed)))
	t.owed -= int64(waited)
	return waited
}

// late is by how much the records of switches come after them: the kernel writes that a thread is
// back on its core when it has set up the events of perf there, and that is the thread's time.
func (t *turns) late(ran uint64) (late uint64) {
	if !t.last.out { // what was read may be some milliseconds old
		return 0
	}
	if t.sure != 0 {
		late = ran - min(t.sure+t.ran, ran)
	}
	t.sure, t.ran = ran, 0
	return late
}

// level is the length to which times must be cut so that what is cut off them comes to a sum.
func level(times []uint64, sum uint64) (each uint64) {
	slices.Sort(times)
	for i, x := range times {
		n := uint64(len(times) - i)
		if x > sum/n {
			return sum / n
		}
		sum -= x
		each = x
	}
	return each
}

// scheduler is what is known of the threads of a process.
type scheduler struct {
	threads map[int32]*turns
	each    uint64 // what threads waited for a core, each time they came back of their own accord, as far as it is not known of themselves
}

func (s *scheduler) of(tid int32) *turns {
	t := s.threads[tid]
	if t == nil {
		t = &turns{}
		s.threads[tid] = t
	}
	return t
}

// record takes in what the kernel tells of threads, in any order.
func (s *scheduler) record(rec *perf.Record) {
	switch rec.Type {
	case perf.TypeFork:
		if s.of(rec.TID).ended {
			delete(s.threads, rec.TID)
		}
		t := s.of(rec.TID) // it can run from now on
		t.read, t.fresh = true, append(t.fresh, turn{rec.Time, true, true})
	case perf.TypeExit:
		s.of(rec.TID).ended = true
	case perf.TypeSwitch:
		t := s.of(rec.TID)
		t.fresh = append(t.fresh, turn{rec.Time, rec.Out, rec.Preempted})
	}
}

// waited is how long a thread that came back at a moment, of its own accord, had waited for a core
// then, at most.
func (s *scheduler) waited(tid int32, at uint64) uint64 {
	if t := s.threads[tid]; t != nil {
		for _, l := range t.lulls {
			if at <= l.until {
				return l.each
			}
		}
	}
	return s.each
}

// reading is what the scheduler said of a thread at a moment.
type reading struct {
	of *turns
	at uint64
	reckoned
}

// mostReadings is how many threads of a process are read in one turn: each takes some microseconds.
const mostReadings = 64

// read asks the scheduler about the threads that have been away since the last time.
func (s *scheduler) read(pid int32) (list []reading) {
	for tid, t := range s.threads {
		switch {
		case t.ended && t.over: // what was recorded of it has been taken
			delete(s.threads, tid)
		case t.ended:
			t.over = true
		case len(t.fresh) > 0 && len(list) < mostReadings:
			if k, ok := reckoning(pid, tid); ok {
				list = append(list, reading{t, monotonic(), k})
			}
		}
	}
	return list
}

// settle compares. What happened before a moment has been told.
func (s *scheduler) settle(list []reading, before uint64) {
	n, waited := 0, uint64(0)
	for i := range list {
		times, sum := list[i].of.settle(list[i].at, list[i].reckoned, before)
		n, waited = n+times, waited+sum
	}
	if n > 0 {
		s.each = waited / uint64(n)
	}
}

// compare reads the scheduler's account of the threads that have been away since the last time,
// beside the records that the kernel had written by then.
func (r *run) compare() {
	if !r.events.switches {
		return
	}
	processes := r.all()
	lists := make([][]reading, len(processes))
	for i, p := range processes {
		lists[i] = p.absences.scheduler.read(p.program.pid)
	}
	if n := len(r.events.session); n > 0 {
		r.drainRing(r.events.session[n-1])
	}
	for i, p := range processes {
		p.absences.scheduler.settle(lists[i], p.clocks.now)
	}
}
