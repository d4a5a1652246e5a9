// Code that runs equally often in all threads, as far as samples tell, and takes some of them longer.

package analysis

import (
	"cmp"
	"fmt"
	"slices"
)

// dearCode is such code of a section.
type dearCode struct {
	share  float64 // of the section's imbalance that lies in it
	unsure bool    // samples leave open how often its loops go round
	at     *Place  // where most of that is
}

// dearest is the place of the part that holds most: the innermost loop around it, else its own line.
func dearest(prog *program, parts []*part) *Place {
	if len(parts) == 0 {
		return nil
	}
	q := slices.MaxFunc(parts, func(a, b *part) int { return cmp.Compare(a.m.cov, b.m.cov) })
	for up := q; up != nil && up.up != nil; up = up.up {
		if up.b.kind == boundLoop {
			q = up
			break
		}
	}
	at := prog.nodePlace(q.b.node)
	return &at
}

func (c dearCode) words() string {
	where := ""
	if c.at != nil {
		where = ", most of it at " + c.at.short() + ","
	}
	if c.unsure {
		return fmt.Sprintf("%.0f %% of the imbalance lies in code%s that no branch gives some threads more of, and its loops "+
			"seem to go round as often in all threads, but the samples are too few to be sure. "+
			"'lime simulate' counts exactly.", 100*c.share, where)
	}
	return fmt.Sprintf("%.0f %% of the imbalance lies in code%s that no branch or loop gives some threads more of, as far as "+
		"samples tell: its loops go round as often in all threads, and the same work takes longer in some. Caches, memory, the "+
		"data, or other programs on the machine make that difference.", 100*c.share, where)
}
