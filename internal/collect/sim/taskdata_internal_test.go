package sim

import (
	"testing"

	"lime/internal/cpu"
)

// However many tasks there are and wherever the heap puts their data, lime remembers those only that
// have not begun; and where a maker's own data are given to several tasks at once, each of them is
// known.
func TestTasksAreForgotten(t *testing.T) {
	const tasks, atOnce, body, own = 1_000_000, 8, 0x401000, 1 << 12
	m := newTaskMaker(body)
	m.lineages.object(own, m.t.gives, 0)
	var made []uint64
	for i := range uint64(tasks) {
		made = append(made, m.copies(1<<20+64*i))
		if len(made) < atOnce {
			continue
		}
		if got := m.begins(body, made[0]); got != m.t.gives.from {
			t.Fatalf("task %d goes on at %v", i, got)
		}
		made = made[1:]
		if n := len(m.lineages.objects); n > atOnce+1 {
			t.Fatalf("%d objects are kept after %d tasks, %d of which have not begun", n, i+1, len(made))
		}
	}
	m.lineages.gives(body, nil, 0) // by somebody else, too
	for range 3 {
		if got := m.begins(body, own); got != m.t.gives.from {
			t.Errorf("who is given its maker's own data goes on at %v", got)
		}
	}
}

// taskMaker is a thread that makes tasks of libgomp's, and begins them.
type taskMaker struct {
	tasks
	t *thread
}

func newTaskMaker(body uint64) *taskMaker {
	m := &taskMaker{tasks{lineages: newLineages(&run{})}, &thread{ctx: &cpu.Context{}}}
	m.t.gives = handed{body: body, from: &lineage{ret: 7, fn: 7, depth: 1}, kept: true}
	return m
}

// copies copies the data of the task that was made last.
func (m *taskMaker) copies(to uint64) uint64 {
	m.t.ctx.GPR[rax] = to
	m.enterTaskCopy(m.t, &fn{Object: none})
	return to
}

func (m *taskMaker) begins(body, data uint64) *lineage {
	m.t.ctx.RIP, m.t.ctx.GPR[rdi] = body, data
	return m.lineages.begins(m.t)
}
