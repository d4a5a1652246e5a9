package analysis

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// Wasted is how often a thread wasted memory work of a kind in a section: accesses, or of a sampled
// run those that samples stand for.
type Wasted struct {
	Kind   string           `json:"kind"`
	Thread profile.ThreadID `json:"thread"`
	Count  uint64           `json:"count"`
}

// wastedKey names what is one row.
type wastedKey struct {
	kind   int32
	thread profile.ThreadID
}

// addWasted adds up the waste of an instance.
func (s *summary) addWasted(t *lossTable, in *profile.Instance) {
	for _, c := range in.Events {
		if c.Row < 0 || int(c.Row) >= len(t.family) || t.family[c.Row] != profile.FamilyWaste ||
			c.Part < 0 || int(c.Part) >= len(in.Parts) {
			continue
		}
		if s.wasted == nil {
			s.wasted = map[wastedKey]uint64{}
		}
		s.wasted[wastedKey{t.tab.Events[c.Row].Kind, in.Parts[c.Part].Thread}] += c.N
	}
}

// wastes lists the waste of a section by kind and thread.
func (s *summary) wastes(kinds []profile.EventKind) (out []Wasted) {
	for k, n := range s.wasted {
		out = append(out, Wasted{kinds[k.kind].Name, k.thread, n})
	}
	slices.SortFunc(out, func(a, b Wasted) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Thread, b.Thread))
	})
	return out
}
