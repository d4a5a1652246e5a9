// What is known of the locks that threads waited for: which data they are, and where they were
// taken by those who held them meanwhile.

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lime/internal/collect/known"
	"lime/internal/profile"
)

// lockBook has a row for each call that waited for a lock.
type lockBook struct {
	took  map[uint64]uint64 // by lock: where the call returns by which its holder took it
	waits map[uint64]*lockWaits
}

// lockWaits are those of one call.
type lockWaits struct {
	data votes
	held map[uint64]uint64 // by the call that had taken the lock: for how long
}

func newLockBook() *lockBook {
	return &lockBook{took: map[uint64]uint64{}, waits: map[uint64]*lockWaits{}}
}

// taken notes where a lock is taken.
func (b *lockBook) taken(lock, ret uint64) { b.took[lock] = ret }

// willHold notes that t, in a call that takes a lock, is the next to have it. Where threads run in
// parallel only the call's return tells.
func (r *run) willHold(t *thread, c *call) {
	if r.beside == nil {
		r.holders[c.object] = t
		r.lockBook.taken(c.object, c.ret)
	}
}

// tookLock looks whether t, which has just left its loop, has taken a lock there: it stands where a
// call returns that takes one.
func (r *run) tookLock(t *thread) {
	if n := len(t.frames); n > 0 {
		if c := &t.frames[n-1]; c.fn.Role == known.Lock && t.ctx.RIP == c.ret && r.holders[c.object] == nil {
			r.willHold(t, c)
		}
	}
}

// holder is where the lock was taken that a thread is about to wait for, 0 if that is not known.
func (b *lockBook) holder(lock uint64) uint64 { return b.took[lock] }

// waited notes a wait of t in a call at site for the lock that was taken where a call returned to
// ret.
func (r *run) waited(t *thread, site, lock, ret, units uint64) {
	w := r.lockBook.waits[site]
	if w == nil {
		w = &lockWaits{held: map[uint64]uint64{}}
		r.lockBook.waits[site] = w
	}
	w.data.add(r.placeOf(t, lock))
	if ret != 0 && r.images.own(ret-1) {
		w.held[r.blocks.callBefore(ret)] += units
	}
}

// words are the detail of the call's waits.
func (w *lockWaits) words() string {
	var out []string
	if data := w.data.words(); data != "" {
		out = append(out, "on "+strings.TrimSuffix(data, "+0x0"))
	}
	if len(w.held) > 0 {
		calls := slices.SortedFunc(maps.Keys(w.held), func(a, b uint64) int {
			return cmp.Or(cmp.Compare(w.held[b], w.held[a]), cmp.Compare(a, b))
		})
		out = append(out, fmt.Sprintf("held at %#x", calls[0]))
	}
	return strings.Join(out, "; ")
}

// lockDetails tells what locks the threads waited for.
func (o *output) lockDetails() {
	kind := o.kinds[lockWait]
	if kind == profile.None {
		return
	}
	for _, site := range slices.Sorted(maps.Keys(o.r.lockBook.waits)) {
		if id, ok := o.events[eventKey{kind, site}]; ok {
			o.sink.SetEventDetail(id, o.r.lockBook.waits[site].words())
		}
	}
}
