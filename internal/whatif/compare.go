package whatif

import "lime/internal/analysis"

// Comparison sets two runs beside each other.
type Comparison struct {
	Schema        string    `json:"schema"`
	Change        []string  `json:"change"`           // what was done, in words
	Estimate      bool      `json:"estimate"`         // computed from the account, not run
	Why           string    `json:"why,omitempty"`    // an estimate that was to be run was not
	Missed        float64   `json:"missed,omitempty"` // part of what was to be evened out that could not be
	ClockUnit     string    `json:"clock_unit"`
	RunTimeBefore float64   `json:"run_time_before"`
	RunTimeAfter  float64   `json:"run_time_after"`
	LockBefore    float64   `json:"lock_before"` // core time that threads waited for locks
	LockAfter     float64   `json:"lock_after"`
	Sections      []Section `json:"sections"` // in the order of the first run: by time lost
}

// Schema names the form of a Comparison.
const Schema = "lime-whatif/1"

// Section is one section in both runs.
type Section struct {
	Kind            string         `json:"kind"`
	EndsAt          analysis.Place `json:"ends_at"`
	ImbalanceBefore float64        `json:"imbalance_before"`
	ImbalanceAfter  float64        `json:"imbalance_after"`
	TimeBefore      float64        `json:"time_before"` // sum of T_max
	TimeAfter       float64        `json:"time_after"`
	LostBefore      float64        `json:"lost_before"` // all waits
	LostAfter       float64        `json:"lost_after"`
	// Accounted is the part of the lost time that the change took away; negative if it added some.
	Accounted float64 `json:"accounted"`
	Gone      bool    `json:"gone,omitempty"` // the second run does not have it
	Said      *Said   `json:"said,omitempty"` // what the account had said, where a run was to check it
}

// Said is what the account says would be, to first order.
type Said struct {
	Imbalance float64 `json:"imbalance"`
	Time      float64 `json:"time"`
	Lost      float64 `json:"lost"`
	Accounted float64 `json:"accounted"`
}

// Hold puts what an estimate says beside what a run of the same change shows.
func (c *Comparison) Hold(estimate *Comparison) {
	for i := range c.Sections {
		for _, e := range estimate.Sections {
			if s := &c.Sections[i]; e.Kind == s.Kind && e.EndsAt.File == s.EndsAt.File &&
				e.EndsAt.Line == s.EndsAt.Line && e.EndsAt.Address == s.EndsAt.Address {
				s.Said = &Said{Imbalance: e.ImbalanceAfter, Time: e.TimeAfter, Lost: e.LostAfter, Accounted: e.Accounted}
			}
		}
	}
}

type place struct {
	kind, file, function string
	line                 int
	address              string
}

func placeOf(s *analysis.Section) place {
	p := place{kind: s.Kind, file: s.EndsAt.File, function: s.EndsAt.Function, line: s.EndsAt.Line}
	if p.line == 0 {
		p.address = s.EndsAt.Address
	}
	return p
}

// Compare sets the sections of two runs of one program beside each other.
func Compare(before, after *analysis.Result, change []string) *Comparison {
	c := &Comparison{
		Schema: Schema, Change: change, ClockUnit: before.Run.ClockUnit,
		RunTimeBefore: before.Whole.RunTime, RunTimeAfter: after.Whole.RunTime,
	}
	if before.Loss != nil && after.Loss != nil {
		c.LockBefore, c.LockAfter = before.Loss.Term(analysis.TermLock).Time, after.Loss.Term(analysis.TermLock).Time
	}
	then := map[place]*analysis.Section{}
	for i := range after.Sections {
		then[placeOf(&after.Sections[i])] = &after.Sections[i]
	}
	for i := range before.Sections {
		b := &before.Sections[i]
		s := Section{Kind: b.Kind, EndsAt: b.EndsAt, ImbalanceBefore: b.Imbalance, TimeBefore: b.Time, LostBefore: b.LostTime}
		if a := then[placeOf(b)]; a != nil {
			s.ImbalanceAfter, s.TimeAfter, s.LostAfter = a.Imbalance, a.Time, a.LostTime
		} else {
			s.Gone = true
		}
		if b.LostTime > 0 {
			s.Accounted = 1 - s.LostAfter/b.LostTime
		}
		c.Sections = append(c.Sections, s)
	}
	return c
}

// AddEven adds a section as it would be if a place were evened out: its time falls from tMax to
// after.
func (c *Comparison) AddEven(b *analysis.Section, tMax, after, imbalance float64) {
	s := Section{Kind: b.Kind, EndsAt: b.EndsAt, ImbalanceBefore: b.Imbalance, ImbalanceAfter: imbalance,
		TimeBefore: b.Time, TimeAfter: b.Time - (tMax - after), LostBefore: b.LostTime}
	if b.Imbalance > 0 && b.Time > 0 {
		s.LostAfter = b.LostTime * imbalance * s.TimeAfter / (b.Imbalance * b.Time)
		s.Accounted = 1 - s.LostAfter/b.LostTime
	}
	c.RunTimeAfter -= tMax - after
	c.Sections = append(c.Sections, s)
}
