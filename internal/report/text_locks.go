// The table of locks as text.

package report

import (
	"fmt"
	"strings"

	"lime/internal/unit"
)

// lockTitle heads the list.
const lockTitle = "Locks that threads waited for"

// Columns of the list, in front of the places.
const lockLead = 41

// lockPrinter prints the table.
type lockPrinter struct {
	*printer
	run *Program
}

// locks lists them, the calls that waited, and who held them meanwhile.
func (p *printer) locks(r *Report) {
	if len(r.Locks) == 0 || r.Locks[0].Share < leastShown {
		return
	}
	p.blank()
	p.rule(lockTitle)
	p.line("%s", p.st.dim(" core time  "+right("waits", 7)+right("waited", 10)+right("longest", 10)+"  lock, and where it was waited for"))
	lp := lockPrinter{p, &r.Program}
	for i := range r.Locks {
		if r.Locks[i].Share < leastShown {
			break
		}
		lp.lock(&r.Locks[i])
	}
}

// lock prints one of them.
func (p lockPrinter) lock(l *Lock) {
	p.row(p.st.bold, lockRow{l.Share, l.Contended, l.Time, l.LongestWait, "", l.title()})
	if about := l.about(p.run); about != "" {
		p.para(4, about)
	}
	for k := range l.Waits {
		w := &l.Waits[k]
		if w.Share < leastShown {
			break
		}
		p.row(p.st.dim, lockRow{w.Share, w.Contended, w.Time, w.Longest, "", w.Place.String()})
		if w.Held != "" && len(l.Holders) == 0 {
			p.below("taken before at " + cutPlace(clean(w.Held), p.wide()-lockLead-16))
		}
		p.calledFrom(w.Path)
	}
	p.holders(l)
}

// lockRow is a row of the list.
type lockRow struct {
	share         float64
	times         uint64
	time, longest float64
	what, where   string
}

func (p lockPrinter) row(paint func(string) string, x lockRow) {
	most := ""
	if x.longest > 0 {
		most = p.run.Short(x.longest)
	}
	p.line("  %s  %s  %s  %s  %s%s", paint(right(unit.Percent(x.share), 8)), right(fmt.Sprint(x.times), 7),
		right(p.run.Short(x.time), 8), right(most, 8), x.what,
		p.st.place(cutPlace(clean(x.where), p.wide()-lockLead-len(x.what))))
}

// below prints more about the row above.
func (p lockPrinter) below(words string) {
	p.line("%s%s", strings.Repeat(" ", lockLead), p.st.dim(cut(words, p.wide()-lockLead)))
}

// mostHolders is how many calls are listed that held a lock.
const mostHolders = 3

// holders lists who held a lock while others waited: how often, for how long others waited
// meanwhile, and the longest time that it was held.
func (p lockPrinter) holders(l *Lock) {
	for i := range l.Holders[:min(len(l.Holders), mostHolders)] {
		h := &l.Holders[i]
		if h.Share < leastShown {
			break
		}
		p.row(p.st.dim, lockRow{h.Share, h.Times, h.Time, h.Longest, h.what(), h.Place.String()})
		if words := h.threadWords(); words != "" {
			p.below(clean(words))
		}
		p.calledFrom(h.Path)
	}
}

// calledFrom tells the calls around a place.
func (p lockPrinter) calledFrom(path []Frame) {
	if words := calledFrom(path); words != "" {
		p.below(clean(words))
	}
}

// calledFrom is the calls around the innermost one of a path; nothing if there are none.
func calledFrom(path []Frame) string {
	if len(path) < 2 {
		return ""
	}
	return "called from " + pathWords(path[:len(path)-1])
}

// what tells what the threads did there.
func (h *LockHolder) what() string {
	if h.Held == 0 {
		return "given back at "
	}
	return "held from "
}

// threadWords say which threads they were.
func (h *LockHolder) threadWords() string {
	if len(h.Threads) == 0 || h.Time == 0 {
		return ""
	}
	sum := 0.0
	for _, t := range h.Threads {
		sum += t.Time
	}
	if h.Among == 1 {
		return "by " + h.Threads[0].title()
	}
	return fmt.Sprintf("by %d threads; most by %s", h.Among, h.Threads[0].title())
}

// title names a thread.
func (t *ThreadShare) title() string {
	if t.Name == "" {
		return fmt.Sprintf("thread %d", t.Thread)
	}
	return fmt.Sprintf("thread %d (%s)", t.Thread, t.Name)
}

// lockKinds name the locks by the functions that take them.
func lockKinds() map[string]string {
	return map[string]string{
		"pthread_mutex_lock": "mutex", "pthread_mutex_timedlock": "mutex", "pthread_mutex_clocklock": "mutex",
		"pthread_mutex_trylock": "mutex", "mtx_lock": "mutex", "mtx_timedlock": "mutex", "mtx_trylock": "mutex",
		"pthread_spin_lock": "spin lock", "pthread_spin_trylock": "spin lock",
		"pthread_rwlock_wrlock": "read-write lock", "pthread_rwlock_timedwrlock": "read-write lock",
		"pthread_rwlock_clockwrlock": "read-write lock", "pthread_rwlock_trywrlock": "read-write lock",
		"pthread_rwlock_rdlock": "read-write lock", "pthread_rwlock_timedrdlock": "read-write lock",
		"pthread_rwlock_clockrdlock": "read-write lock",
		"GOMP_critical_start":        "OpenMP critical region without a name", "GOMP_critical_name_start": "OpenMP critical region",
		"GOMP_atomic_start": "OpenMP atomic region", "__kmpc_critical": "OpenMP critical region",
		"__kmpc_critical_with_hint": "OpenMP critical region", "omp_set_lock": "OpenMP lock", "omp_set_nest_lock": "OpenMP lock",
		"sync.(*Mutex).lockSlow": "Go mutex", "internal/sync.(*Mutex).lockSlow": "Go mutex",
		"sync.runtime_SemacquireMutex": "Go mutex", "internal/sync.runtime_SemacquireMutex": "Go mutex",
		"sync.runtime_SemacquireRWMutex": "Go read-write mutex", "sync.runtime_SemacquireRWMutexR": "Go read-write mutex",
		"loop": "lock of the program's own", "syscall": "lock that waits by the system call futex",
	}
}

// about says what is known of a lock beside the waits.
func (l *Lock) about(g *Program) string {
	var words []string
	if l.Kind != "" {
		kind := lockKinds()[l.Kind]
		if kind == "" {
			kind = "taken by " + l.Kind
		}
		if l.Objects > 1 {
			kind += fmt.Sprintf(", %d of this name", l.Objects)
		}
		words = append(words, strings.ToUpper(kind[:1])+kind[1:])
	}
	if l.Acquired > 0 {
		words = append(words, fmt.Sprintf("taken %s, %s of them after a wait", timesOf(l.Acquired),
			unit.Percent(ratio(float64(l.Contended), float64(l.Acquired)))))
	}
	if l.HeldTimes > 0 {
		words = append(words, fmt.Sprintf("held for %s on average, %s at most, %s",
			g.Quantity(l.Held/float64(l.HeldTimes)), g.Short(l.LongestHold), heldWords(ratio(l.Held, g.RunTime))))
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, "; ") + "."
}

// heldWords says for how much of the run a lock was held in all. Readers hold it side by side, and a
// name may stand for several locks: that may be more than the run.
func heldWords(share float64) string {
	if share > 1 {
		return fmt.Sprintf("%.1f times at once, on average over the run", share)
	}
	return unit.Percent(share) + " of the run time in all"
}

func timesOf(n uint64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
