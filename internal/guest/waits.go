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
		out = append(out, ThreadWait{Thread: t, Wait: b.wait, Text: p.waitText(b.wait)})
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
