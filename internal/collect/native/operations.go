// What threads do, on its way to the recogniser.

package native

import (
	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/unit"
)

// operations tell the recogniser what threads do, with the piece of work that ends so.
type operations struct {
	places *places
	rec    *section.Recogniser
	shared *shared
}

// settleWait charges a thread's last wait for others' work, once it is known that it ended no
// section.
func (o *operations) settleWait(t *thread) {
	w := t.forWork
	t.forWork = offWait{}
	if w.wait > 0 && t.piece != nil && !o.rec.Ended(t.id) {
		t.piece.addOff(w)
	}
}

// cutOp is an operation that ends a piece.
func (o *operations) cutOp(t *thread, kind section.OpKind, at uint64) (section.Op, *piece) {
	o.settleWait(t)
	p := t.cut(at)
	op := t.op(kind, at)
	op.Span = p
	return op, p
}

// tellOff tells for how long of a piece its thread had no core: who is mostly kept from one, as one
// is that makes threads on a busy machine, has not worked all the while.
func (o *operations) tellOff(t *thread, p *piece) {
	if wall := p.to - min(p.from, p.to); wall > p.cpu {
		op := t.op(section.OpOff, p.to)
		op.N = unit.Cycles(wall - p.cpu)
		o.feed(op)
	}
}

// feed tells the recogniser. That an operation does not fit is counted: records may have been lost.
func (o *operations) feed(op section.Op) {
	if err := o.rec.Feed(op); err != nil {
		o.shared.notes.Add("unmatched", "synchronisation calls that fit no other: "+err.Error())
	}
}

// arrival is an operation at a hooked call.
func (o *operations) arrival(t *thread, kind section.OpKind, h *hook.Record, at uint64, object uint64) section.Op {
	op, p := o.cutOp(t, kind, at)
	s := o.places.site(h)
	o.places.keepFrames(&s, p)
	op.Object, op.Site = object, s.Site
	return op
}
