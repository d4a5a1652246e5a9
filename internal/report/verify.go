package report

import (
	"fmt"

	"lime/internal/unit"
	"lime/internal/whatif"
)

// Verified is what a run without the cause showed; see docs/report-json.md.
type Verified struct {
	whatif.Verification
	Text string `json:"text"`
}

// verdictWords say how the run compares to what was said.
var verdictWords = map[string]string{
	whatif.Confirmed: "Confirmed",
	whatif.Partly:    "Confirmed in part",
	whatif.Refuted:   "Not confirmed",
}

// changes say what was done to the run.
var changes = map[string]string{
	whatif.Erased: "with these misses erased",
	whatif.Evened: "with its cost evened out",
}

// Verify puts what runs without them showed beside the causes.
func (r *Report) Verify(checks []whatif.Check) {
	for i := range checks {
		c := &checks[i]
		if c.Section >= len(r.Sections) {
			continue
		}
		for k := range r.Sections[c.Section].Causes {
			if cause := &r.Sections[c.Section].Causes[k]; cause.Rank == c.Cause+1 {
				cause.Verified = &Verified{c.Verification, VerifiedWords(&c.Verification)}
			}
		}
	}
}

// NotVerified says why no cause could be held to a run.
func (r *Report) NotVerified(err error) {
	r.Verdicts = append(r.Verdicts, Verdict{Code: "not-verified", Severity: "warn", Text: "Nothing was verified: " + err.Error() + "."})
}

// VerifiedWords says what a run without a cause showed.
func VerifiedWords(v *whatif.Verification) string {
	if v.How == whatif.NotRun {
		return "not run: " + v.Why + "."
	}
	return fmt.Sprintf("%s: run again %s, the section loses %s less (said: %s); imbalance %s, then %s (said: %s).",
		verdictWords[v.Verdict], changes[v.How],
		unit.Percent(v.Gone), unit.Percent(v.Said), unit.Percent(v.ImbalanceBefore), unit.Percent(v.ImbalanceAfter),
		unit.Percent(v.ImbalancePredicted))
}
