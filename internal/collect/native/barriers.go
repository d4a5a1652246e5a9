// Barriers of the thread libraries.

package native

import (
	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/collect/threads"
	"lime/internal/section"
)

// barriers are calls in which threads wait until all have come: those that have an address, and
// those of a region's team.
type barriers struct {
	episodes   *episodes
	operations *operations
	program    *program
	tasks      *tasks

	came map[uint64]int64 // by barrier: where the last thread came to it on the line
}

func (b *barriers) enterBarrier(t *thread, h *hook.Record, at uint64) {
	role := b.program.table[h.Func].Role
	c := call{role: role, sp: h.SP, object: h.Arg0}
	tell := !t.covered()
	if role == known.TeamBarrier {
		if tell = tell && len(t.bodies) > 0; tell {
			c.object = threads.Team | t.bodies[len(t.bodies)-1]
		}
	}
	if !tell {
		c.object = 0
	} else {
		op := b.operations.arrival(t, section.OpArrive, h, at, c.object)
		b.episodes.comes(t, op.Span.(*piece), c.object, at)
		b.came[c.object] = max(b.came[c.object], t.line.at(&t.cpu, at))
		b.operations.feed(op)
	}
	t.push(c)
}

func (b *barriers) leaveBarrier(t *thread, h *hook.Record, at uint64) {
	c, ok := t.pop(b.program.table[h.Func].Role, false)
	if !ok || c.object == 0 {
		return
	}
	b.tasks.tasksEnd(t, at)
	b.episodes.met(t, c.object)
	t.line.meets(&t.cpu, at, b.came[c.object])
	op := t.op(section.OpLeave, at)
	op.Object = c.object
	b.operations.feed(op)
	t.begin(at)
}
