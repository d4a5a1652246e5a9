// Without samples of threads that leave their cores: lime looks at those that are off them, as long
// as they are.

package native

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"lime/internal/profile"
	"lime/internal/unwind"
)

// How often lime looks at threads that are off their cores for a reason that it does not know.
const lookTick = 20 * time.Millisecond

// looks reports whether that is how it is known where threads leave their cores.
func (p *process) looks() bool {
	return p.shared.events.switches && len(p.shared.events.leavings.on) == 0
}

// mostLooks is at how many threads of a process lime looks in one turn: each takes some ten
// microseconds.
const mostLooks = 64

// pendingLooks is how many looks at a thread may wait until the records of the kernel have come
// that far.
const pendingLooks = 16

// look is where a thread was found.
type look struct {
	state blockedIn
	where leaving
}

// lookAround looks at the threads that leave their cores for reasons that are not known, and
// reports whether there are any.
func (p *process) lookAround() (any bool) {
	if !p.looks() || len(p.roster.threads) == 0 {
		return false
	}
	left := mostLooks
	for range p.roster.threads {
		p.looked = (p.looked + 1) % len(p.roster.threads)
		t := p.roster.threads[p.looked]
		if w := &t.off.now; t.ended || t.foreign || !t.off.unseen && (w.from == 0 || w.forced || w.known) {
			continue
		}
		any = true
		if left--; left < 0 {
			break
		}
		if l, ok := p.asleep(t); ok {
			n := len(t.off.looks)
			t.off.looks = append(t.off.looks[max(0, n-pendingLooks+1):], l)
		}
	}
	return any
}

// asleep finds where a thread sleeps. What it finds holds if the thread was there before and after
// its stack was read.
func (p *process) asleep(t *thread) (l look, ok bool) {
	if l.state, ok = systemCallOf(int(p.program.pid), int(t.tid)); !ok {
		return l, false
	}
	if n := len(t.off.looks); n > 0 && t.off.looks[n-1].state == l.state {
		l.where = t.off.looks[n-1].where
	} else {
		l.where = p.program.sampler.sleeping(l.state)
	}
	after, ok := systemCallOf(int(p.program.pid), int(t.tid))
	l.where.at, l.where.seen = monotonic(), true
	return l, ok && after == l.state
}

// seenAway finds the look at a thread that fell into a time off its core.
func (o *offCore) seenAway(from, to uint64) (where leaving, ok bool) {
	for len(o.looks) > 0 && o.looks[0].where.at < to {
		if l := o.looks[0].where; l.at > from {
			where, ok = l, true
		}
		if len(o.looks) == 1 { // its stack need not be read again
			break
		}
		o.looks = o.looks[1:]
	}
	return where, ok
}

// blockedIn is what the kernel tells of a thread that does not run (proc(5), /proc/PID/syscall).
type blockedIn struct {
	number int
	args   [2]uint64
	sp, pc uint64
}

func systemCallOf(pid, tid int) (b blockedIn, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, tid))
	if err != nil {
		return b, false
	}
	return parseBlocked(string(text))
}

// parseBlocked reads "NUMBER ARGUMENT... SP PC", "-1 SP PC" of a thread that is in no call, or
// "running".
func parseBlocked(text string) (b blockedIn, ok bool) {
	f := strings.Fields(text)
	if len(f) < 3 {
		return b, false
	}
	var err error
	hex := func(s string) (n uint64) {
		n, e := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
		if e != nil {
			err = e
		}
		return n
	}
	if b.number, err = strconv.Atoi(f[0]); err != nil {
		return b, false
	}
	b.sp, b.pc = hex(f[len(f)-2]), hex(f[len(f)-1])
	for i := range min(len(b.args), len(f)-3) {
		b.args[i] = hex(f[1+i])
	}
	return b, err == nil
}

// sleeping finds the program's code around a system call. Of the registers only two are known,
// which is enough as far as the frames need no others.
func (s *sampler) sleeping(b blockedIn) leaving {
	var regs unwind.Regs
	regs[unwind.PC], regs[unwind.RSP] = b.pc, b.sp
	s.pcs, s.sps = s.pcs[:0], s.sps[:0]
	stack := make([]byte, siteStack)
	_, _, _ = s.walk(regs, b.sp, stack[:peek(s.images.pid, b.sp, stack)]) // as far as it goes
	if len(s.pcs) == 0 {
		return leaving{kind: waitingKind(b.number, b.args), path: profile.None}
	}
	w, _ := s.path(1)
	l := leaving{call: s.ownCall(), path: w.path}
	s.forOthers(&l, waitingKind(b.number, b.args))
	return l
}

// lookAtAll looks at the threads of all processes.
func (r *run) lookAtAll() (any bool) {
	for _, p := range r.all() {
		any = p.lookAround() || any
	}
	return any
}
