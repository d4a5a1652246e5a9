// What one thread does while it works alone, as far as samples tell.

package analysis

import (
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// sampled is where the threads of a section spend most of their time: the innermost loop
// around the samples, else their line. It is nil if the samples are too few to be sure that it is
// worth a word.
func (l loneliness) sampled(id profile.SectionID) (*ledger.Spent, error) {
	r := l.r
	w, err := r.gather(id)
	if err != nil {
		return nil, err
	}
	c, names, all := r.newCharges(), newRuntimes(r.tab), 0.0
	times, order := r.pathTimes(id, w.teams)
	for _, p := range order {
		t := sum(times[p])
		c.add(names.site(p), "", p, t)
		all += t
	}
	list := c.list(all)
	i := slices.IndexFunc(list, func(x Charge) bool { return x.Line > 0 || x.Function != "" })
	if i < 0 || list[i].Share < ledger.StretchShare || estimate(list[i].Share, w.n).Lo < worthOf {
		return nil, nil
	}
	at := &list[i]
	place := ledger.Place{File: at.File, Line: int32(at.Line), Function: at.Function, Image: at.Image, Node: profile.None}
	return &ledger.Spent{Place: place, Share: at.Share}, nil
}
