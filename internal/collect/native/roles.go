// Who takes of the same work: threads that began in one function, or run the same code.

package native

import (
	"slices"

	"lime/internal/origin"
	"lime/internal/section"
)

// root is the outermost of the program's own functions that are open; nil if none is. What a language's
// library calls a thread's function by is the same for all of them.
func (s *sampler) root() *function {
	for i := len(s.pcs) - 1; i >= 0; i-- {
		pc := s.pcs[i] - uint64(min(i, 1))
		if !s.images.own(pc) {
			continue
		}
		if fn := s.code.look(pc).fn; !origin.LanguageFunction(fn.name) || origin.HoldsProgram(fn.name) {
			return fn
		}
	}
	return nil
}

// role is what is known of what a part's thread does: where it began, and where it was seen at work.
type role struct {
	roots, at map[*function]bool
	samples   []*function
}

func roleOf(c *code, p *section.Part) role {
	r := role{map[*function]bool{}, map[*function]bool{}, nil}
	for _, s := range p.Spans {
		for _, w := range s.(*piece).samples {
			if w.root != nil {
				r.roots[w.root] = true
			}
			fn := c.look(w.b.addr).fn
			r.at[fn] = true
			r.samples = append(r.samples, fn)
		}
	}
	return r
}

// like reports whether two threads may take of the same work. Not if they are known to have begun in
// different functions, as the stages of a pipeline, and neither was seen mostly in functions of the
// other's, as main that works beside those that it has made.
func (r *role) like(o *role) bool {
	if len(r.roots) == 0 || len(o.roots) == 0 {
		return true
	}
	for fn := range r.roots {
		if o.roots[fn] {
			return true
		}
	}
	return r.mostlyIn(o) || o.mostlyIn(r)
}

func (r *role) mostlyIn(o *role) bool {
	n := 0
	for _, fn := range r.samples {
		if o.at[fn] {
			n++
		}
	}
	return 2*n > len(r.samples)
}

// teams are the parts, by index, that may take of the same work, together with others that do so with one of
// them; nil if all may.
func teams(c *code, parts []section.Part) (out [][]int) {
	if oneRoot(parts) {
		return nil
	}
	roles := make([]role, len(parts))
	for i := range parts {
		roles[i] = roleOf(c, &parts[i])
	}
	for i := range parts {
		team := []int{i}
		out = slices.DeleteFunc(out, func(t []int) bool {
			joins := slices.ContainsFunc(t, func(j int) bool { return roles[i].like(&roles[j]) })
			if joins {
				team = append(team, t...)
			}
			return joins
		})
		out = append(out, team)
	}
	for _, team := range out {
		slices.Sort(team)
	}
	slices.SortFunc(out, func(a, b []int) int { return a[0] - b[0] })
	return out
}

// oneRoot reports whether all threads are known to have begun in one function, as far as that is known:
// so they have in most sections, of which there may be very many.
func oneRoot(parts []section.Part) bool {
	var root *function
	for i := range parts {
		for _, s := range parts[i].Spans {
			for _, w := range s.(*piece).samples {
				if root == nil {
					root = w.root
				}
				if w.root != nil && w.root != root {
					return false
				}
			}
		}
	}
	return true
}
