package watch

// From a tick of the clock to a watched access, and from a trap to a decision.

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
	"lime/internal/waste"
	"lime/internal/waste/elem"
	"lime/internal/x86"
)

const (
	// mostSkipped is how many accesses of the wanted kind are passed at most: those of a short
	// loop's round or two, so that its slow instruction, where the clock mostly ticks, is not
	// preferred.
	mostSkipped = 8
	// mostLooked is how many instructions the way there may have: as long as a branch is foreseen
	// rightly nine times of ten, a way of some six branches still comes to its end every other
	// time.
	mostLooked = 64
	// mostIgnored is how many accesses may leave a point undecided (silent stores of others, loads
	// before the next store) before it is given up: each stops a thread for some ten microseconds.
	mostIgnored = 64
	// mostCalls is how many system calls a thread may make while something is watched for it: each
	// stops it twice, for as long together as a trap.
	mostCalls = 16
)

// wanted says whether the next sample is of a store, and of which kinds.
func (t *Tracer) wanted() (kinds waste.Set, store bool) {
	stores := t.o.Kinds & waste.Of(waste.DeadStore, waste.SilentStore)
	loads := t.o.Kinds & waste.Of(waste.SilentLoad)
	t.loads = !t.loads
	if stores == 0 || loads != 0 && t.loads {
		return loads, false
	}
	return stores, true
}

// tick takes a tick of a thread's clock: it leads the thread to an access of the wanted kind a
// little further on.
func (t *Tracer) tick(th *thread) {
	if th.target != nil {
		th.astray()
		t.cost.Strayed++
	}
	if t.cost.Stopped > t.o.Budget*t.cost.Ran {
		t.cost.Left++
		return
	}
	t.unmade(th)
	kinds, store := t.wanted()
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(th.tid, &regs) != nil {
		return
	}
	way := t.ahead(regs.Rip, store)
	if len(way) == 0 {
		return
	}
	x := &target{pc: way[t.rng.IntN(len(way))], kinds: kinds, store: store}
	if x.pc == regs.Rip {
		t.arm(th, &regs, x)
		return
	}
	if trap, err := perf.OpenBreak(th.tid, x.pc, breakData); err == nil {
		x.trap, th.target = trap, x
	}
}

// astray gives up the access that a thread was led to: it has taken another way.
func (th *thread) astray() {
	if th.target != nil {
		th.target.trap.Close()
		th.target = nil
	}
}

// ahead lists the next instructions with an access of the wanted kind on the way that a thread is
// likely to take: loops go round, branches forward are not taken.
func (t *Tracer) ahead(pc uint64, store bool) (list []uint64) {
	for range mostLooked {
		in, ok := t.instruction(pc)
		if !ok || len(list) == mostSkipped {
			break
		}
		if accessing(&in, store) {
			list = append(list, pc)
		}
		next := pc + uint64(in.Len)
		switch in.Branch {
		case x86.BranchNone:
		case x86.BranchJump, x86.BranchCall:
			next = in.Target(pc)
		case x86.BranchCond, x86.BranchLoop:
			if to := in.Target(pc); to <= pc {
				next = to
			}
		default:
			return list
		}
		pc = next
	}
	return list
}

// accessing reports whether an instruction has an access of a kind, whatever its address.
func accessing(in *x86.Inst, store bool) bool {
	_, ok := choose(in, &unix.PtraceRegs{Rcx: 1}, store)
	return ok
}

// arrived takes a thread that has come to the access to which it was led.
func (t *Tracer) arrived(th *thread, late bool) {
	x := th.target
	if x == nil {
		return
	}
	th.astray()
	var regs unix.PtraceRegs
	if late || unix.PtraceGetRegs(th.tid, &regs) != nil || regs.Rip != x.pc {
		t.cost.Strayed++
		return
	}
	t.arm(th, &regs, x)
}

// choose finds the access of an instruction that a sample is taken of. Calls and returns access no
// data.
func choose(in *x86.Inst, regs *unix.PtraceRegs, store bool) (access, bool) {
	if in.Branch == x86.BranchRet || in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd {
		return access{}, false
	}
	for _, a := range accesses(in, regs.Rip, regs) {
		if store && a.writes || !store && a.reads {
			return a, true
		}
	}
	return access{}, false
}

// arm has all threads watch an access that one of them is about to make. Its own first trap says
// that it is made.
func (t *Tracer) arm(th *thread, regs *unix.PtraceRegs, x *target) {
	in, ok := t.instruction(regs.Rip)
	if !ok {
		return
	}
	a, ok := choose(&in, regs, x.store)
	if !ok {
		return
	}
	for k := range waste.Kinds {
		if x.kinds.Has(k) {
			t.sums.sampled(k)
		}
	}
	at := t.host.Place(regs.Rip, regs)
	slot := t.slots.place(t.rng.IntN)
	if slot < 0 {
		t.sums.missed(x.kinds, at, a.bytes)
		return
	}
	t.evict(slot)
	p := &point{store: x.store, owner: th.tid, at: at, open: x.kinds, whole: a.bytes, tolerance: t.o.Tolerance, traps: map[int]perf.Trap{}}
	p.addr, p.bytes = piece(a, t.rng.IntN)
	p.before, _ = t.read(p.addr, p.bytes)
	t.slots.points[slot] = p
	all := t.watch(p, slot, th.tid)
	for tid := range t.threads {
		if tid != th.tid && !t.watch(p, slot, tid) {
			all = false
		}
	}
	if !all { // a finding might be refuted by who does not watch
		t.evict(slot)
	}
}

// unmade gives up points of a thread whose access was not made: a fault or a signal came first.
func (t *Tracer) unmade(th *thread) {
	for slot, p := range t.slots.points {
		if p != nil && p.owner == th.tid && !p.armed {
			t.drop(slot)
			t.cost.Strayed++
		}
	}
}

// watch has a thread watch a point: what others load of a value that was only loaded does not
// matter.
func (t *Tracer) watch(p *point, slot, tid int) bool {
	trap, err := perf.OpenWatch(tid, perf.Watchpoint{Addr: p.addr, Bytes: p.bytes, Reads: p.store || tid == p.owner}, uint64(slot))
	if err != nil {
		return false
	}
	p.traps[tid] = trap
	return true
}

// evict gives up a point, if there is one: what happens at its place later speaks for it.
func (t *Tracer) evict(slot int) {
	if p := t.slots.points[slot]; p != nil {
		t.sums.missed(p.open, p.at, p.whole)
		t.drop(slot)
	}
}

// drop frees a debug register.
func (t *Tracer) drop(slot int) {
	for _, trap := range t.slots.points[slot].traps {
		trap.Close()
	}
	t.slots.points[slot] = nil
}

// hit takes the trap of a watchpoint.
func (t *Tracer) hit(th *thread, slot int, late bool) {
	p := t.slots.points[slot]
	if p == nil {
		return
	}
	var regs unix.PtraceRegs
	switch {
	case late || unix.PtraceGetRegs(th.tid, &regs) != nil:
		t.evict(slot)
	case p.armed:
		t.decide(slot, t.who(p, th.tid, &regs))
	case th.tid != p.owner: // before or behind the access? Nothing is claimed.
		t.conclude(p, p.not(p.open), nil)
		t.drop(slot)
	default:
		if p.value, p.armed = t.read(p.addr, p.bytes); !p.armed {
			t.evict(slot)
		} else if !p.store && p.value != p.before { // it is an instruction that loads and stores
			t.conclude(p, p.not(p.open), nil)
			t.drop(slot)
		}
	}
}

// who finds the instruction behind which a thread was stopped, and what it did to a point.
func (t *Tracer) who(p *point, tid int, regs *unix.PtraceRegs) *touch {
	if in, ok := t.instruction(regs.Rip); ok && in.Rep != 0 { // a repeated one is interrupted where it stands
		for _, a := range accesses(&in, regs.Rip, regs) {
			if near(a, p) {
				return t.touch(tid, &in, regs.Rip, regs, a.reads, a.writes, p.bytes)
			}
		}
	}
	if word, ok := t.read(regs.Rsp, 8); ok && (access{addr: regs.Rsp, bytes: 8}).overlap(p.addr, p.bytes) > 0 {
		if at, known := t.host.Before(word); known {
			if in, ok := t.instruction(at); ok && (in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd) {
				return &touch{thread: tid, call: true}
			}
		}
	}
	at, ok := t.host.Before(regs.Rip)
	if !ok {
		return &touch{thread: tid, unknown: true}
	}
	in, ok := t.instruction(at)
	if ok {
		if x := t.matching(p, tid, &in, at, regs); x != nil {
			return x
		}
	}
	return &touch{thread: tid, unknown: true}
}

// near reports whether a point lies where a repeated instruction just was.
func near(a access, p *point) bool {
	const block = 64 // bytes that the processor moves at once
	return p.addr < a.end()+block && a.addr < p.addr+uint64(p.bytes)+block
}

// matching is what an instruction did to a point. Registers that it has loaded may not be those any
// more by which it found its operand; if it has one operand only, it was that.
func (t *Tracer) matching(p *point, tid int, in *x86.Inst, at uint64, regs *unix.PtraceRegs) *touch {
	before := *regs
	switch in.Name { // the stack pointer was another one before
	case "push":
		before.Rsp += 8
	case "pop":
		before.Rsp -= 8
	}
	list := accesses(in, at, &before)
	for _, a := range list {
		if n := a.overlap(p.addr, p.bytes); n > 0 {
			return t.touch(tid, in, at, regs, a.reads, a.writes, n)
		}
	}
	if len(list) == 1 && in.Branch == x86.BranchNone && in.Writes != 0 {
		return t.touch(tid, in, at, regs, list[0].reads, list[0].writes, min(p.bytes, list[0].bytes))
	}
	return nil
}

// touch describes what an instruction did.
func (t *Tracer) touch(tid int, in *x86.Inst, at uint64, regs *unix.PtraceRegs, reads, writes bool, bytes int) *touch {
	x := &touch{thread: tid, reads: reads, writes: writes, bytes: bytes, at: func() Place { return t.host.Place(at, regs) }}
	x.call = writes && (in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd)
	if writes && t.o.Tolerance > 0 {
		x.elem = t.elem(in, at)
	}
	return x
}

// elem says what an instruction stores: it and those that lead to it tell.
func (t *Tracer) elem(in *x86.Inst, at uint64) waste.Elem {
	const before = 16 // as many as most blocks have
	list := []x86.Inst{*in}
	for len(list) < before {
		prev, ok := t.host.Before(at)
		if !ok {
			break
		}
		x, ok := t.instruction(prev)
		if !ok || x.EndsBlock() {
			break
		}
		list, at = append(list, x), prev
	}
	slices.Reverse(list)
	if e := elem.Stored(list, int(in.Accesses(nil)[0].Bytes)); e != waste.Float80 { // one watchpoint sees but a part of those
		return e
	}
	return waste.Bytes
}

// decide judges a touch, and frees the register if the point is of no use any more.
func (t *Tracer) decide(slot int, x *touch) {
	p := t.slots.points[slot]
	value, ok := t.read(p.addr, p.bytes)
	x.value, x.unknown = value, x.unknown || !ok
	list, over := p.judge(x)
	t.conclude(p, list, x.at)
	if p.ignored++; over || p.ignored > mostIgnored {
		t.evict(slot)
	}
}

// conclude adds verdicts up.
func (t *Tracer) conclude(p *point, list []verdict, second func() Place) {
	for _, v := range list {
		at := p.at
		if v.fraction > 0 {
			at = second()
		}
		t.sums.decided(v.kind, int32(p.owner), p.at, at, p.addr, p.whole, v.fraction)
		p.open &^= waste.Of(v.kind)
	}
}

// instruction decodes the instruction at an address.
func (t *Tracer) instruction(pc uint64) (in x86.Inst, ok bool) {
	const longest = 15
	if c := &t.code; pc < c.at || pc+longest > c.at+uint64(c.n) {
		c.at, c.n = pc, t.peek(pc, c.bytes[:])
	}
	from := pc - t.code.at
	return in, from < uint64(t.code.n) && x86.Decode(t.code.bytes[from:t.code.n], &in) == nil
}

// read reads a number of 1, 2, 4 or 8 bytes.
func (t *Tracer) read(addr uint64, n int) (uint64, bool) {
	var b [8]byte
	if t.peek(addr, b[:n]) < n {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// peek reads the process's memory as far as it can.
func (t *Tracer) peek(addr uint64, b []byte) int {
	local := []unix.Iovec{{Base: unsafe.SliceData(b), Len: uint64(len(b))}}
	n, err := unix.ProcessVMReadv(t.pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
	if err != nil {
		return 0
	}
	return n
}
