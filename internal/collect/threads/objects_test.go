package threads

import "testing"

// Nothing that has no address goes by the name of something else, nor by an address of the program:
// the barriers of one would be those of the other.
func TestObjectsHaveNamesOfTheirOwn(t *testing.T) {
	const addresses = 1 << 47
	of := map[uint64]string{}
	for kind, name := range map[string]func(n uint64) uint64{
		"team":       func(n uint64) uint64 { return Team | n },
		"candidate":  func(n uint64) uint64 { return Candidate | n },
		"meeting":    func(n uint64) uint64 { return (&Meetings{met: n - 1}).Next() },
		"region end": func(n uint64) uint64 { return RegionEnd | n },
		"children":   func(n uint64) uint64 { return Children | n },
	} {
		for _, n := range []uint64{1, 2, 300, 0x401000, addresses - 1} {
			object := name(n)
			if other, taken := of[object]; taken || object < addresses {
				t.Errorf("%s %d is named %#x, as %s is", kind, n, object, other)
			}
			of[object] = kind
		}
	}
}
