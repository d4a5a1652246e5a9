package watch

// The program's memory, and the code in it.

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// memory is a process's.
type memory struct {
	pid  int
	code codeBlock
}

// codeBlock is code as it was read last: it may be another one at the next stop.
type codeBlock struct {
	at    uint64
	n     int
	bytes [256]byte
}

// instruction decodes the instruction at an address.
func (m *memory) instruction(pc uint64) (in x86.Inst, ok bool) {
	const longest = 15
	if c := &m.code; pc < c.at || pc+longest > c.at+uint64(c.n) {
		c.at, c.n = pc, m.peek(pc, c.bytes[:])
	}
	from := pc - m.code.at
	return in, from < uint64(m.code.n) && x86.Decode(m.code.bytes[from:m.code.n], &in) == nil
}

// read reads a number of 1, 2, 4 or 8 bytes.
func (m *memory) read(addr uint64, n int) (uint64, bool) {
	var b [8]byte
	if m.peek(addr, b[:n]) < n {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// peek reads the process's memory as far as it can.
func (m *memory) peek(addr uint64, b []byte) int {
	local := []unix.Iovec{{Base: unsafe.SliceData(b), Len: uint64(len(b))}}
	n, err := unix.ProcessVMReadv(m.pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
	if err != nil {
		return 0
	}
	return n
}
