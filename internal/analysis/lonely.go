// What one thread does while it works alone: a stretch is named by where it ends, and that is not
// what took the time.

package analysis

import (
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// leastLonely is the share of the run from which it is told where a stretch spends its time.
const leastLonely = 0.01

// loneliness finds it.
type loneliness struct{ r *runner }

func (l loneliness) tell(res *Result) error {
	term := res.Loss.Term(TermSerial)
	for i := range res.Serial {
		s := &res.Serial[i]
		if s.TimeShare < leastLonely {
			continue
		}
		a, err := l.alone(s.ID)
		if err != nil {
			return err
		}
		s.Spent, s.Loading = a.Spent, a.Loading
		term.alone(s)
	}
	slices.SortFunc(term.Places, compareLossPlaces)
	return nil
}

func (l loneliness) alone(id profile.SectionID) (ledger.Alone, error) {
	if l.r.isSampled() {
		spent, err := l.sampled(id)
		return ledger.Alone{Spent: spent}, err
	}
	return l.r.book.Alone(id)
}

// alone says of a stretch's place where the time was spent. The dynamic linker's part is one of its
// own, of all stretches: no line of the program asks for it.
func (t *LossTerm) alone(s *Section) {
	i := slices.IndexFunc(t.Places, func(p LossPlace) bool { return p.Section == s.ID })
	if i < 0 {
		return
	}
	p := &t.Places[i]
	p.Spent = within(s.Spent, 1-s.Loading)
	if s.Loading == 0 {
		return
	}
	loading := LossPlace{Section: profile.None, Time: p.Time * s.Loading, Share: p.Share * s.Loading, Why: LoadingLibraries}
	p.Time, p.Share = p.Time-loading.Time, p.Share-loading.Share
	for k := range p.Threads {
		p.Threads[k].Time *= 1 - s.Loading
	}
	if k := slices.IndexFunc(t.Places, func(p LossPlace) bool { return p.Why == LoadingLibraries }); k >= 0 {
		t.Places[k].Time, t.Places[k].Share = t.Places[k].Time+loading.Time, t.Places[k].Share+loading.Share
	} else {
		t.Places = append(t.Places, loading)
	}
}

// within is the same as a share of a part of the time.
func within(s *ledger.Spent, part float64) *ledger.Spent {
	if s == nil || part <= 0 {
		return nil
	}
	out := *s
	out.Share = min(1, out.Share/part)
	return &out
}
