// Work that goes out in so few chunks that the threads are uneven by their number.

package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// chunks are those of all instances of a section.
type chunks struct {
	number    uint64
	instances uint64
	threads   int
	each      float64 // time of one
}

// fewChunks says whether most of the imbalance is that some threads are given one chunk more than
// others, and none more than that: then no other hand could have dealt so many more evenly. nil if not.
func (p *posting) fewChunks(sec *Section) *chunks {
	n := p.tasks()
	if p.event != EventChunk || len(n) < 2 || p.share < byNumber {
		return nil
	}
	x := &chunks{instances: uint64(max(1, len(sec.Ledger.Instances))), threads: len(n)}
	if most := slices.Max(n) - slices.Min(n); most == 0 || most > x.instances {
		return nil
	}
	for _, k := range n {
		x.number += k
	}
	fair := float64(x.number) / float64(x.instances) / float64(x.threads)
	x.each = ratio(p.cycles/float64(x.instances), math.Ceil(fair)-fair)
	return x
}

func (x *chunks) title() string { return fmt.Sprintf("%s for %d threads", x.words(), x.threads) }

// words are the number in an instance.
func (x *chunks) words() string {
	if x.number%x.instances == 0 {
		return plural(x.number/x.instances, "chunk")
	}
	return fmt.Sprintf("about %.1f chunks", float64(x.number)/float64(x.instances))
}

// sentence says who is given how many, and what to do.
func (x *chunks) sentence(r *runner, ts []ThreadCount) string {
	var out strings.Builder
	fmt.Fprintf(&out, "The work here is dealt out in %s to %d threads", x.words(), x.threads)
	if hi, lo, two := extremes(ts); x.instances > 1 {
		out.WriteString(" in each instance")
	} else if two {
		fmt.Fprintf(&out, ": thread %s is given %s, thread %s %s", numbered(hi, ts), plural(hi.Count, "chunk"),
			numbered(lo, ts), strings.Replace(plural(lo.Count, "chunk"), "0 chunks", "none", 1))
	}
	out.WriteString(". ")
	if x.each > 0 {
		fmt.Fprintf(&out, "A chunk takes %s. ", r.duration(x.each))
	}
	out.WriteString("More and smaller chunks would even it out.")
	return out.String()
}
