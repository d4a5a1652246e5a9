// The locks that threads waited for: which they are, who waited where and how long, and where they
// had been taken meanwhile.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// Lock is a lock that threads waited for. Calls that wait for locks which are not told apart are
// one each.
type Lock struct {
	Name      string     `json:"name"`      // the variable, or what was allocated where; "" if that is not known
	Contended uint64     `json:"contended"` // how often threads waited
	Time      float64    `json:"time"`      // for how long, all of them together, as far as it cost core time
	Share     float64    `json:"share"`     // of the core time
	Waits     []LockWait `json:"waits"`     // the calls that waited, the longest first
}

// LockWait is a call that waited for a lock.
type LockWait struct {
	Place
	Contended uint64        `json:"contended"`
	Time      float64       `json:"time"`
	Share     float64       `json:"share"`
	Threads   []ThreadShare `json:"threads,omitempty"`
	Held      string        `json:"held,omitempty"` // the call that had taken the lock, "a.c:9", where that was waited for longest
}

// newLocks gathers the places where threads waited for locks by lock.
func newLocks(l *analysis.Loss) []Lock {
	out := []Lock{}
	if l == nil {
		return out
	}
	places := l.Term(analysis.TermLock).Places
	for i := range places {
		p := lossPlace(&places[i])
		if p.Why != "" {
			continue
		}
		k := -1
		if p.Data != "" {
			k = slices.IndexFunc(out, func(x Lock) bool { return x.Name == p.Data })
		}
		if k < 0 {
			k = len(out)
			out = append(out, Lock{Name: p.Data})
		}
		x := &out[k]
		x.Contended, x.Time, x.Share = x.Contended+p.Times, x.Time+p.Time, x.Share+p.Share
		x.Waits = append(x.Waits, LockWait{p.Place, p.Times, p.Time, p.Share, p.Threads, p.Held})
	}
	slices.SortStableFunc(out, func(a, b Lock) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

// title names a lock.
func (l *Lock) title() string {
	if l.Name != "" {
		return l.Name
	}
	return "lock taken at " + l.Waits[0].Short()
}

// lockTitle heads the list.
const lockTitle = "Locks that threads waited for"

// locks lists them, and the calls that waited.
func (p *printer) locks(r *Report) {
	if len(r.Locks) == 0 || r.Locks[0].Share < leastShown {
		return
	}
	p.blank()
	p.rule(lockTitle)
	p.line("%s", p.st.dim(fit("  core time", 14)+fit("waits", 9)+fit("waited", 12)+"lock, and where it was waited for"))
	for i := range r.Locks {
		l := &r.Locks[i]
		if l.Share < leastShown {
			break
		}
		p.line("  %s  %s  %s  %s", p.st.bold(right(unit.Percent(l.Share), 8)), right(fmt.Sprint(l.Contended), 7),
			right(r.Program.Short(l.Time), 8), p.st.place(cutPlace(clean(l.title()), p.wide()-33)))
		for k := range l.Waits {
			w := &l.Waits[k]
			if w.Share < leastShown {
				break
			}
			p.line("  %s  %s  %s    %s", p.st.dim(right(unit.Percent(w.Share), 8)), right(fmt.Sprint(w.Contended), 7),
				right(r.Program.Short(w.Time), 8), cutPlace(clean(w.Place.String()), p.wide()-35))
			if w.Held != "" {
				p.line("%s%s", strings.Repeat(" ", 35), p.st.dim("taken before at "+cutPlace(clean(w.Held), p.wide()-51)))
			}
		}
	}
}
