package waste

import "math"

// Elem is what an access moves, as far as the instruction tells.
type Elem uint8

// The elements.
const (
	Bytes   Elem = iota // integers, or not known: equal if all bits are
	Float32             // equal within the tolerance
	Float64
	Float80 // x87's
)

// DefaultTolerance is by how much of the larger of two floating-point numbers they may differ and
// still count as equal.
const DefaultTolerance = 0.01

// Same reports whether two values, as words of up to eight bytes each, are equal.
func Same(e Elem, before, after []uint64, tolerance float64) bool {
	for i := range before {
		if before[i] != after[i] && !near(e, before, after, i, tolerance) {
			return false
		}
	}
	return true
}

// near compares, for tolerances below a half, word i of floating-point numbers.
func near(e Elem, before, after []uint64, i int, tolerance float64) bool {
	a, b := before[i], after[i]
	switch e {
	case Float32:
		return close32(uint32(a), uint32(b), tolerance) && close32(uint32(a>>32), uint32(b>>32), tolerance)
	case Float64:
		return near64(a, b, tolerance)
	case Float80:
		return i == 0 && before[1] == after[1] && a>>63 == 1 && b>>63 == 1 && closeEnough(float64(a), float64(b), tolerance)
	}
	return false
}

// near64 compares numbers of 64 bits. Those of one sign are as large as their bits say.
func near64(a, b uint64, tolerance float64) bool {
	if a < b {
		a, b = b, a
	}
	const infinite = 0x7ff0000000000000
	if a>>52-b>>52 > 1 || a&infinite == infinite {
		return false // sign or size tell already; or it is no number
	}
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	return math.Abs(x-y) <= tolerance*math.Abs(x)
}

func close32(a, b uint32, tolerance float64) bool {
	return a == b || closeEnough(float64(math.Float32frombits(a)), float64(math.Float32frombits(b)), tolerance)
}

// closeEnough is false for what is no number, and where one of two is infinite.
func closeEnough(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b)) && !math.IsInf(a, 0) && !math.IsInf(b, 0)
}
