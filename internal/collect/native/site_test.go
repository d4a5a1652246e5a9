package native

import (
	"os"
	"runtime"
	"testing"
	"unsafe"
)

// A place is where it was as long as the return address stands where it stood; where nothing can be
// read, nobody knows better.
func TestPlacesStand(t *testing.T) {
	word := new(uint64)
	var pin runtime.Pinner
	pin.Pin(word)
	defer pin.Unpin()
	pl := &places{program: &program{images: &images{pid: os.Getpid()}}}
	here := uint64(uintptr(unsafe.Pointer(word)))
	for _, row := range []struct {
		slot, ret, there uint64
		want             bool
	}{{here, 7, 7, true}, {here, 7, 8, false}, {8, 7, 8, true}} {
		*word = row.there
		if got := pl.stands(&site{slots: []slot{{row.slot, row.ret}}}); got != row.want {
			t.Errorf("slot %#x, return address %d, there is %d: stands %t", row.slot, row.ret, row.there, got)
		}
	}
}
