package sim

import (
	"lime/internal/collect/known"
	"lime/internal/section"
)

// probe handles a thread that stands at a probe; false means that it must wait
// there until the cores behind it have caught up.
func (r *run) probe(t *thread) bool {
	carrier, pc := t, t.ctx.RIP
	if r.heap != nil && r.heap.probes[pc] {
		r.heap.probe(r, t)
		if !r.placed[pc] {
			return true
		}
	}
	if t.hosts != nil && !r.goProbe(t) {
		t.probed = pc
		return false
	}
	t = t.acting()
	if !r.inOrder(carrier, t, pc) {
		return false
	}
	if t.touches && r.othersProbe(t) {
		return true
	}
	r.ended(t)
	if sp, ok := r.height(t); ok && !r.returned(t, sp) {
		return false
	}
	r.home(t, pc, t.ctx.GPR[rsp])
	if r.passing(t, pc) {
		carrier.probed = pc
		return false
	}
	f := r.entries[pc]
	if f == nil {
		f = r.body(t, pc)
	}
	if f == nil || !inside(f.Role) && t.covered() {
		return true
	}
	if !r.cores.first(carrier.core) {
		carrier.probed = pc
		return false
	}
	enterings()[f.Role](r, t, f)
	return !r.end.over
}

// returned handles the returns of the calls that are open below a height of the stack.
func (r *run) returned(t *thread, sp uint64) bool {
	for n := len(t.frames); n > 0 && (t.frames[n-1].rsp < sp || t.frames[n-1].ends(t.ctx.RIP, sp)); n-- {
		t.left = t.frames[n-1]
		t.frames = t.frames[:n-1]
		r.leave(t, &t.left)
		if r.end.over {
			return false
		}
	}
	return true
}

// inside reports whether the function is one that is of interest also inside of other functions of
// the table.
func inside(x known.Role) bool {
	return x == known.RegionBody || x == known.TaskBody || x == known.PoolTask || x == known.PoolRun || x == known.GoCondList || switches(x)
}

// entering is what the start of a function of the table means.
type entering func(*run, *thread, *fn)

func enterings() [known.Roles]entering {
	table := [known.Roles]entering{
		known.Barrier:       (*run).enterBarrier,
		known.TeamBarrier:   (*run).enterTeam,
		known.TeamReduce:    (*run).enterReduce,
		known.Join:          (*run).enterJoin,
		known.Create:        (*run).enterCreate,
		known.Fork:          (*run).enterFork,
		known.Lock:          (*run).enterLock,
		known.Unlock:        (*run).enterUnlock,
		known.TryLock:       (*run).enterPlain,
		known.ReadLock:      (*run).enterLock,
		known.Turn:          (*run).openSlow,
		known.CondWait:      (*run).enterCondWait,
		known.CondWake:      (*run).enterCondWake,
		known.CondWakeAll:   (*run).enterCondWake,
		known.SemWait:       (*run).enterPlain,
		known.SectionEnd:    (*run).enterSectionEnd,
		known.Gate:          (*run).enterGate,
		known.Task:          (*run).enterTask,
		known.Deal:          (*run).enterDeal,
		known.TaskWait:      (*run).enterTaskWait,
		known.TaskBody:      (*run).enterTaskBody,
		known.RegionBody:    (*run).enterBody,
		known.PoolTask:      (*run).enterPoolTask,
		known.PoolRun:       (*run).enterPoolRun,
		known.Through:       (*run).enterThrough,
		known.GoMade:        (*run).enterGoMade,
		known.GoIn:          (*run).enterGoIn,
		known.GoOut:         (*run).enterGoOut,
		known.GoEnd:         (*run).enterGoEnd,
		known.GoC:           (*run).enterGoC,
		known.GoLock:        (*run).enterGoLock,
		known.GoCondWait:    (*run).enterGoCondWait,
		known.GoCondList:    (*run).enterGoCondList,
		known.GoCondWakeAll: (*run).enterGoCondWake,
		known.GoCount:       (*run).enterCount,
		known.GoAwait:       (*run).enterAwait,
	}
	for x := known.Meet; x <= known.Message; x++ {
		table[x] = (*run).enterMPI
	}
	table[known.MeetDeclared] = (*run).enterDeclared
	return table
}

func (m *mpiCalls) enterSectionEnd(t *thread, f *fn) {
	c := m.openCalls.open(t, f)
	op := m.openCalls.arrival(t, c, section.OpCut)
	outsideOf(t, &op.Site)
	m.operations.feed(op)
	c.told = true
}

// outsideOf leaves the function out that begins here, if it is the program's own: the call counts.
func outsideOf(t *thread, s *section.Site) {
	if len(s.Stack) > 1 && uint64(s.Stack[0].Call) == t.ctx.RIP {
		s.Stack = s.Stack[1:]
	}
}
