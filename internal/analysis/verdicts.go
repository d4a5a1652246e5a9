package analysis

import (
	"fmt"
	"math"
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/unit"
)

// sectionVerdicts judges what a section's data can tell.
func sectionVerdicts(m *profile.Meta, s *Section, opt Options) []Verdict {
	var out []Verdict
	say := func(code, severity, format string, args ...any) {
		out = append(out, Verdict{code, severity, fmt.Sprintf(format, args...)})
	}
	if s.ContendedShare == 0 { // a piece of work is mostly waiting otherwise
		granuleVerdict(s, m.ClockUnit, say)
	}
	contentionVerdict(s, say)
	luckVerdict(s, say)
	chanceVerdict(s, m.ClockUnit, say)
	hostVerdict(s, say)
	helperVerdict(s, m.ClockUnit, say)
	if s.Balanced {
		taskVerdict(s, m.ClockUnit, say)
		balancedVerdict(s, m.ClockUnit, say)
		return out
	}
	if !s.Matters {
		smallVerdict(s, say)
	}
	threadVerdict(s, say)
	if s.InstanceCount == 1 && slices.ContainsFunc(s.Causes, func(c Cause) bool { return c.Important && c.CostShare == 0 }) {
		say("few-instances", SeverityInfo, "There is one instance only: whether the cause is always the same cannot be told.")
	}
	if m.TimeLabel != profile.Sampled && s.Time/float64(s.InstanceCount) < shortSection {
		say("too-short", SeverityWarn, "An instance takes %s %s on average: small differences in synchronisation weigh much.",
			unit.SI(s.Time/float64(s.InstanceCount)), m.ClockUnit)
	}
	if m.CountLabel == profile.Sampled && s.samples > 0 && s.samples < fewSamples {
		say("few-samples", SeverityWarn,
			"There are %.1f samples for a thread and instance: too few to compare threads. Let the program run "+
				"longer, or sample more often.", s.samples)
	}
	switch {
	case s.OffCPUShare <= muchWaiting, s.named(s.OffCPUShare, profile.FamilyOffCore):
	case len(s.Threads) > m.Cores: // a recording's cores are never fewer: its times hold no waits for one
		say("off-cpu-dominates", SeverityWarn,
			"%s of the threads' time here is spent off the processor: run with no more threads than cores.", unit.Percent(s.OffCPUShare))
	default:
		say("off-cpu-dominates", SeverityWarn,
			"%s of the threads' time here is spent off the processor, and not for want of one: they sleep, or wait "+
				"for input, output or memory.", unit.Percent(s.OffCPUShare))
	}
	if s.AnalysedCount < s.InstanceCount && opt.MaxInstances >= 0 && s.AnalysedCount >= opt.MaxInstances {
		say("sampled-instances", SeverityInfo, "%d of %d instances were analysed; they hold %s of the lost time.",
			s.AnalysedCount, s.InstanceCount, unit.Percent(s.AnalysedShare))
	}
	taskVerdict(s, m.ClockUnit, say)
	if m.Collector == "simulate" {
		workerVerdict(s, say)
	}
	explanationVerdict(s, opt, say)
	return out
}

// contentionVerdict says how much of their time the threads keep one another waiting.
func contentionVerdict(s *Section, say func(code, severity, format string, args ...any)) {
	switch {
	case s.named(max(s.LockShare, s.ContendedShare), profile.FamilyLock, profile.FamilyWait, profile.FamilyMemory):
	case s.LockShare > muchWaiting:
		say("lock-dominates", SeverityWarn,
			"%s of the threads' time here is spent waiting for locks, or for what other threads store.", unit.Percent(s.LockShare))
	case s.ContendedShare > 0:
		say("contended", SeverityWarn, "The threads keep one another waiting for %s of their time here.", unit.Percent(s.ContendedShare))
	}
}

// named reports whether the causes name the places of most of a share of the threads' time: then
// they say more than a verdict would.
func (s *Section) named(share float64, families ...profile.Family) bool {
	sum := 0.0
	for i := range s.Causes {
		if slices.Contains(families, profile.FamilyOf(s.Causes[i].Event)) {
			sum += s.Causes[i].CostShare
		}
	}
	return sum > littleFound*share
}

// luckVerdict says that the first cause may be one of where pages happened to lie, and how to find
// out.
func luckVerdict(s *Section, say func(code, severity, format string, args ...any)) {
	if len(s.Causes) > 0 && s.Causes[0].Luck && s.Causes[0].Important {
		say("luck", SeverityWarn, "The first cause is made of conflicts between pages that fell into the same part of "+
			"a cache, and is not there, or at another thread, where the program's pages lie in other places: "+
			"'lime whatif --seeds 20' runs it under 20 placements.")
	}
}

// workerVerdict says of threads that waited for work whether one of them did it all, or none was
// busy all the time.
func workerVerdict(s *Section, say func(code, severity, format string, args ...any)) {
	if s.Tasks != nil || len(s.Threads) < 2 {
		return
	}
	own, most := 0.0, &s.Threads[0]
	for i := range s.Threads {
		own += s.Threads[i].Time
		if s.Threads[i].Time > most.Time {
			most = &s.Threads[i]
		}
	}
	switch {
	case most.Time >= loneShare*own && s.ThreadsMin > 2 && s.InstanceCount == 1:
		say("one-works", SeverityInfo, "Thread %d did %s of this section's work; the others had none, or waited "+
			"for it.", most.Thread, unit.Percent(ratio(most.Time, own)))
	case s.AwayShare >= HighShare && s.Kind != string(profile.SectionBarrier) && s.Kind != string(profile.SectionRegion):
		say("nobody-busy", SeverityWarn,
			"For %s of this section even the thread that worked longest (thread %d) waited for work: no stage is busy all the time. "+
				"Too little is under way at once, or the first and the last of it pass the stages one by one.", unit.Percent(s.AwayShare), most.Thread)
	}
}

func threadVerdict(s *Section, say func(code, severity, format string, args ...any)) {
	switch {
	case s.ThreadsMax >= fewThreads:
	case s.HasLedger:
		say("few-threads", SeverityInfo,
			"With %d threads correlation says little: scores are weak or missing. The account of the lost time is exact all the same.", s.ThreadsMax)
	case s.ThreadsMax < minThreads:
		say("too-few-threads", SeverityWarn,
			"With %d threads there is nothing to correlate; only an exact account can tell (lime simulate). Or try 8 threads or more.", s.ThreadsMax)
	default:
		say("few-threads", SeverityWarn,
			"With %d threads much correlates by chance: take the causes with care, or run with 8 threads or more.", s.ThreadsMax)
	}
}

func explanationVerdict(s *Section, opt Options, say func(code, severity, format string, args ...any)) {
	if s.Cancels && s.HasLedger { // no share of it says anything
		return
	}
	if first := shareOf(s, ledger.FirstCalls); first > lostShare {
		say("first-calls", SeverityInfo,
			"%s of the lost time is that of the thread which called library functions first: the dynamic linker looks them up then, once. "+
				"LD_BIND_NOW=1 does that at the start.", unit.Percent(first))
		if first > littleFound {
			return
		}
	}
	if loading := shareOf(s, ledger.Loading); loading > lostShare {
		say("loading", SeverityInfo, "%s of the lost time is that of libraries which do something by themselves as they are loaded and left. "+
			"No line of the program asks for that.", unit.Percent(loading))
		if loading > littleFound {
			return
		}
	}
	switch {
	case s.HasLedger && math.Abs(otherShare(s.Ledger)) > lostShare:
		say("unaccounted", SeverityWarn,
			"%s of the lost time belongs to no decision of a source line: threads entered at other places, or left by ways that cannot be followed.",
			unit.Percent(otherShare(s.Ledger)))
	case len(s.Causes) > 0 && (s.HasLedger || s.Explained.Value >= littleFound):
	case len(s.Causes) > 0:
		say("unexplained", SeverityWarn, "%s of the variance in time stays unexplained.", unit.Percent(1-s.Explained.Value))
	case s.HasLedger && s.Ledger.Rest.Share > littleFound:
		say("spread-thin", SeverityWarn,
			"%s of the lost time is spread over %d places, each below %s: many small differences, or one far above "+
				"them, such as how much work a thread was given.",
			unit.Percent(s.Ledger.Rest.Share), s.Ledger.Rest.Rows, unit.Percent(opt.MinShare))
	case len(s.Candidates) == 0:
		say("nothing-found", SeverityWarn, "Nothing that was counted explains the imbalance.")
	default:
		say("nothing-significant", SeverityWarn,
			"Something correlates with the times, but no more than chance allows among %.0f groups of events: more "+
				"threads or another input may tell.", s.Events.Clusters)
	}
}

// shareOf is the share of a kind of row.
func shareOf(s *Section, kind ledger.Kind) float64 {
	if s.Ledger == nil {
		return 0
	}
	sum := 0.0
	for i := range s.Ledger.Rows {
		if s.Ledger.Rows[i].Kind == kind {
			sum += s.Ledger.Rows[i].Share
		}
	}
	return sum
}

// wholeVerdicts judges the profile.
func wholeVerdicts(m *profile.Meta, res *Result) []Verdict {
	var out []Verdict
	if !m.Complete {
		out = append(out, Verdict{"incomplete", SeverityWarn,
			"The profile was not closed in order; it holds the instances that were finished by then."})
	}
	if m.EndState == "signalled" || m.EndState == "deadlock" || m.EndState == "lime-failed" {
		out = append(out, Verdict{"abnormal-end", SeverityWarn, "The program did not end in order: " + m.EndState + "."})
	}
	for i := range res.Sections {
		if s := &res.Sections[i]; !s.Matters { // the others are explained in full themselves
			taskVerdict(s, m.ClockUnit, func(code, severity, format string, args ...any) {
				out = append(out, Verdict{code, severity, fmt.Sprintf("Section at %s: ", s.EndsAt.short()) + fmt.Sprintf(format, args...)})
			})
		}
	}
	if serial := res.Whole.SerialShare; serial >= mostlySerial && len(res.Sections) > 0 {
		out = append(out, Verdict{"mostly-serial", SeverityInfo, fmt.Sprintf("The run is mostly serial: for %s of it at most one thread works. "+
			"To make its parallel sections even concerns the other %s.", unit.Percent(serial), unit.Percent(1-serial))})
	}
	if len(res.Sections) == 0 {
		out = append(out, Verdict{"no-sections", SeverityWarn,
			"No parallel section was found: no two threads met at a barrier, a join or the end of a parallel region."})
	}
	return out
}
