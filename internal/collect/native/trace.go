// Which call path a thread was on when: the samples of its work, on the time line of the parts.

package native

import (
	"math/bits"

	"lime/internal/profile"
	"lime/internal/section"
)

// trace places the samples of an instance's pieces, each piece once, within their parts: the work
// of a part is spread over its length, as what it waited in between has no place of its own.
func (o *output) trace(x *profile.Instance, in *section.Instance) {
	for i := range in.Parts {
		part, whole, before := &x.Parts[i], uint64(0), uint64(0)
		for _, s := range in.Parts[i].Spans {
			whole += s.(*piece).working()
		}
		for _, s := range in.Parts[i].Spans {
			p := s.(*piece)
			for k := range p.samples {
				w := &p.samples[k]
				at := part.Start + scaled(min(before+w.at, whole), part.Time(), whole)
				if !p.traced {
					o.traces.Add(profile.ThreadID(p.row), profile.TraceSample{At: at, Length: w.nanos, Path: profile.PathID(w.path)}, 1)
				}
			}
			before += p.working()
			p.traced = true
		}
	}
}

// scaled is x * to / of.
func scaled(x, to, of uint64) uint64 {
	if of == 0 {
		return 0
	}
	hi, lo := bits.Mul64(min(x, of), to)
	out, _ := bits.Div64(hi, lo, of) // hi < of, as x <= of and to < 2^64
	return out
}
