// What the program's memory holds.

package sim

import (
	"encoding/binary"

	"lime/internal/collect/spin"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/x86"
)

// memory is what the program's memory holds.
type memory struct {
	proc  *guest.Process
	insts instructions
}

// word reads 8 bytes of the program's memory.
func (m *memory) word(addr uint64) (uint64, bool) {
	b := m.proc.Readable(addr, 8)
	if len(b) < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// value reads n bytes (1 to 8) of the program's memory.
func (m *memory) value(addr uint64, n int) (v uint64, ok bool) {
	b := m.proc.Readable(addr, uint64(n))
	if len(b) < n {
		return 0, false
	}
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, true
}

// code reads n bytes of the program's code.
func (m *memory) code(addr uint64, n int) []byte { return m.proc.Readable(addr, uint64(n)) }

// decode is the instruction at an address; it is not to be changed.
func (m *memory) decode(at uint64) (*x86.Inst, bool) {
	code := m.proc.Readable(at, x86.MaxLen)
	if len(code) == 0 {
		code = m.proc.Readable(at, 4096-at%4096)
	}
	return m.insts.decode(at, code)
}

// lookup tells the engine what is mapped at pc.
func (m *memory) lookup(pc uint64) (engine.Range, bool) {
	if m.proc == nil {
		return engine.Range{}, false
	}
	at, ok := m.proc.Mapping(pc)
	out := engine.Range{Lo: at.Lo, Hi: at.Hi, Exec: at.Exec, Write: at.Write}
	for _, w := range at.Twins {
		out.Twins = append(out.Twins, engine.Twin(w))
	}
	return out, ok
}

// mayChange reports whether others may change what a loop watches, as far as its address and its use
// tell: it is not on the thread's own stack, no address of a function that is called, and not only to
// be read.
func (m *memory) mayChange(w *spin.Watch) bool {
	in, ok := m.decode(w.PC)
	at, mapped := m.proc.Mapping(w.Addr)
	return !w.Stack && !(ok && (in.Branch == x86.BranchJumpInd || in.Branch == x86.BranchCallInd)) &&
		!(mapped && !at.Write && !at.Shared)
}
