package whatif

import (
	"fmt"
	"math"

	"lime/internal/analysis"
	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/unit"
)

// Ways to hold a cause to a run.
const (
	Erased = "erased" // its misses are hits
	Evened = "evened" // its cost is the same for all threads
	NotRun = "not-run"
)

// Verdicts on a cause.
const (
	Confirmed = "confirmed" // the run shows what the report said
	Partly    = "partly"    // at least half of it
	Refuted   = "refuted"   // less than that
)

// Verification sets what the report says of a cause beside what a run without it shows. Lost time
// and imbalance are those of the cause's section.
type Verification struct {
	How                string  `json:"how"`
	Why                string  `json:"why,omitempty"` // it was not run
	Said               float64 `json:"said"`          // part of the lost time that should go, to first order, computed from the profile
	Gone               float64 `json:"gone"`          // part of it that was gone in the run
	ImbalanceBefore    float64 `json:"imbalance_before"`
	ImbalancePredicted float64 `json:"imbalance_predicted"`
	ImbalanceAfter     float64 `json:"imbalance_after"`
	RunTimeBefore      float64 `json:"run_time_before"`
	RunTimeAfter       float64 `json:"run_time_after"`
	Verdict            string  `json:"verdict,omitempty"`
}

// Check is a run to be made for a cause.
type Check struct {
	Section, Cause int // of the result
	Erasures       []Erasure
	Plan           Plan
	Verification
}

// A run may differ from what was said by a tenth of that, and by leastTolerance of the lost time.
const (
	tolerance      = 0.1
	leastTolerance = 0.02
)

// Checks lists the important causes of the sections that matter, each with the run that would hold
// it to the truth, or with why there is none.
func Checks(res *analysis.Result, src profile.Source) ([]Check, error) {
	v := &verifier{res: res, src: src, tab: src.Tables()}
	var out []Check
	for i := range res.Sections {
		if !res.Sections[i].Matters { // a run is dear
			continue
		}
		for k := range res.Sections[i].Causes {
			if !res.Sections[i].Causes[k].Important {
				continue
			}
			c := Check{Section: i, Cause: k}
			if err := v.prepare(&c); err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// CheckOne returns the run that would hold one cause of a section to the truth, or why there is
// none. Both are counted as in the result.
func CheckOne(res *analysis.Result, src profile.Source, section, cause int) (*Check, error) {
	if section < 0 || section >= len(res.Sections) || cause < 0 || cause >= len(res.Sections[section].Causes) {
		return nil, fmt.Errorf("there is no cause %d in section %d", cause+1, section+1)
	}
	v := &verifier{res: res, src: src, tab: src.Tables()}
	c := &Check{Section: section, Cause: cause}
	return c, v.prepare(c)
}

// verifier prepares checks.
type verifier struct {
	res *analysis.Result
	src profile.Source
	tab *profile.Tables
	l   *ledger.Ledger
}

func (v *verifier) prepare(c *Check) error {
	sec := &v.res.Sections[c.Section]
	cause := &sec.Causes[c.Cause]
	c.How, c.ImbalanceBefore, c.RunTimeBefore = NotRun, sec.Imbalance, v.res.Whole.RunTime
	if cause.Family == analysis.FamilyHardware {
		return v.erasure(c, sec, cause)
	}
	return v.evening(c, sec, cause)
}

// cannotErase says why events of a kind cannot be taken away, "" if they can.
func cannotErase(event string) string {
	switch profile.FamilyOf(event) {
	case profile.FamilyMemory:
		return ""
	case profile.FamilyLock:
		return "a wait for a lock follows from what is done under it, and cannot be taken away alone"
	case profile.FamilyWait:
		return "a wait for another thread follows from what that one does, and cannot be taken away alone"
	case profile.FamilyOffCore:
		return "time off the core is no event of the machine's"
	}
	return "no event of the machine accounts for the time"
}

// bound says the most that there is to win at a wait: what the sections' ends would come earlier
// by, if nobody waited there and everybody did the same work for the rest. It needs no run.
func bound(cause *analysis.Cause) string {
	if cause.CostShare == 0 {
		return ""
	}
	return fmt.Sprintf(" (if nobody had to, and all else stayed as it is, the run would be shorter by %s at most)",
		unit.Percent(cause.WinShare))
}

func (v *verifier) erasure(c *Check, sec *analysis.Section, cause *analysis.Cause) error {
	if why := cannotErase(cause.Event); why != "" {
		c.Why = why + bound(cause)
		return nil
	}
	ch := chooser{tab: v.tab, kinds: map[uint64]map[string]bool{}}
	ch.line(ch.root(cause.Event), cause.File, cause.Line, cause.Address)
	if len(ch.kinds) == 0 {
		c.Why = "the profile does not say which instructions have the event"
		return nil
	}
	c.How, c.Erasures = Erased, ch.choice().Erasures
	before, after, err := v.without(sec.ID, ch.kinds)
	if err != nil {
		return err
	}
	c.predict(before, after)
	return nil
}

// balance adds up times of instances.
type balance struct{ lost, span float64 }

func (b *balance) add(times []float64) {
	top := 0.0
	for _, t := range times {
		top = max(top, t)
	}
	for _, t := range times {
		b.lost += top - t
	}
	b.span += top * float64(len(times))
}

func (b *balance) imbalance() float64 {
	if b.span <= 0 {
		return 0
	}
	return b.lost / b.span
}

// without computes a section as it would be if some events had cost nothing, to first order.
func (v *verifier) without(id profile.SectionID, kinds map[uint64]map[string]bool) (before, after balance, err error) {
	gone := map[int32]bool{}
	ch := chooser{tab: v.tab}
	for i := range v.tab.Events {
		e := &v.tab.Events[i]
		for k := range kinds[e.Addr] {
			gone[int32(i)] = gone[int32(i)] || ch.follows(ch.kindName(e.Kind), k)
		}
	}
	for in, err := range v.src.Instances(id) {
		if err != nil {
			return before, after, fmt.Errorf("section %d: %w", id, err)
		}
		times := make([]float64, len(in.Parts))
		for i := range in.Parts {
			times[i] = float64(in.Parts[i].Time())
		}
		before.add(times)
		for _, c := range in.Costs {
			if gone[c.Row] {
				times[c.Part] -= float64(c.N)
			}
		}
		after.add(times)
	}
	return before, after, nil
}

func (c *Check) predict(before, after balance) {
	if before.lost > 0 {
		c.Said = 1 - after.lost/before.lost
	}
	c.ImbalancePredicted = after.imbalance()
}

func (v *verifier) evening(c *Check, sec *analysis.Section, cause *analysis.Cause) error {
	if !sec.HasLedger {
		c.Why = "the account of the section is an estimate, which does not say what to even out"
		return nil
	}
	if v.l == nil {
		v.l = ledger.New(profile.Own(v.src))
	}
	at := ledger.Target{File: cause.File, Line: int32(cause.Line)}
	if cause.Line == 0 {
		addr, err := address(cause.Address)
		if err != nil {
			c.Why = "its place is not known"
			return nil
		}
		at = ledger.Target{Addr: addr}
	}
	targets := []ledger.Target{at}
	for i := range cause.With {
		if p := &cause.With[i]; p.Line > 0 {
			targets = append(targets, ledger.Target{File: p.File, Line: int32(p.Line)})
		}
	}
	said, plan, err := Even(v.src, v.l, []profile.SectionID{sec.ID}, targets)
	if err != nil {
		c.Why = "the account charges no decision there: what the line does is charged to its callers, or is a library's"
		return nil
	}
	c.How, c.Plan = Evened, plan
	var before, after balance
	for _, in := range said[sec.ID].Instances {
		before.add(in.Before)
		after.add(in.After)
	}
	c.predict(before, after)
	return nil
}

func address(text string) (addr uint64, err error) {
	_, err = fmt.Sscanf(text, "0x%x", &addr)
	return addr, err
}

// Judge fills in what the run showed: base is the run as it was, after the one without the cause.
func (c *Check) Judge(base, after *analysis.Result) {
	c.RunTimeAfter = after.Whole.RunTime
	b := &base.Sections[c.Section]
	lost := lostIn(base) // if the section is gone, its threads wait elsewhere, if at all
	left := lostIn(after)
	was, is := b.InstanceCount, 0
	for i := range after.Sections {
		if a := &after.Sections[i]; placeOf(a) == placeOf(b) {
			c.ImbalanceAfter = a.Imbalance
			lost, left, is = b.LostTime, a.LostTime, a.InstanceCount
		}
	}
	if b.LostTime > 0 {
		c.Gone = (lost - left) / b.LostTime
	}
	switch {
	case c.How == Evened && is != was:
		c.drop(fmt.Sprintf("evened out, it comes %d times instead of %d: where all arrive at once, its end is not seen", is, was))
	case math.Abs(c.Gone-c.Said) <= max(leastTolerance, tolerance*c.Said):
		c.Verdict = Confirmed
	case c.Gone >= c.Said/2 && c.Said > 0:
		c.Verdict = Partly
	default:
		c.Verdict = Refuted
	}
}

// Missed is the part of a plan that may fail to be carried out.
const Missed = 0.05

// Drop gives a check up: so much of its plan could not be carried out.
func (c *Check) Drop(missed float64) {
	c.drop(fmt.Sprintf("%.0f %% of its cost could not be evened out by the clock: it is known too late when its parts "+
		"begin (a pool, or barriers that the program builds itself)", 100*missed))
}

func (c *Check) drop(why string) {
	c.How, c.Verdict, c.Gone, c.ImbalanceAfter, c.RunTimeAfter, c.Why = NotRun, "", 0, 0, 0, why
}

func lostIn(r *analysis.Result) (sum float64) {
	for i := range r.Sections {
		sum += r.Sections[i].LostTime
	}
	return sum
}

// repeats is by how much of its lost time a section of a run that is repeated may differ.
const repeats = 0.02

// Repeated reports whether a run without a change is the one of the profile, so that others can be
// held beside it: the same sections lose the same time. Otherwise it says where they differ.
func Repeated(before, again *analysis.Result) error {
	for i := range before.Sections {
		b := &before.Sections[i]
		if !b.Matters {
			continue
		}
		if i >= len(again.Sections) || placeOf(&again.Sections[i]) != placeOf(b) {
			return fmt.Errorf("the section that ends at %s is not there again", placeName(b))
		}
		if a := &again.Sections[i]; math.Abs(a.LostTime-b.LostTime) > repeats*b.LostTime {
			return fmt.Errorf("the section that ends at %s lost %.3g %s in waiting, and now %.3g", placeName(b),
				b.LostTime, before.Run.ClockUnit, a.LostTime)
		}
	}
	return nil
}

func placeName(s *analysis.Section) string {
	if s.EndsAt.Line == 0 {
		return s.EndsAt.Function + " " + s.EndsAt.Address
	}
	return fmt.Sprintf("%s:%d", s.EndsAt.File, s.EndsAt.Line)
}
