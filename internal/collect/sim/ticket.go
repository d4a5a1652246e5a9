// Locks at which threads take a number and wait until it is called (ticket locks): whoever has had the
// lock stores the next number.

package sim

import (
	"slices"

	"lime/internal/x86"
)

// tickets knows them.
type tickets struct {
	memory *memory
	images *images
	asked  map[uint64]ticket  // by where a loop's code begins
	last   map[uint64]*thread // by the word: who was called last
	locks  map[uint64]bool    // by the word: it is proved to be a lock's
}

// ticket is the register that holds a thread's number in a loop; none if there is no such loop.
type ticket struct {
	in   x86.Reg
	some bool
}

func newTickets(m *memory, im *images) *tickets {
	return &tickets{
		memory: m, images: im, asked: map[uint64]ticket{}, last: map[uint64]*thread{}, locks: map[uint64]bool{},
	}
}

// called is told that a thread leaves its loop because of what by has stored, and reports whether it has
// got a lock. It waited for its number, taken by an atomic addition in front of the loop, and the word
// holds that now. So far it may be a place in a queue, too. It is a lock if who has stored the number was
// called last itself: it has kept all others out since, and lets the next one in. That needs to be
// seen once: who was not kept waiting is not seen to come in.
func (x *tickets) called(s *spinner, by *thread) bool {
	if by == nil || s.object == 0 {
		return false
	}
	r := x.of(s)
	if !r.some || !x.calls(s, r.in) {
		return false
	}
	last := x.last[s.object]
	x.last[s.object] = s.t
	x.locks[s.object] = x.locks[s.object] || last == by
	return x.locks[s.object]
}

// calls reports whether the word at which a thread waits holds what its register does. Who has been stopped
// in front of its loop, which is known, has taken no number yet: it leaves that by nothing else.
func (x *tickets) calls(s *spinner, in x86.Reg) bool {
	if !s.in(s.t.ctx.RIP) {
		return true
	}
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		if w.Addr != s.object || w.Bytes == 0 || w.Bytes > 8 {
			continue
		}
		v, ok := x.memory.value(w.Addr, w.Bytes)
		return ok && v == s.t.ctx.GPR[in]&(^uint64(0)>>(64-8*w.Bytes))
	}
	return false
}

// of is the ticket that is waited for in a loop.
func (x *tickets) of(s *spinner) ticket {
	i := slices.IndexFunc(s.spans, func(e extent) bool { return x.images.own(e.lo) })
	if i < 0 {
		return ticket{}
	}
	at := s.spans[i].lo
	t, ok := x.asked[at]
	if ok {
		return t
	}
	if im, f, found := x.images.Func(at); found && f.Size > 0 && f.Size <= longestFunction {
		t = ticketIn(x.memory.code(f.Addr+im.Bias, int(f.Size)), f.Addr+im.Bias, s.spans)
	}
	x.asked[at] = t
	return t
}

// ticketIn reads a function's code, in which a loop compares a number that an atomic addition has left in
// a register on each way into the loop, and that nothing has changed since.
func ticketIn(code []byte, entry uint64, loop extents) (t ticket) {
	w := numberWays{loop: loop, jumps: map[uint64]x86.RegSet{}, into: ^x86.RegSet(0)}
	for at := 0; at < len(code); {
		var in x86.Inst
		pc := entry + uint64(at)
		if x86.Decode(code[at:], &in) != nil {
			w.held, w.ends = 0, false
			at++
			continue
		}
		w.next(&in, pc)
		at += int(in.Len)
	}
	if !w.entered {
		return t
	}
	for _, r := range w.compared {
		if (w.into &^ w.changed).Has(r) {
			return ticket{r, true}
		}
	}
	return t
}

// numberWays follows numbers in registers along the ways through a function that lead forwards, as far as a
// loop.
type numberWays struct {
	loop     extents
	held     x86.RegSet            // where the next instruction stands
	ends     bool                  // the last one leads elsewhere
	idle     bool                  // no way leads here: it fills up a line, or is come to from behind
	jumps    map[uint64]x86.RegSet // at the targets of jumps so far
	entered  bool
	into     x86.RegSet // on all ways into the loop
	changed  x86.RegSet // in it
	compared []x86.Reg  // in it
}

// next follows an instruction.
func (w *numberWays) next(in *x86.Inst, pc uint64) {
	from, jumped := w.jumps[pc]
	switch {
	case w.ends:
		w.held, w.idle = from, !jumped
	case jumped && w.idle:
		w.held, w.idle = from, false
	case jumped:
		w.held &= from
	}
	if w.idle && !w.loop.have(pc) {
		w.ends = false
		return
	}
	inside := w.loop.have(pc)
	if inside {
		w.changed |= in.Writes
		if in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd {
			w.changed |= callerSaved
		}
		w.compared = append(w.compared, compares(in)...)
	} else {
		w.held = holding(in, w.held)
	}
	if in.Branch == x86.BranchCond || in.Branch == x86.BranchJump {
		w.leads(in.Target(pc), inside)
	}
	w.ends = in.Branch == x86.BranchJump || in.Branch == x86.BranchJumpInd || in.Branch == x86.BranchRet
	if !w.ends && !inside {
		w.enters(pc + uint64(in.Len))
	}
}

// leads notes what is held at the target of a jump.
func (w *numberWays) leads(to uint64, inside bool) {
	if before, ok := w.jumps[to]; ok {
		w.jumps[to] = before & w.held
	} else {
		w.jumps[to] = w.held
	}
	if !inside {
		w.enters(to)
	}
}

// enters notes a way to an address, if that is in the loop.
func (w *numberWays) enters(to uint64) {
	if w.loop.have(to) {
		w.entered, w.into = true, w.into&w.held
	}
}

// callerSaved are the registers that a function may leave changed (System V ABI, figure 3.4).
const callerSaved x86.RegSet = 1<<x86.RAX | 1<<x86.RCX | 1<<x86.RDX | 1<<x86.RSI | 1<<x86.RDI |
	1<<x86.R8 | 1<<x86.R9 | 1<<x86.R10 | 1<<x86.R11

// holding is which registers hold the number behind an instruction.
func holding(in *x86.Inst, held x86.RegSet) x86.RegSet {
	switch {
	case in.Name == "xadd" && in.Lock:
		return 1 << in.RegField()
	case in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd:
		return held &^ callerSaved
	case in.Map == 0 && in.Opcode == 0x89 && !in.HasMem && held.Has(in.RegField()):
		return held | 1<<in.RMField()
	case in.Map == 0 && in.Opcode == 0x8b && !in.HasMem && held.Has(in.RMField()):
		return held | 1<<in.RegField()
	}
	return held &^ in.Writes
}

// compares is the registers that an instruction compares.
func compares(in *x86.Inst) (list []x86.Reg) {
	if in.Map != 0 || in.Opcode < 0x38 || in.Opcode > 0x3b {
		return nil
	}
	list = append(list, in.RegField())
	if !in.HasMem {
		list = append(list, in.RMField())
	}
	return list
}
