// The threads that there ever were.

package sim

import (
	"lime/internal/cpu"
	"lime/internal/guest"
	"lime/internal/profile"
	"lime/internal/section"
)

// roster is the threads that there ever were.
type roster struct {
	focus   *focus
	threads []*thread
	byGuest map[*guest.Thread]*thread
	byCtx   map[*cpu.Context]*thread
	adder   adder
}

func (ro *roster) addThread(g *guest.Thread, parent *thread) *thread {
	t := &thread{id: section.ThreadID(len(ro.threads)), g: g, ctx: g.Ctx, parent: parent, lastCore: -1,
		row: profile.None, book: &book{}, focus: ro.focus, adder: &ro.adder}
	ro.threads = append(ro.threads, t)
	ro.byGuest[g], ro.byCtx[g.Ctx] = t, t
	return t
}

// byControlBlock finds a thread by what its creator holds of it: glibc and
// musl take the address of the thread control block, to which FS points.
func (ro *roster) byControlBlock(handle uint64) *thread {
	for i := len(ro.threads) - 1; i > 0; i-- {
		if ro.threads[i].fsBase == handle {
			return ro.threads[i]
		}
	}
	return nil
}

func (ro *roster) work() (sum uint64) {
	for _, t := range ro.threads {
		sum += t.busy
	}
	return sum
}
