package ledger

import (
	"encoding/json"
	"iter"
	"testing"

	"lime/internal/profile"
)

// alternating is a source that yields two instances in turn.
type alternating struct {
	*profile.Profile
	insts [2]*profile.Instance
	n     int
}

func (s alternating) Instances(profile.SectionID) iter.Seq2[*profile.Instance, error] {
	return func(yield func(*profile.Instance, error) bool) {
		for i := range s.n {
			if !yield(s.insts[i%2], nil) {
				return
			}
		}
	}
}

// TestWorkersDoNotMatter has one and several workers account for instances of all threads and of
// some: memory that is used again must leave no trace.
func TestWorkersDoNotMatter(t *testing.T) {
	prof, all := grow(600, 9, 4)
	some := &profile.Instance{Parts: all.Parts[:5]}
	for _, c := range all.Edges {
		if c.Part < 5 {
			some.Edges = append(some.Edges, c)
		}
	}
	var want string
	for _, workers := range []int{1, 2, 7} {
		a, err := Section(alternating{prof, [2]*profile.Instance{some, all}, 24}, 0, Options{Workers: workers, MinShare: -1, MaxRows: -1})
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, a)
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(text)
		} else if string(text) != want {
			t.Errorf("%d workers give another account than one", workers)
		}
	}
}
