package sim

import (
	"lime/internal/collect/known"
	"lime/internal/section"
	"lime/internal/unit"
)

// fork is a parallel region that is open.
type fork struct {
	id     uint64
	master *thread
	body   uint64
	data   uint64
	byData bool
	fn     *fn    // the row for its body
	at     uint64 // when it was opened
	last   uint64 // when the last member so far reached its end
	team   team
}

// probe handles a thread that stands at a probe; false means that it must wait
// there until the cores behind it have caught up.
func (r *run) probe(t *thread) bool {
	carrier, pc := t, t.ctx.RIP
	if r.heap != nil && r.heap.probes[pc] {
		r.heap.probe(r, t)
		if !r.probes[pc] {
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

// open notes the call and sets a probe where it returns to.
func (r *run) open(t *thread, f *fn) *call {
	sp, _ := r.height(t)
	ret, _ := r.word(t.ctx.GPR[rsp])
	c := call{fn: f, ret: ret, rsp: sp, object: r.object(t, f, f.Object), at: t.now()}
	r.setProbe(ret)
	t.frames = append(t.frames, c)
	return &t.frames[len(t.frames)-1]
}

func (r *run) object(t *thread, f *fn, arg int) uint64 {
	if arg == none {
		return f.Constant
	}
	return argument(t, arg)
}

// arrival is an operation at a call of the table: the piece ends at the true place of the call.
func (r *run) arrival(t *thread, c *call, kind section.OpKind) section.Op {
	op, p := r.cutOp(t, kind)
	op.Object = c.object
	r.trueSite(&op.Site, p, t.ctx.RIP, c.ret)
	c.site, c.piece = op.Site, p
	return op
}

func (r *run) enterPlain(t *thread, f *fn) { r.open(t, f) }

// enterCreate ends the piece; which thread it is is known later.
func (r *run) enterCreate(t *thread, f *fn) {
	c := r.open(t, f)
	if f.Second != none {
		c.start = argument(t, f.Second)
	}
	op := r.arrival(t, c, section.OpCreate)
	op.Site.Library = r.inLibrary(&op.Site)
	c.create = &op
}

func (r *run) enterBarrier(t *thread, f *fn) {
	c := r.open(t, f)
	r.feed(r.arrival(t, c, section.OpArrive))
	c.told = true
	r.beside.arrives(t, c)
}

func (r *run) enterTeam(t *thread, f *fn) {
	c := r.open(t, f)
	if len(t.regions) == 0 {
		return
	}
	c.object = teamObject | t.regions[len(t.regions)-1]
	r.feed(r.arrival(t, c, section.OpArrive))
	c.told = true
	r.beside.arrives(t, c)
}

// teamObject keeps the barriers of regions apart from those that have an address.
const teamObject = 1 << 63

func (r *run) enterJoin(t *thread, f *fn) {
	c := r.open(t, f)
	c.other = r.byControlBlock(c.object)
	if c.other == nil {
		return
	}
	op := r.arrival(t, c, section.OpJoinBegin)
	op.Site.Library = r.inLibrary(&op.Site)
	op.Other = c.other.id
	r.feed(op)
	c.told = true
}

// byControlBlock finds a thread by what its creator holds of it: glibc and
// musl take the address of the thread control block, to which FS points.
func (r *run) byControlBlock(handle uint64) *thread {
	for i := len(r.threads) - 1; i > 0; i-- {
		if r.threads[i].fsBase == handle {
			return r.threads[i]
		}
	}
	return nil
}

// enterLock: if another thread has the lock, all until this one has it is waiting. Who comes to a
// free one has it from then on: what comes before that in the function takes a few instructions, in
// which others must not find it free.
func (r *run) enterLock(t *thread, f *fn) {
	h := r.holders[r.object(t, f, f.Object)]
	if h == nil || h == t {
		r.willHold(t, r.open(t, f))
		return
	}
	r.openSlow(t, f)
	t.still.suspect = true
	c := &t.frames[len(t.frames)-1]
	c.holder = r.lockBook.holder(c.object)
	r.beside.meetsHolder(c, h)
}

func (r *run) enterUnlock(t *thread, f *fn) {
	lock := r.object(t, f, f.Object)
	r.locks[lock] = t.now()
	delete(r.holders, lock)
}

func (r *run) enterCondWait(t *thread, f *fn) {
	c := r.open(t, f)
	c.lock = argument(t, f.Second)
	r.locks[c.lock] = t.now()
	delete(r.holders, c.lock)
	r.waiters[c.object]++
	r.feed(r.arrival(t, c, section.OpWaitBegin))
	t.waitsOn, t.untyped = waitsTold, false
	c.told = true
}

func (r *run) enterCondWake(t *thread, f *fn) {
	if r.waiters[argument(t, f.Object)] == 0 {
		return
	}
	c := r.open(t, f)
	op := r.arrival(t, c, section.OpRelease)
	r.feed(op) // the piece; whom it woke follows
	c.told = true
}

func (r *run) enterSectionEnd(t *thread, f *fn) {
	c := r.open(t, f)
	op := r.arrival(t, c, section.OpCut)
	outsideOf(t, &op.Site)
	r.feed(op)
	c.told = true
}

// outsideOf leaves the function out that begins here, if it is the program's own: the call counts.
func outsideOf(t *thread, s *section.Site) {
	if len(s.Stack) > 1 && uint64(s.Stack[0].Call) == t.ctx.RIP {
		s.Stack = s.Stack[1:]
	}
}

func (r *run) enterFork(t *thread, f *fn) {
	c := r.open(t, f)
	r.forks++
	k := &fork{id: r.forks, master: t, body: c.object, byData: f.Second != none,
		fn: &fn{Name: "region body", Role: known.RegionBody, Source: f.Source}}
	if k.byData {
		k.data = argument(t, f.Second)
	}
	c.object = k.id
	op := r.arrival(t, c, section.OpFork)
	r.feed(op)
	c.told = true
	k.at = t.now()
	t.regions = append(t.regions, k.id)
	r.noGate(k.body)
	r.bodies[k.body] = append(r.bodies[k.body], k)
	r.setProbe(k.body)
}

// body finds the region whose body starts at pc for t.
func (r *run) body(t *thread, pc uint64) *fn {
	if k := r.forkOf(t, pc); k != nil {
		return k.fn
	}
	if t.covered() {
		return r.tasks[pc]
	}
	return nil
}

// forkOf picks the region: the thread's own, or the latest one that was given the same data.
func (r *run) forkOf(t *thread, pc uint64) *fork {
	open := r.bodies[pc]
	for i := len(open) - 1; i >= 0; i-- {
		k := open[i]
		if k.byData && k.data != argument(t, 0) {
			continue
		}
		if k.master == t || t.idle {
			return k
		}
	}
	return nil
}

func (r *run) enterBody(t *thread, f *fn) {
	k := r.forkOf(t, t.ctx.RIP)
	c := r.open(t, f)
	c.object, c.told = k.id, true
	if k.master != t {
		t.regions = append(t.regions, k.id)
		r.beside.since(t, max(t.rests, t.started), k.at)
	}
	t.idle = false
	k.team.members++
	r.feed(section.Op{Kind: section.OpMember, Thread: t.id, At: unit.Cycles(t.now()), Object: k.id})
	r.begin(t, outWay, r.stack(t))
}

// forkWith is the open region with an id.
func (r *run) forkWith(id uint64) *fork {
	for _, open := range r.bodies {
		for _, k := range open {
			if k.id == id {
				return k
			}
		}
	}
	return nil
}

// closeFork forgets a region.
func (r *run) closeFork(id uint64) {
	for body, open := range r.bodies {
		for i, k := range open {
			if k.id == id {
				k.master.lastTeam = k.team.members
				r.bodies[body] = append(open[:i:i], open[i+1:]...)
				return
			}
		}
	}
}
