package guest

import (
	"fmt"
	"os"
)

// Waits lists what every blocked thread waits for.
func (p *Process) Waits() []ThreadWait {
	var out []ThreadWait
	for _, t := range p.threads {
		b := t.block
		if b == nil || b.cause != causeNone {
			continue
		}
		out = append(out, ThreadWait{Thread: t, PC: t.Ctx.RIP, Caller: p.caller(t), Wait: b.wait, Text: p.waitText(b.wait)})
	}
	return out
}

// waitText describes a wait for people.
func (p *Process) waitText(w Wait) string {
	switch w.Kind {
	case WaitFutex:
		v, _ := p.mem.load32(w.Addr)
		s := fmt.Sprintf("futex at %#x (value %#x)", w.Addr, v)
		if t := p.thread(int(v & futexTIDMask)); t != nil && v != 0 {
			s += fmt.Sprintf(", held by thread %d", t.TID)
		}
		return s
	case WaitFD:
		if w.FD < 0 {
			return w.Syscall
		}
		name, _ := os.Readlink(fdPath(w.FD))
		return fmt.Sprintf("%s on descriptor %d (%s)", w.Syscall, w.FD, name)
	case WaitChild:
		if w.PID > 0 {
			return fmt.Sprintf("%s for child process %d", w.Syscall, w.PID)
		}
		return w.Syscall + " for any child process"
	}
	return fmt.Sprintf("%s in %s", waitNames[w.Kind], w.Syscall)
}

// caller is the first word on t's stack that looks like a return address: it
// points behind a call instruction in executable memory.
func (p *Process) caller(t *Thread) uint64 {
	const words = 64
	for i := range uint64(words) {
		v, ok := p.mem.load64(t.Ctx.GPR[rsp] + 8*i)
		if !ok {
			break
		}
		if p.afterCall(v) {
			return v
		}
	}
	return 0
}

// afterCall says that a call instruction ends at a: e8 rel32, or ff /2.
func (p *Process) afterCall(a uint64) bool {
	if a < pageSize || !p.Executable(a) || !p.Executable(a-7) {
		return false
	}
	b := p.Readable(a-7, 7)
	if len(b) < 7 {
		return false
	}
	if b[2] == 0xe8 {
		return true
	}
	for _, n := range []int{2, 3, 4, 6, 7} {
		if b[7-n] == 0xff && b[7-n+1]>>3&7 == 2 {
			return true
		}
	}
	return false
}
