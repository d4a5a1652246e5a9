package sim

// The system reads and writes the program's memory: what it reads is no dead store, what it writes
// is new.

import (
	"lime/internal/waste"
	"lime/internal/waste/calls"
)

// system tells what the call at which t stands reads, and notes what it may write until it is done.
func (m *wasteMeter) system(t *thread) { waste.Now(m.d, uint32(t.id), func() { m.touched(t) }) }

func (m *wasteMeter) touched(t *thread) {
	g, s := &t.ctx.GPR, m.stack(t)
	s.system = s.system[:0]
	args := [...]uint64{g[rdi], g[rsi], g[rdx], g[10], g[r8], g[r9]}
	m.calls.Touched(g[rax], &args, m.r.memory.word, func(p calls.Span) {
		if p.Reads {
			m.d.Read(p.Addr, p.N)
		}
		if p.Writes && p.Addr != 0 {
			m.d.Forget(p.Addr, p.N)
			s.system = append(s.system, p)
		}
	})
	if g[rax] == calls.Map {
		s.system = append(s.system, calls.Span{N: args[1], Writes: true}) // at the address that it returns
	}
}

// systemDone forgets what the system may have written meanwhile.
func (m *wasteMeter) systemDone(s *wasteStack) {
	for _, p := range s.system {
		if p.Addr == 0 {
			p.Addr = m.r.roster.threads[s.thread].ctx.GPR[rax]
		}
		m.d.Forget(p.Addr, p.N)
	}
	s.system = s.system[:0]
}
