package whatif

import (
	"slices"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// This file sets runs of one program beside each other that differ in where its pages lie in
// memory.

// Throws is what several placements of a program's pages come to.
type Throws struct {
	Schema    string          `json:"schema"`
	Seeds     []int           `json:"seeds"` // of the runs; the first is the profile's
	ClockUnit string          `json:"clock_unit"`
	RunTime   Range           `json:"run_time"`
	Sections  []ThrownSection `json:"sections"` // in the order of the profile: by time lost
}

// ThrowsSchema names the form of Throws.
const ThrowsSchema = "lime-seeds/1"

// Range is a figure in the profile's run, and over all runs.
type Range struct {
	Own    float64 `json:"own"`
	Least  float64 `json:"least"`
	Median float64 `json:"median"`
	Most   float64 `json:"most"`
}

// ThrownSection is a section in all runs.
type ThrownSection struct {
	Kind      string         `json:"kind"`
	EndsAt    analysis.Place `json:"ends_at"`
	Imbalance Range          `json:"imbalance"`
	Lost      Range          `json:"lost"` // all waits
	Matters   bool           `json:"matters"`
	Last      int            `json:"last"`            // in how many runs the thread that works longest is the profile's
	Cause     *ThrownCause   `json:"cause,omitempty"` // the profile's first hardware cause
}

// ThrownCause is a hardware cause in all runs: all hardware events of its line together.
type ThrownCause struct {
	Event string         `json:"event"`
	Title string         `json:"title"`
	Place analysis.Place `json:"place"`
	Time  Range          `json:"time"`  // that the account charges the line with
	There int            `json:"there"` // in how many runs that is at least half of what it is in the profile's
}

// there is the part of a cause's time from on which it counts as the same cause: nearer to what it
// was than to nothing.
const there = 0.5

// Throw sets the run of a profile beside those with other seeds.
func Throw(own *analysis.Result, others []*analysis.Result, seeds []int) *Throws {
	out := &Throws{Schema: ThrowsSchema, Seeds: seeds, ClockUnit: own.Run.ClockUnit}
	all := append([]*analysis.Result{own}, others...)
	out.RunTime = over(all, func(r *analysis.Result) float64 { return r.Whole.RunTime })
	for i := range own.Sections {
		out.Sections = append(out.Sections, thrown(&own.Sections[i], all))
	}
	return out
}

// over is the range of a figure; the first result is the profile's.
func over[R any](all []R, figure func(R) float64) Range {
	var x []float64
	for _, r := range all {
		x = append(x, figure(r))
	}
	out := Range{Own: x[0]}
	slices.Sort(x)
	out.Least, out.Most = x[0], x[len(x)-1]
	out.Median = (x[(len(x)-1)/2] + x[len(x)/2]) / 2
	return out
}

func thrown(own *analysis.Section, all []*analysis.Result) ThrownSection {
	sections := make([]*analysis.Section, len(all))
	for i, r := range all {
		sections[i] = &analysis.Section{} // which loses nothing
		for k := range r.Sections {
			if placeOf(&r.Sections[k]) == placeOf(own) {
				sections[i] = &r.Sections[k]
			}
		}
	}
	out := ThrownSection{Kind: own.Kind, EndsAt: own.EndsAt, Matters: own.Matters,
		Imbalance: over(sections, func(s *analysis.Section) float64 { return s.Imbalance }),
		Lost:      over(sections, func(s *analysis.Section) float64 { return s.LostTime }),
	}
	for _, s := range sections {
		if longest(s) == longest(own) {
			out.Last++
		}
	}
	for k := range own.Causes {
		if c := &own.Causes[k]; c.Family == analysis.FamilyHardware && cannotErase(c.Event) == "" {
			out.Cause = thrownCause(c, sections)
			break
		}
	}
	return out
}

// longest is the thread of a section that works longest.
func longest(s *analysis.Section) profile.ThreadID {
	most, id := -1.0, profile.ThreadID(profile.None)
	for _, t := range s.Threads {
		if t.Time > most {
			most, id = t.Time, t.Thread
		}
	}
	return id
}

func thrownCause(c *analysis.Cause, sections []*analysis.Section) *ThrownCause {
	out := &ThrownCause{Event: c.Event, Title: c.Title, Place: c.Place}
	charged := func(s *analysis.Section) (sum float64) {
		for _, list := range [][]analysis.Cause{s.Causes, s.Candidates} {
			for i := range list {
				if o := &list[i]; o.Family == analysis.FamilyHardware && cannotErase(o.Event) == "" && sameLine(&o.Place, &c.Place) {
					sum += o.LedgerTime
				}
			}
		}
		return sum
	}
	out.Time = over(sections, charged)
	for _, s := range sections {
		if charged(s) >= there*out.Time.Own {
			out.There++
		}
	}
	return out
}

func sameLine(a, b *analysis.Place) bool {
	if a.Line == 0 || b.Line == 0 {
		return a.Line == b.Line && a.Address == b.Address
	}
	return a.Line == b.Line && a.File == b.File
}
