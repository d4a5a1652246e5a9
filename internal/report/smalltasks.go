// Tasks that are too small, in the first sentence.

package report

import (
	"fmt"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// smallTasks says what is wrong with the tasks of the section that has most of a term, if making and
// handing them out is that term, or if it is waiting for work that comes in tasks too small. The
// term's own place is the runtime's function, or the section's end: neither is the reader's to change.
func (r *Report) smallTasks(most *LossTerm) (words string, at *Place) {
	for i := range r.Sections {
		s := &r.Sections[i]
		if s.Tasks == nil || s.Tasks.unknown() || r.ofTasks(s, most.Name) <= mostlyAwaited*most.Share {
			continue
		}
		if wrong := tooSmall[s.Tasks.Advice]; wrong != "" {
			return fmt.Sprintf("%s: %s of them, on average %s each, and %s of that goes into making and handing them out; "+
				"those with the most work begin at", wrong, unit.SI(float64(s.Tasks.Count)), r.Program.Quantity(s.Tasks.Mean),
				unit.Percent(s.Tasks.RuntimeShare)), &s.Tasks.Place
		}
	}
	return "", nil
}

// tooSmall says what is wrong, by the advice.
var tooSmall = map[string]string{
	analysis.AdviceCoarsen: "The tasks are too small",
	analysis.AdviceChange:  "The tasks are too small, and too few at a time",
}

// ofTasks is the share of the core time that a term takes of a section because of its tasks.
func (r *Report) ofTasks(s *Section, term string) float64 {
	switch term {
	case analysis.TermOverhead:
		own := 0.0
		for i := range s.Threads {
			own += s.Threads[i].Time
		}
		return s.Tasks.RuntimeShare * ratio(own, r.Loss.CoreTime)
	case analysis.TermWait:
		return s.Loss.Wait
	}
	return 0
}
