// Package unit holds the typed quantities that the rest of lime passes around,
// and how they are printed for people. It imports the standard library only.
package unit

import (
	"fmt"
	"math"
	"strconv"
)

// Addr is a virtual address in the measured program.
type Addr uint64

// String prints the address as 0x-prefixed hexadecimal.
func (a Addr) String() string { return "0x" + strconv.FormatUint(uint64(a), 16) }

// Cycles is a span of, or a point in, simulated core time. In model "count"
// one cycle is one instruction.
type Cycles uint64

// Nanos is a span of, or a point in, time in nanoseconds.
type Nanos int64

// String prints three significant digits with the unit that fits: 1.23 ms.
func (n Nanos) String() string {
	return siTime(float64(n) * 1e-9)
}

// String prints three significant digits with a decimal prefix: 1.23 M.
func (c Cycles) String() string { return SI(float64(c)) }

// SI prints x with three significant digits (whole numbers below 1000 without decimals) and a
// decimal prefix (k, M, G, T).
func SI(x float64) string {
	for _, p := range []struct {
		scale float64
		name  string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if math.Abs(x) >= p.scale*0.9995 { // what rounds to 1000 takes the next prefix
			return sig3(x/p.scale) + p.name
		}
	}
	return sig3(x)
}

// Percent prints a ratio as a percentage with one decimal: 0.351 -> "35.1 %".
func Percent(ratio float64) string { return fmt.Sprintf("%.1f %%", ratio*100) }

func siTime(s float64) string {
	for _, p := range []struct {
		scale float64
		name  string
	}{{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}} {
		if math.Abs(s) >= p.scale {
			return sig3(s/p.scale) + p.name
		}
	}
	return sig3(s*1e9) + " ns"
}

func sig3(x float64) string {
	switch a := math.Abs(x); {
	case a == math.Trunc(a) && a < 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	default:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
}
