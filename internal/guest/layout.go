// The guest's address space beside lime's own image, which lies where it was linked.

package guest

import (
	"fmt"
	"os"
	"strings"
)

// ownStep is the grain in which the low region begins above lime: small changes of lime move
// nothing.
const ownStep = 16 << 20

// hostLayout is the layout beside what this process has mapped. The Makefile links lime above all
// that is the guest's; what `go build` leaves lies at the bottom, where programs that are not
// position-independent want to be: they cannot run then, all others can.
func hostLayout() (Layout, error) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return Layout{}, fmt.Errorf("where lime itself lies cannot be read: %w", err)
	}
	l, _ := DefaultLayout.above(string(text))
	return l, nil
}

// Crowded tells whether something of this process lies by chance where the program's code belongs,
// away from lime's own image.
func Crowded() bool {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return false
	}
	_, stray := DefaultLayout.above(string(text))
	return stray
}

// above begins the low region above what /proc/PID/maps shows in it, and tells whether that is in
// one piece.
func (l Layout) above(maps string) (above Layout, stray bool) {
	above = l
	for line := range strings.Lines(maps) {
		var lo, hi uint64
		if n, _ := fmt.Sscanf(line, "%x-%x", &lo, &hi); n == 2 && lo < l.LowHi && hi > l.LowLo {
			stray = stray || above.LowLo > l.LowLo && lo > above.LowLo
			above.LowLo = min(l.LowHi, (hi+ownStep-1)&^(ownStep-1))
		}
	}
	return above, stray
}

// ownHint says what to do where lime itself lies in a program's place.
func (l Layout) ownHint() string {
	if l.LowLo > DefaultLayout.LowLo {
		return "lime was built without its Makefile and lies there itself; use make build, or link the program as PIE (-fPIE -pie)"
	}
	return fmt.Sprintf("link it below %#x, or as PIE (-fPIE -pie)", l.LowHi)
}
