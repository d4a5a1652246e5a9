package analysis

import (
	"cmp"
	"slices"

	"lime/internal/origin"
	"lime/internal/profile"
)

// LockUse is what a profile tells of a lock, or of several that have one name.
type LockUse struct {
	ID      profile.LockID `json:"id"`
	Name    string         `json:"name"`
	Kind    string         `json:"kind"`    // the function that takes it, "loop" if it is a loop of the program's own
	Objects uint64         `json:"objects"` // how many they are
	Counted bool           `json:"counted"` // every time that it was held is known
	Taken   uint64         `json:"taken"`   // how often it was held, as far as that is known
	LockTimes
	HeldTimes   uint64     `json:"held_times"` // of these, those of which it is known for how long
	Held        float64    `json:"held"`       // for how long that was, all times together
	LongestHold float64    `json:"longest_hold"`
	Waits       []LockSide `json:"waits"` // the calls that waited, the longest first
	Holds       []LockSide `json:"holds"` // the calls that had taken it, by how long others waited meanwhile
}

// LockTimes are the waits for a lock, or in one call.
type LockTimes struct {
	Contended uint64  `json:"contended"` // how often threads waited
	Waited    float64 `json:"waited"`    // for how long, all of them together
	Longest   float64 `json:"longest"`
}

// LockSide is a call that waited for a lock, or that had taken it. Its path is that of the longest
// wait, or of the time that made others wait longest.
type LockSide struct {
	Place
	Count   uint64        `json:"count"`
	Time    float64       `json:"time"` // of waits, or for which it was held
	Longest float64       `json:"longest"`
	Waited  float64       `json:"waited,omitempty"` // of those who held it: for how long others waited meanwhile
	Threads []ThreadShare `json:"threads"`          // by time of waits, at most a few
	Among   int           `json:"among"`            // how many threads they are
	Path    []Frame       `json:"path,omitempty"`   // outermost first
}

// lockReader reads a profile's tables of locks.
type lockReader struct {
	tab   *profile.Tables
	prog  *program
	names *runtimes
}

func newLockReader(tab *profile.Tables, prog *program) *lockReader {
	return &lockReader{tab, prog, newRuntimes(tab)}
}

// uses tells of the locks for which threads waited, the longest waits first.
func (r *lockReader) uses() []LockUse {
	out := make([]LockUse, len(r.tab.Locks))
	waits, holds := make([]lockSides, len(out)), make([]lockSides, len(out))
	for i := range r.tab.LockWaits {
		w := &r.tab.LockWaits[i]
		u := &out[w.Lock]
		u.Contended, u.Waited, u.Longest = u.Contended+w.Count, u.Waited+float64(w.Time), max(u.Longest, float64(w.Longest))
		waits[w.Lock].add(r, &w.At, w.Thread, LockSide{Count: w.Count, Time: float64(w.Time), Longest: float64(w.Longest)})
	}
	for i := range r.tab.LockHolds {
		h := &r.tab.LockHolds[i]
		u := &out[h.Lock]
		u.Taken, u.Held, u.LongestHold = u.Taken+h.Count, u.Held+float64(h.Time), max(u.LongestHold, float64(h.Longest))
		if h.Time > 0 {
			u.HeldTimes += h.Count
		}
		holds[h.Lock].add(r, &h.At, h.Thread, LockSide{Count: h.Count, Time: float64(h.Time), Longest: float64(h.Longest),
			Waited: float64(h.Waited)})
	}
	for i := range out {
		l := &r.tab.Locks[i]
		out[i].ID, out[i].Name, out[i].Kind, out[i].Objects = profile.LockID(i), l.Name, l.Kind, l.Objects
		out[i].Counted = l.Taken == profile.Measured
		out[i].Waits = waits[i].list(r, func(s *LockSide) float64 { return s.Time })
		out[i].Holds = holds[i].list(r, func(s *LockSide) float64 { return s.Waited })
	}
	out = slices.DeleteFunc(out, func(u LockUse) bool { return u.Contended == 0 })
	slices.SortStableFunc(out, func(a, b LockUse) int { return cmp.Compare(b.Waited, a.Waited) })
	return out
}

// lockSides are the calls of a lock, by line.
type lockSides struct {
	byLine map[lineKey]*LockSide
	order  []lineKey
	times  map[lineKey]map[profile.ThreadID]float64
	most   map[lineKey]float64
	paths  map[lineKey]profile.PathID
}

// add adds what is known of a thread in a call.
func (x *lockSides) add(r *lockReader, at *profile.WasteSide, thread profile.ThreadID, one LockSide) {
	if x.byLine == nil {
		x.byLine, x.times = map[lineKey]*LockSide{}, map[lineKey]map[profile.ThreadID]float64{}
		x.most, x.paths = map[lineKey]float64{}, map[lineKey]profile.PathID{}
	}
	k := frameKey(at.Frames, at.Addr)
	s := x.byLine[k]
	if s == nil {
		s = &LockSide{Place: r.prog.eventPlace(&profile.Event{Node: at.Node, Addr: at.Addr, Frames: at.Frames})}
		x.byLine[k], x.times[k], x.paths[k] = s, map[profile.ThreadID]float64{}, at.Path
		x.order = append(x.order, k)
	}
	s.Count, s.Time, s.Longest = s.Count+one.Count, s.Time+one.Time, max(s.Longest, one.Longest)
	s.Waited += one.Waited
	weight := max(one.Waited, one.Longest)
	if weight > x.most[k] {
		x.most[k], x.paths[k] = weight, at.Path
	}
	if thread != profile.None {
		x.times[k][thread] += max(one.Waited, one.Time)
	}
}

// list lists them, by a figure, the largest first.
func (x *lockSides) list(r *lockReader, by func(*LockSide) float64) []LockSide {
	out := []LockSide{}
	for _, k := range x.order {
		s := x.byLine[k]
		s.Path = r.pathTo(x.paths[k])
		s.Threads, s.Among = threadShares(r.tab, x.times[k])
		out = append(out, *s)
	}
	slices.SortStableFunc(out, func(a, b LockSide) int {
		return cmp.Or(cmp.Compare(by(&b), by(&a)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Address, b.Address))
	})
	return out
}

// pathTo is the program's own calls of a path, outermost first.
func (r *lockReader) pathTo(id profile.PathID) (out []Frame) {
	for ; id >= 0; id = r.tab.Paths[id].Parent {
		v := r.tab.Paths[id].Node
		if v < 0 || !slices.Contains(r.names.owners(v), origin.Program) {
			continue
		}
		if p := r.prog.nodePlace(v); p.Line > 0 {
			out = append(out, Frame{File: p.File, Line: p.Line, Function: p.Function})
		}
	}
	slices.Reverse(out)
	return out
}

// events says which lock a call waits for, by the event's row: those that wait for one only.
func (r *lockReader) events() map[int]profile.LockID {
	of, many := map[uint64]profile.LockID{}, map[uint64]bool{}
	for i := range r.tab.LockWaits {
		w := &r.tab.LockWaits[i]
		if l, ok := of[w.At.Addr]; ok && l != w.Lock {
			many[w.At.Addr] = true
		}
		of[w.At.Addr] = w.Lock
	}
	out := map[int]profile.LockID{}
	for i := range r.tab.Events {
		e := &r.tab.Events[i]
		if l, ok := of[e.Addr]; ok && !many[e.Addr] && r.prog.kindName(e.Kind) == profile.KindLockWait {
			out[i] = l
		}
	}
	return out
}

// oneLock puts the calls together that wait for one lock: it is one cause.
func (r *lockReader) oneLock(rows map[costKey][]int) [][]int {
	byLock := map[profile.LockID]int{}
	lockOf := r.events()
	var out [][]int
	for _, at := range rows {
		lock, ok := lockOf[at[0]]
		for _, e := range at {
			if l, known := lockOf[e]; !known || l != lock {
				ok = false
			}
		}
		if k, seen := byLock[lock]; ok && seen {
			out[k] = append(out[k], at...)
			continue
		}
		if ok {
			byLock[lock] = len(out)
		}
		out = append(out, at)
	}
	for _, at := range out {
		slices.Sort(at)
	}
	return out
}
