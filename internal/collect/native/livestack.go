package native

import "encoding/binary"

// liveStack reads the copy of a stack that came with a sample and, beyond it, the thread's stack as
// it is now. The frames out there mostly belong to calls that have lasted for long and will. What
// is read so is believed only as far as it makes sense: see take.
type liveStack struct {
	pid  int
	sp   uint64
	copy []byte
	used bool // something was read from beyond the copy

	block [liveBlock]byte
	at    uint64 // address of the block
	have  int    // bytes of it
}

const (
	liveBlock = 1024
	redZone   = 4096 // below the stack pointer
)

func (l *liveStack) word(addr uint64) (uint64, bool) {
	if addr > ^uint64(0)-8 { // what was followed is no stack
		return 0, false
	}
	if off := addr - l.sp; addr >= l.sp && off+8 <= uint64(len(l.copy)) && off < 1<<32 {
		return binary.LittleEndian.Uint64(l.copy[off:]), true
	}
	if addr < l.sp && addr+redZone >= l.sp { // gone when the thread went on
		return 0, false
	}
	l.used = true
	if addr < l.at || addr+8 > l.at+uint64(l.have) {
		l.at, l.have = addr, peek(l.pid, addr, l.block[:])
	}
	if addr+8 > l.at+uint64(l.have) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(l.block[addr-l.at:]), true
}
