package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lime/internal/profile"
)

// Folded writes a line for each call path: its functions from the outermost to the innermost,
// separated by semicolons, and its time, as flame graph tools read it.
func Folded(w io.Writer, src profile.Source) error {
	src = newVisible(src)
	list, err := paths(src.Tables(), "time")
	if err != nil {
		return err
	}
	sums := map[string]float64{}
	for _, s := range list {
		words := []string{clean(threadName(src.Tables(), s.thread))}
		for _, f := range s.frames {
			words = append(words, clean(f.function))
		}
		sums[strings.Join(words, ";")] += s.value
	}
	b := bufio.NewWriter(w)
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(b, "%s %.0f\n", k, sums[k])
	}
	return b.Flush()
}

// clean takes out what has a meaning in the format.
func clean(name string) string {
	if name == "" {
		return "[unknown]"
	}
	return strings.NewReplacer(";", ":", "\n", " ").Replace(name)
}
