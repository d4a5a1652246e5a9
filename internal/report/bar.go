package report

import (
	"math"
	"slices"
	"strings"
)

// eighths draws ends of bars finer than a column.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar draws ratio (0 to 1) as a bar in n columns, and returns it with its
// width in columns. What is not nil shows.
func bar(ratio float64, n int) (string, int) {
	if !(ratio > 0) {
		return "", 0
	}
	units := int(math.Round(min(ratio, 1) * float64(n) * 8))
	units = max(units, 1)
	full, rest := units/8, units%8
	width := full
	if rest > 0 {
		width++
	}
	return strings.Repeat("█", full) + eighths[rest], width
}

var levels = []rune("▁▂▃▄▅▆▇█")

// spark draws values as a line of at most n bars from their smallest to their largest; more values
// than that are averaged in groups of equal size. The scale is that of the values: groups that are
// nearly alike look alike.
func spark(values []float64, n int) string {
	if len(values) == 0 {
		return ""
	}
	lo, hi := slices.Min(values), slices.Max(values)
	values = group(values, n)
	out := make([]rune, len(values))
	for i, v := range values {
		out[i] = level(v, lo, hi)
	}
	return string(out)
}

func level(v, lo, hi float64) rune {
	if !(hi > lo) {
		return levels[len(levels)/2-1]
	}
	i := int((v - lo) / (hi - lo) * float64(len(levels)))
	return levels[max(0, min(i, len(levels)-1))]
}

// group averages values in runs so that at most n are left.
func group(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	size := (len(values) + n - 1) / n
	var out []float64
	for chunk := range slices.Chunk(values, size) {
		sum := 0.0
		for _, v := range chunk {
			sum += v
		}
		out = append(out, sum/float64(len(chunk)))
	}
	return out
}
