package report

import (
	"fmt"

	"lime/internal/profile"
	"lime/internal/unit"
)

// Instructions is what became of the instructions that the threads executed.
type Instructions struct {
	Executed uint64      `json:"executed"`
	Went     []InstrPart `json:"went"` // these add up to all
}

// InstrPart is what became of some of them.
type InstrPart struct {
	What   string `json:"what"` // a name of the profile's format
	Instrs uint64 `json:"instructions"`
	words  string
}

// instrWords says it for people.
func instrWords() []InstrPart {
	return []InstrPart{
		{What: profile.InSections, words: "counted in sections"},
		{What: profile.OutLoop, words: "left out: rounds of loops in which a thread was proved to wait"},
		{What: profile.OutCall, words: "left out: in calls that wait, or that look for work"},
		{What: profile.OutIdle, words: "left out: a runtime's threads that had no work"},
		{What: profile.OutRuntime, words: "left out: a runtime's way to the program's own code, and back"},
		{What: profile.OutRegion, words: "left out: outside of what was measured"},
		{What: profile.OutNoSection, words: "at work, in no section"},
		{What: profile.Unaccountable, words: "unaccounted for: please report this"},
	}
}

// instructions makes the part of a report; nil if the collector did not tell.
func instructions(t *profile.Tables) *Instructions {
	sums := t.Account()
	if sums[profile.Executed] == 0 {
		return nil
	}
	x := &Instructions{Executed: sums[profile.Executed]}
	for _, w := range instrWords() {
		if w.Instrs = sums[w.What]; w.Instrs > 0 {
			x.Went = append(x.Went, w)
		}
	}
	return x
}

// instructions prints it.
func (p *printer) instructions(x *Instructions) {
	if x == nil {
		return
	}
	p.blank()
	p.rule("What became of the instructions")
	p.para(0, fmt.Sprintf("The threads executed %s instructions:", unit.SI(float64(x.Executed))))
	for _, w := range x.Went {
		p.line("  %s %s  %s", right(unit.Percent(ratio(float64(w.Instrs), float64(x.Executed))), 8),
			right(unit.SI(float64(w.Instrs)), 8), w.words)
	}
}
