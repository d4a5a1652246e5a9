// The locks that threads waited for: which they are, who waited where and how long, and who held
// them meanwhile. The account of the loss says how much core time that cost.

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
	Name        string       `json:"name"`                   // the variable, or what was allocated where; "" if that is not known
	Kind        string       `json:"kind,omitempty"`         // the function that takes it; "loop": a loop of the program's own
	Objects     uint64       `json:"objects,omitempty"`      // how many locks it is that have this name
	Acquired    uint64       `json:"acquired,omitempty"`     // how often it was taken; 0 if that was not counted
	Contended   uint64       `json:"contended"`              // how often threads waited
	Time        float64      `json:"time"`                   // for how long, all of them together, as far as it cost core time
	Share       float64      `json:"share"`                  // of the core time
	LongestWait float64      `json:"longest_wait,omitempty"` // 0 if it is not known
	Held        float64      `json:"held,omitempty"`         // for how long it was held in all; 0 if it is not known
	HeldTimes   uint64       `json:"held_times,omitempty"`   // how many times that is
	LongestHold float64      `json:"longest_hold,omitempty"`
	Waits       []LockWait   `json:"waits"`             // the calls that waited, the longest first
	Holders     []LockHolder `json:"holders,omitempty"` // who held it while others waited, by how long these did
}

// LockWait is a call that waited for a lock.
type LockWait struct {
	Place
	Contended uint64        `json:"contended"`
	Time      float64       `json:"time"`
	Share     float64       `json:"share"`
	Longest   float64       `json:"longest,omitempty"`
	Threads   []ThreadShare `json:"threads,omitempty"`
	Held      string        `json:"held,omitempty"` // the call that had taken the lock, "a.c:9", where that was waited for longest
	Path      []Frame       `json:"path,omitempty"` // of the longest wait, outermost call first
}

// LockHolder is a call that had taken a lock for which others waited; or, where only the release is
// seen, that gave it back.
type LockHolder struct {
	Place
	Times   uint64        `json:"times"`             // how often it was held
	Held    float64       `json:"held,omitempty"`    // for how long; 0 if it is not known
	Longest float64       `json:"longest,omitempty"` // the longest time
	Time    float64       `json:"time"`              // for which others waited meanwhile, as far as it cost core time
	Share   float64       `json:"share"`             // of the core time
	Threads []ThreadShare `json:"threads,omitempty"` // that made others wait most
	Among   int           `json:"among,omitempty"`   // how many threads held it so
	Path    []Frame       `json:"path,omitempty"`    // of the time that made others wait longest
}

// newLocks gathers the places where threads waited for locks by lock: of each place of the account,
// as much as the locks that were waited for there have of its waits.
func newLocks(l *analysis.Loss, uses []analysis.LockUse) []Lock {
	out := []Lock{}
	if l == nil {
		return out
	}
	known := make([]Lock, len(uses))
	for i := range uses {
		known[i] = newLock(&uses[i])
	}
	for i := range l.Term(analysis.TermLock).Places {
		p := lossPlace(&l.Term(analysis.TermLock).Places[i])
		p.Share, p.Time = p.Share*(1-ratio(p.Behind, p.Time)), p.Time-p.Behind // the table is of the lock's own waits
		if p.Why != "" {
			continue
		}
		if !divide(&p, uses, known) {
			out = addWait(out, &p)
		}
	}
	for i := range known {
		if known[i].Time > 0 {
			known[i].charge(&uses[i])
			out = append(out, known[i])
		}
	}
	slices.SortStableFunc(out, func(a, b Lock) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

func newLock(u *analysis.LockUse) Lock {
	x := Lock{Name: u.Name, Kind: u.Kind, Objects: u.Objects, LongestWait: u.Longest, Held: u.Held, HeldTimes: u.HeldTimes, LongestHold: u.LongestHold}
	if u.Counted {
		x.Acquired = u.Taken
	}
	return x
}

// divide divides a place of the account among the locks that were waited for there; false if none
// is known.
func divide(p *LossPlace, uses []analysis.LockUse, locks []Lock) bool {
	sum := 0.0
	each := func(do func(*Lock, *analysis.LockSide)) {
		for i := range uses {
			for k := range uses[i].Waits {
				if w := &uses[i].Waits[k]; p.samePlace(&w.Place) {
					do(&locks[i], w)
				}
			}
		}
	}
	each(func(_ *Lock, w *analysis.LockSide) { sum += w.Time })
	if sum == 0 {
		return false
	}
	each(func(x *Lock, w *analysis.LockSide) {
		part := w.Time / sum
		wait := LockWait{Place: p.Place, Contended: w.Count, Time: p.Time * part, Share: p.Share * part, Longest: w.Longest,
			Threads: shares(w.Threads), Held: p.Held, Path: frames(w.Path)}
		x.Contended, x.Time, x.Share = x.Contended+wait.Contended, x.Time+wait.Time, x.Share+wait.Share
		x.Waits = append(x.Waits, wait)
	})
	return true
}

// samePlace reports whether a place of the account is that of a call.
func (p *LossPlace) samePlace(at *analysis.Place) bool {
	return p.File == at.File && p.Line == at.Line && (p.Line > 0 || p.Address == at.Address)
}

// charge divides what the waits for a lock cost among those who held it meanwhile.
func (l *Lock) charge(u *analysis.LockUse) {
	sum := 0.0
	for i := range u.Holds {
		sum += u.Holds[i].Waited
	}
	for i := range u.Holds {
		h := &u.Holds[i]
		if h.Waited <= 0 || sum <= 0 {
			continue
		}
		part := h.Waited / sum
		l.Holders = append(l.Holders, LockHolder{Place: place(&h.Place), Times: h.Count, Held: h.Time, Longest: h.Longest,
			Time: l.Time * part, Share: l.Share * part, Threads: shares(h.Threads), Among: h.Among, Path: frames(h.Path)})
	}
}

// addWait adds a place of which no more is known than what the account says.
func addWait(list []Lock, p *LossPlace) []Lock {
	k := -1
	if p.Data != "" {
		k = slices.IndexFunc(list, func(x Lock) bool { return x.Name == p.Data })
	}
	if k < 0 {
		k = len(list)
		list = append(list, Lock{Name: p.Data})
	}
	x := &list[k]
	x.Contended, x.Time, x.Share = x.Contended+p.Times, x.Time+p.Time, x.Share+p.Share
	x.Waits = append(x.Waits, LockWait{Place: p.Place, Contended: p.Times, Time: p.Time, Share: p.Share, Threads: p.Threads, Held: p.Held})
	return list
}

// title names a lock.
func (l *Lock) title() string {
	if l.Name != "" {
		return l.Name
	}
	return "lock taken at " + l.Waits[0].Short()
}

// nameLock says in the headline, where waiting for locks is what most is lost to, for which lock
// that is, if threads wait for it in several calls.
func (r *Report) nameLock() {
	if r.Loss == nil || len(r.Locks) == 0 || 1-r.Loss.Useful < littleLost {
		return
	}
	ranked := r.Loss.claimed()
	if len(ranked) == 0 {
		return
	}
	term, l := ranked[0], &r.Locks[0]
	if term.Name != analysis.TermLock || len(l.Waits) < 2 || l.Share <= term.Places[0].Share {
		return
	}
	for i := range term.Places {
		if p := &term.Places[i]; p.Place.String() == l.Waits[0].Place.String() {
			where := fmt.Sprintf(", %s of it for one lock, %s, in %d calls, most of it at %s", unit.Percent(ratio(l.Share, term.Share)),
				l.title(), len(l.Waits), p.End())
			words := slices.DeleteFunc([]string{p.holder(), p.threadWords()}, func(s string) bool { return s == "" })
			if len(words) > 0 {
				where += " (" + strings.Join(words, "; ") + ")"
			}
			r.Loss.Headline = strings.Replace(r.Loss.Headline, term.where(), where, 1)
			return
		}
	}
}
