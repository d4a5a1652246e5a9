package profile

import (
	"fmt"
	"slices"
)

// MergeSections makes one section of all that have the same key; an empty key stays alone. The
// first of them keeps its row, and ids close up. It may be called only within Rewrite,
// Profile.Edit or Reader.Edit, which then renumber the instances.
func (t *Tables) MergeSections(key func(*Section) string) {
	byKey := map[string]SectionID{}
	to := make([]SectionID, len(t.Sections))
	var kept []Section
	for i := range t.Sections {
		k := key(&t.Sections[i])
		id, ok := byKey[k]
		if !ok || k == "" {
			id = SectionID(len(kept))
			kept = append(kept, t.Sections[i])
			byKey[k] = id
		}
		to[i] = id
	}
	if len(kept) == len(t.Sections) {
		return
	}
	t.Sections = kept
	for i := range t.PathSamples {
		if s := &t.PathSamples[i]; s.Section != None {
			s.Section = to[s.Section]
		}
	}
	t.merged = compose(t.merged, to)
}

// compose applies to after what was merged before.
func compose(before, to []SectionID) []SectionID {
	if before == nil {
		return to
	}
	for i := range before {
		before[i] = to[before[i]]
	}
	return before
}

// renumber gives instances, taken in their order, the section and number that they have after a
// merge.
type renumber struct {
	merged []SectionID
	next   map[SectionID]int
}

func newRenumber(t *Tables) *renumber { return &renumber{t.merged, map[SectionID]int{}} }

// section returns the new section of an old one, and the instance's number in it.
func (r *renumber) section(old SectionID) (SectionID, int) {
	id := old
	if r.merged != nil {
		id = r.merged[old]
	}
	seq := r.next[id]
	r.next[id]++
	return id, seq
}

// Edit changes the tables and the description of a profile in memory, as Rewrite does for a file.
func (p *Profile) Edit(edit func(*Meta, *Tables) error) error {
	if err := edit(&p.meta, &p.tables); err != nil {
		return err
	}
	if p.merged == nil {
		return p.Check()
	}
	all := p.order
	number := newRenumber(&p.tables)
	p.order, p.instances, p.merged = nil, nil, nil
	for _, in := range all {
		in.Section, _ = number.section(in.Section)
		if err := p.WriteInstance(in); err != nil {
			return err
		}
	}
	return p.Check()
}

// Edit changes the tables and the description as Rewrite does, but only in memory. It must
// not run while others use the Reader.
func (r *Reader) Edit(edit func(*Meta, *Tables) error) error {
	if err := edit(&r.meta, &r.tables); err != nil {
		return err
	}
	if err := r.checkEdit(); err != nil {
		return fmt.Errorf("profile %s: %w", r.path, err)
	}
	if r.tables.merged != nil {
		r.ids = mergeIDs(r.ids, r.tables.merged, len(r.tables.Sections))
		r.tables.merged = nil
	}
	r.limits = extent{}
	r.limits.advance(&r.tables)
	return nil
}

// mergeIDs gives every section the instances of those merged into it, in their order.
func mergeIDs(ids [][]int64, to []SectionID, sections int) [][]int64 {
	out := make([][]int64, sections)
	for old, list := range ids {
		out[to[old]] = append(out[to[old]], list...)
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}
