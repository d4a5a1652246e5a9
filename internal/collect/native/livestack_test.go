package native

import (
	"os"
	"testing"
)

// A register that holds anything may be taken for a frame pointer: the last words of the address
// space are read as none.
func TestStackAtTheEndOfTheAddressSpace(t *testing.T) {
	for _, addr := range []uint64{^uint64(0), ^uint64(0) - 7, ^uint64(0) - 8, 1 << 63, 0} {
		l := liveStack{pid: os.Getpid(), sp: 0x7ffd00000000, copy: make([]byte, 64)}
		if _, ok := l.word(addr); ok {
			t.Errorf("there is a word at %#x", addr)
		}
	}
}
