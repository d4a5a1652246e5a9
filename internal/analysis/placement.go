// What is luck of where the program's pages lie in memory. A simulated run knows how often each
// instruction would have missed in other placements of pages; a cause that is charged with misses
// is the program's if it is there in all of them.

package analysis

import (
	"fmt"
	"slices"
	"strings"

	"lime/internal/unit"
)

// plus adds ys to xs, which may be shorter; xs may be changed.
func plus(xs, ys []float64) []float64 {
	for len(xs) < len(ys) {
		xs = append(slices.Clip(xs), 0)
	}
	for i, y := range ys {
		xs[i] += y
	}
	return xs
}

// dealt notes what of the cause's charge would not be there in other placements.
func (c *Cause) dealt(luck []float64) {
	c.luck, c.Elsewhere = luck, nil
	for _, l := range luck {
		c.Elsewhere = append(c.Elsewhere, *c.Share*ratio(c.LedgerTime-l, c.LedgerTime))
	}
}

// lucky says whether a cause is luck of where pages lie: in one of the other placements it would be
// charged with less than half of what it is charged with.
func (c *Cause) lucky() bool {
	return c.LedgerTime > 0 && slices.ContainsFunc(c.luck, func(l float64) bool { return l > (1-heldElsewhere)*c.LedgerTime })
}

// sayLuck labels the causes that are luck of where pages lie.
func (sec *Section) sayLuck() {
	for i := range sec.Causes {
		c := &sec.Causes[i]
		if c.luck == nil {
			continue
		}
		c.Sentence = strings.TrimSuffix(c.Sentence, c.Subject.luck()) // this one is proved
		if c.Luck = c.lucky(); !c.Luck {
			continue
		}
		words := make([]string, len(c.Elsewhere))
		for k, x := range c.Elsewhere {
			words[k] = unit.Percent(x)
		}
		c.Sentence += fmt.Sprintf(" In %d other placements of the program's pages in memory its share would be %s: it is luck "+
			"of where pages lie, at least in part.", len(words), strings.Join(words, ", "))
	}
}
