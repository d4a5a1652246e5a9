package native

import (
	"strings"

	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/x86"
)

// Barriers that spin before they sleep, as C++20's do: a thread that is let go while it spins makes
// no call. But the one that came last tells all who sleep, in every round and whether somebody
// sleeps or not: at that moment all who ever met there have arrived.

// meeting is a futex that threads meet at.
type meeting struct {
	sites map[*thread]section.Site // where each of those who were seen there stood
	order []*thread
	spins bool       // its waits begin with spinning
	sem   *semaphore // nil: it is none that a name tells
	turnTaking
}

// meets remembers that a thread waits at a futex, or tells all who wait there.
func (cs *conditions) meets(t *thread, h *hook.Record) *meeting {
	m := cs.meetings[h.Arg0]
	if m == nil {
		m = &meeting{sites: map[*thread]section.Site{}, turnTaking: newTurnTaking()}
		cs.meetings[h.Arg0] = m
	}
	if _, ok := m.sites[t]; !ok {
		m.order = append(m.order, t)
	}
	m.sites[t] = cs.places.site(h).Site
	m.spins = m.spins || cs.program.code.spinsBefore(h.Caller)
	return m
}

// arriveUnseen lets those arrive who belong to the barrier that t opens and were not seen to wait:
// they spin.
func (cs *conditions) arriveUnseen(t *thread, m *meeting, object, at uint64) {
	here := m.sites[t]
	if !m.spins || !m.alike(here) || cs.inTurn(object) {
		return
	}
	for _, q := range m.order {
		if q == t || q.ended || q.cond.on || q.covered() || q.idle {
			continue
		}
		q.comesSpinning(at)
		q.piece.cameUnseen = true
		q.off.now.yields = false // should it have no core, it could go on by now
		op, _ := cs.operations.cutOp(q, section.OpWaitBegin, at)
		op.Object, op.Untyped, op.Site = object, true, m.sites[q]
		cs.operations.feed(op)
		q.cond = condWait{on: true, object: object, untyped: true}
		cs.waiters[object] = append(cs.waiters[object], q)
	}
}

// alike reports whether all stood in one function, as those do who wait for one another.
func (m *meeting) alike(here section.Site) bool {
	for _, s := range m.sites {
		if len(s.Stack) == 0 || len(here.Stack) == 0 || s.Stack[0].Func != here.Stack[0].Func {
			return false
		}
	}
	return true
}

// spinsBefore reports whether the function in which a call stands also has the instruction with
// which loops pause.
func (c *code) spinsBefore(ret uint64) bool {
	f := c.look(ret - 1).fn
	if f == nil || f.im == nil || f.im.Bin == nil || len(f.blocks) == 0 {
		return false
	}
	if strings.Contains(f.name, "__platform_wait") || strings.Contains(f.name, "__waiter") {
		return true
	}
	last := f.blocks[len(f.blocks)-1]
	text := f.im.Bin.ReadAddr(f.blocks[0].addr-f.im.Bias, int(last.end-f.blocks[0].addr))
	var in x86.Inst
	for _, b := range f.blocks {
		for pc := b.addr; pc < b.end; pc += uint64(in.Len) {
			at := pc - f.blocks[0].addr
			if at >= uint64(len(text)) || x86.Decode(text[at:], &in) != nil {
				break
			}
			if in.Name == "pause" {
				return true
			}
		}
	}
	return false
}
