// What goes to the recogniser.

package sim

import (
	"lime/internal/collect"
	"lime/internal/section"
	"lime/internal/unit"
)

// operations hands the threads' operations to the recogniser.
type operations struct {
	counting *counting
	focus    *focus
	rec      *section.Recogniser
	notes    collect.Notes
}

func (o *operations) feed(op section.Op) {
	if o.counting.over() {
		return
	}
	op.At = unit.Cycles(o.focus.at(op.Thread, uint64(op.At)))
	if err := o.rec.Feed(op); err != nil {
		o.notes.Add("section-order", err.Error())
	}
}

// reportSpun tells of time that a thread went round loops in which threads wait for locks.
func (o *operations) reportSpun(t *thread, units uint64) {
	op := t.simple(section.OpLockBegin, 0)
	op.At -= unit.Cycles(units)
	o.feed(op)
	o.feed(t.simple(section.OpLockEnd, 0))
}

// reportOff tells that a thread could not run for a while.
func (o *operations) reportOff(t *thread, units uint64) { o.tellOff(t, o.focus.lasts(t, units)) }

// tellOff tells of measured time.
func (o *operations) tellOff(t *thread, units uint64) {
	t.off += units
	op := t.simple(section.OpOff, 0)
	op.N = unit.Cycles(units)
	o.feed(op)
}
