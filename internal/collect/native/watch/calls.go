package watch

// System calls use memory behind the watchpoints' back: threads for which something is watched stop
// at theirs.

import (
	"golang.org/x/sys/unix"

	"lime/internal/waste/calls"
)

// called takes a thread that stands before a system call, or behind it.
func (t *Tracer) called(th *thread) {
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(th.tid, &regs) != nil || int64(regs.Rax) != -int64(unix.ENOSYS) {
		return // what it did was known before
	}
	var list []access
	args := [...]uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9}
	t.calls.Touched(regs.Orig_rax, &args, func(a uint64) (uint64, bool) { return t.read(a, 8) }, func(s calls.Span) {
		if s.Addr+s.N > s.Addr {
			list = append(list, access{s.Addr, int(s.N), s.Reads, s.Writes})
		}
	})
	for slot, p := range t.slots.points {
		if p == nil || p.owner != th.tid {
			continue
		}
		x := &touch{thread: th.tid, system: true}
		for _, a := range list {
			if a.overlap(p.addr, p.bytes) > 0 {
				x.reads, x.writes = x.reads || a.reads, x.writes || a.writes
			}
		}
		if p.armed && (x.reads || x.writes) {
			t.decide(slot, x)
		} else if p.calls++; p.calls > mostCalls {
			t.evict(slot)
		}
	}
}
