package analysis

import "lime/internal/profile"

// Options are the constants of the method. The zero value of a field that has no
// sensible zero means its default.
type Options struct {
	ClusterThreshold float64 `json:"cluster_threshold"` // merge clusters down to this similarity
	BulkThreshold    float64 `json:"bulk_threshold"`    // fold events at or above it first, when there are very many; 1 = off
	Alpha            float64 `json:"alpha"`             // of each partial F test, and of the family-wise guard
	MinScore         float64 `json:"min_score"`         // causes above it are important
	MinShare         float64 `json:"min_share"`         // of the ledger: smaller rows fold into the rest
	MaxInstances     int     `json:"max_instances"`     // analyse at most so many instances of a section; 0 = default, < 0 = all
	Workers          int     `json:"-"`                 // goroutines, 0 = all processors; never changes the result
}

// DefaultOptions returns the constants of the LIME paper, and those that docs/RATIONALE.md gives.
func DefaultOptions() Options {
	return Options{
		ClusterThreshold: 0.9, BulkThreshold: 0.99, Alpha: 0.05, MinScore: 0.1,
		MinShare: 0.01, MaxInstances: 256,
	}
}

// withDefaults fills fields that are zero.
func (o Options) withDefaults() Options {
	d := DefaultOptions()
	for _, f := range []struct{ have, def *float64 }{
		{&o.ClusterThreshold, &d.ClusterThreshold}, {&o.BulkThreshold, &d.BulkThreshold},
		{&o.Alpha, &d.Alpha}, {&o.MinScore, &d.MinScore}, {&o.MinShare, &d.MinShare},
	} {
		if *f.have == 0 {
			*f.have = *f.def
		}
	}
	if o.MaxInstances == 0 {
		o.MaxInstances = d.MaxInstances
	}
	return o
}

// LeanGC is by how many percent the heap may grow between two collections of garbage while a large
// profile is analysed (debug.SetGCPercent): its figures hold no pointers, and cost next to nothing
// to collect. Of a small profile nothing needs to be set.
func LeanGC(tab *profile.Tables) (percent int, lean bool) {
	const large = 20_000 // edges
	return 25, len(tab.Edges) > large
}
