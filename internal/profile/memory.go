package profile

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

type tables = Tables

// Profile is a profile in memory: Source and Sink in one. The zero value is an
// empty profile. It may be read from several goroutines once it is filled.
type Profile struct {
	tables
	meta      Meta
	instances map[SectionID][]*Instance
	order     []*Instance // of all sections, as they were written
}

var (
	_ Source = (*Profile)(nil)
	_ Sink   = (*Profile)(nil)
)

// New returns an empty profile of the run that meta describes.
func New(meta Meta) *Profile { return &Profile{meta: meta} }

// Meta returns the description of the run.
func (p *Profile) Meta() *Meta { return &p.meta }

// Tables returns the tables.
func (p *Profile) Tables() *Tables { return &p.tables }

// UpdateMeta replaces the description of the run.
func (p *Profile) UpdateMeta(m Meta) error {
	p.meta = m
	return nil
}

// WriteInstance appends the instance to its section.
func (p *Profile) WriteInstance(in *Instance) error {
	if p.instances == nil {
		p.instances = map[SectionID][]*Instance{}
	}
	in.Seq = len(p.instances[in.Section])
	in.Sort()
	p.instances[in.Section] = append(p.instances[in.Section], in)
	p.order = append(p.order, in)
	return nil
}

// Instances yields the instances of a section.
func (p *Profile) Instances(s SectionID) iter.Seq2[*Instance, error] {
	return func(yield func(*Instance, error) bool) {
		for _, in := range p.instances[s] {
			if !yield(in, nil) {
				return
			}
		}
	}
}

// InstanceCount returns the number of a section's instances.
func (p *Profile) InstanceCount(s SectionID) int { return len(p.instances[s]) }

// Sort brings the instance's counts into the order of row, then part, and drops those of nil.
func (in *Instance) Sort() {
	for _, m := range in.matrices() {
		if slices.ContainsFunc(*m, isNil) {
			*m = slices.DeleteFunc(*m, isNil)
		}
		if len(*m) == 0 {
			*m = nil
		}
		if !slices.IsSortedFunc(*m, compareCounts) {
			slices.SortFunc(*m, compareCounts)
		}
	}
}

// matrices returns the four sparse matrices in the order in which they are stored.
func (in *Instance) matrices() [4]*[]Count {
	return [4]*[]Count{&in.Edges, &in.Events, &in.Costs, &in.Times}
}

func isNil(c Count) bool { return c.N == 0 }

func compareCounts(a, b Count) int {
	return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Part, b.Part))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
