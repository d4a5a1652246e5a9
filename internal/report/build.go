package report

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/unit"
)

// Build makes the report of an analysis. Source text comes from the tables of
// the profile that was analysed.
func Build(res *analysis.Result, tables *profile.Tables) *Report {
	b := builder{files: fileIndex(tables)}
	r := &Report{
		Schema:   Schema,
		Tool:     res.Run.Tool,
		Program:  program(res),
		Whole:    whole(&res.Whole),
		Verdicts: verdicts(res.Verdicts),
		Notes:    notes(res.Run.Notes),
		Sections: make([]Section, len(res.Sections)),
		Serial:   make([]Stretch, len(res.Serial)),
		Loss:     newLoss(res.Loss),
		Locks:    newLocks(res.Loss, res.Locks),
		Costs:    convert(res.Costs, cost),
		Effort:   effort(res.Effort),
		Waste:    wasteOf(tables),
		Instrs:   instructions(tables),
	}
	if r.Loss != nil {
		r.Shares = &r.Loss.LossShares
	}
	for i := range res.Sections {
		r.Sections[i] = b.section(&res.Sections[i])
	}
	r.Waste.divide(res)
	r.nameLock()
	r.nameCause()
	for i := range res.Serial {
		r.Serial[i] = stretch(&res.Serial[i])
	}
	return r
}

// builder holds what the parts of a report are made from.
type builder struct {
	files map[string]map[int32]string // source text by path
}

// fileIndex finds the source text by path.
func fileIndex(t *profile.Tables) map[string]map[int32]string {
	index := map[string]map[int32]string{}
	for i := range t.Files {
		if f := &t.Files[i]; len(f.Lines) > 0 {
			index[f.Path] = f.Lines
		}
	}
	return index
}

func program(res *analysis.Result) Program {
	run := &res.Run
	return Program{
		Command: run.Command, Collector: run.Collector, Model: run.Model, Cores: run.Cores,
		Threads: res.Whole.Threads, Ranks: ranksOf(run.Notes), ClockUnit: run.ClockUnit,
		TimeLabel: run.TimeLabel, CountLabel: run.CountLabel, RunTime: res.Whole.RunTime,
		EndState: run.EndState, ExitStatus: run.ExitStatus, Complete: run.Complete, Resolved: run.Resolved,
		Measured: run.Measured,
	}
}

// ranksOf is of how many processes a run is put together, 0 if it is one alone.
func ranksOf(notes []profile.Note) int {
	i := slices.IndexFunc(notes, func(n profile.Note) bool { return n.Code == profile.NoteRanks })
	if i < 0 {
		return 0
	}
	return int(notes[i].N)
}

func whole(w *analysis.Whole) Whole {
	return Whole{
		Width: w.Width, UsefulTime: w.UsefulTime, ParallelEfficiency: w.ParallelEfficiency,
		LoadBalance: w.LoadBalance, CommunicationEfficiency: w.CommunicationEfficiency,
		SerialShare: w.SerialShare, LostTime: w.LostTime, LostShare: w.LostShare,
		LockShare: w.LockShare, OffCPUShare: w.OffCPUShare, ContendedShare: w.ContendedShare,
	}
}

// convert maps rows; the result is never nil, so that JSON has [] and not null.
func convert[From, To any](rows []From, f func(*From) To) []To {
	out := make([]To, len(rows))
	for i := range rows {
		out[i] = f(&rows[i])
	}
	return out
}

func verdicts(list []analysis.Verdict) []Verdict {
	return convert(list, func(v *analysis.Verdict) Verdict { return Verdict(*v) })
}

func notes(list []profile.Note) []Note {
	return convert(list, func(n *profile.Note) Note { return Note{Code: n.Code, Text: n.Text, Times: n.N} })
}

func place(p *analysis.Place) Place {
	return Place{File: p.File, Line: p.Line, Function: p.Function, Address: p.Address, Image: p.Image,
		Inlined: frames(p.Inlined)}
}

func frames(list []analysis.Frame) []Frame {
	if len(list) == 0 {
		return nil
	}
	return convert(list, func(f *analysis.Frame) Frame { return Frame(*f) })
}

func interval(i analysis.Interval) Interval { return Interval{i.Value, i.Lo, i.Hi} }

func stretch(s *analysis.Section) Stretch {
	out := Stretch{ID: int(s.ID), EndsAt: place(&s.EndsAt), Time: s.Time, TimeShare: s.TimeShare, AllLost: s.AllLost, Instances: s.InstanceCount, Loading: s.Loading}
	if s.Spent != nil {
		out.Spent = newSpent(s.Spent)
	}
	return out
}

func (b *builder) section(s *analysis.Section) Section {
	out := Section{
		AllLost: s.AllLost, Awaited: s.Awaited, Loss: lossShares(s.Loss),
		ID: int(s.ID), Kind: s.Kind, EndsAt: place(&s.EndsAt),
		Imbalance: s.Imbalance, LostShare: s.LostShare, LostTime: s.LostTime,
		Instances: s.InstanceCount, Team: Team{s.ThreadsMin, s.ThreadsMax}, Analysed: s.AnalysedCount,
		Time: s.Time, TimeToWin: s.TimeToWin, WinShare: s.WinShare, Speedup: s.Speedup,
		IdleShare: s.IdleShare, Contended: s.ContendedShare, Balanced: s.Balanced, Matters: s.Matters, Chance: s.Chance, Host: s.Host,
		ParallelShare: s.ParallelShare, Worst: worst(&s.Worst), Course: course(&s.Course),
		Exact: s.HasLedger, R2: interval(s.Explained), Events: eventStats(&s.Events),
		Verdicts: verdicts(s.Verdicts), Causes: []Cause{},
	}
	if s.Slower != nil {
		at := place(s.Slower)
		out.Slower = &at
	}
	if t := s.Tasks; t != nil {
		out.Tasks = &Tasks{Place: place(&t.Place), Count: t.Count, Mean: t.Mean, RuntimeShare: t.RuntimeShare, Advice: t.Advice}
	}
	if g := s.Granule; g != nil {
		out.Granule = &Granule{Place: place(&g.Place), Count: g.Count, Mean: g.Mean, Lead: g.Lead}
	}
	if starts := place(&s.Starts); starts.File != "" || starts.Function != "" {
		out.StartsAt = &starts
	}
	out.Threads, out.Balance = convert(s.Threads, threadTime), balance(s.Balance)
	if a := s.Ledger; a != nil && tells(a) {
		out.Ledger = account(a, s.Cancels)
	}
	b.causes(&out, s)
	return out
}

// causes fills in the important causes and the minor ones.
func (b *builder) causes(out *Section, s *analysis.Section) {
	for i := range s.Causes {
		c := b.cause(&s.Causes[i])
		if c.ShareKind == "ledger" && (s.Cancels || beyond(c.Share)) {
			c.dropShare(s.Causes[i].LedgerTime)
		}
		if s.Causes[i].Important {
			out.Causes = append(out.Causes, c)
		} else {
			out.Minor = append(out.Minor, c)
		}
	}
	for i := range s.Candidates {
		out.Candidates = append(out.Candidates, candidate(&s.Candidates[i]))
	}
}

func candidate(c *analysis.Cause) Candidate {
	out := Candidate{Family: c.Family, Event: c.Event, Title: cmp.Or(c.Title, profile.KindTitle(c.Event)), Place: place(&c.Place),
		Callee: c.Callee, Score: c.Score, Share: c.Share, PFamily: c.PFamily, Correlation: c.Correlation}
	out.Why = whyCandidate(c)
	return out
}

// leastCharge is the share below which the account charges a line next to nothing.
const leastCharge = 0.01

// whyCandidate says why a place that correlates is no cause.
func whyCandidate(c *analysis.Cause) string {
	switch {
	case c.Share != nil && beyond(*c.Share):
		return "correlates, but what the account charges it other rows take back"
	case c.Share != nil && math.Abs(*c.Share) < leastCharge:
		return "correlates, but the account charges it under 1 %"
	case c.Share != nil:
		return "correlates, but the account charges it " + unit.Percent(*c.Share)
	}
	return "correlates, but no better than chance may do"
}

func threadTime(t *analysis.ThreadTotal) ThreadTime {
	return ThreadTime{Thread: int(t.Thread), Name: t.Name, Time: t.Time, Wait: t.Wait,
		LockWait: t.LockWait, OffCPU: t.OffCPU, Last: t.Last}
}

func worst(d *analysis.InstanceDetail) Worst {
	return Worst{Seq: d.Seq, Imbalance: d.Imbalance, LostTime: d.LostTime, Times: d.Times, Waits: d.Waits,
		Threads: convert(d.Threads, func(t *profile.ThreadID) int { return int(*t) })}
}

func course(c *analysis.Course) Course {
	return Course{Shape: c.Shape, Text: c.Text, Points: convert(c.Points, func(p *analysis.Point) Point { return Point(*p) })}
}

func eventStats(e *analysis.EventStats) map[string]float64 {
	return map[string]float64{
		"total": e.Total, "constant": e.Constant, "caused": e.Caused, "kept": e.Kept, "distinct": e.Distinct,
		"clusters": e.Clusters, "control_flow": e.Control, "hardware": e.Hardware, "predictors": e.Predictors,
	}
}

func (b *builder) cause(c *analysis.Cause) Cause {
	out := Cause{
		Rank: c.Rank, Family: c.Family, Event: c.Event, Title: c.Title, Recursive: c.Recursive,
		Place: place(&c.Place), Callee: c.Callee, Score: c.Score, Sharing: c.Sharing, Data: c.Data, Against: c.Against, Luck: c.Luck, Elsewhere: c.Elsewhere,
		Share: c.R2.Value, ShareKind: "r2", R2: interval(c.R2),
		Beta: c.Beta, P: c.P, Correlation: c.Correlation, Stability: c.Stability, Agreement: c.Agreement,
		StableThreads: c.StableThreads, StableInstances: c.StableInstances,
		TimeToWin: c.TimeToWin, WinShare: c.WinShare, Sentence: c.Sentence, Seq: c.Seq,
		Summed: c.Summed, CountTime: c.CountTime,
	}
	out.CostShare = c.CostShare
	switch {
	case c.Share != nil:
		out.Share, out.ShareKind = *c.Share, "ledger"
	case c.CostShare > 0 && c.R2.Value == 0:
		out.Share, out.ShareKind = c.CostShare, "time"
	}
	if c.ShareInterval != nil {
		v := interval(*c.ShareInterval)
		out.ShareInterval = &v
	}
	out.Title = cmp.Or(out.Title, profile.KindTitle(out.Event))
	out.Source = b.source(out.Place, c.Text)
	out.Counts = convert(c.Threads, threadCount)
	out.Members = slices.DeleteFunc(convert(c.Members, member), func(m Member) bool {
		return m.File == out.File && m.Line == out.Line && m.Function == out.Function // the cause itself
	})
	slices.SortStableFunc(out.Members, func(x, y Member) int { return cmp.Compare(x.distance(out.File), y.distance(out.File)) })
	out.Rivals = convert(c.Rivals, rival)
	for i := range c.With {
		out.With = append(out.With, place(&c.With[i]))
	}
	for _, p := range c.Parts {
		out.Parts = append(out.Parts, Part(p))
	}
	out.Scores = convert(c.Instances, instanceScore)
	for _, path := range c.Paths {
		out.Paths = append(out.Paths, frames(path))
	}
	return out
}

func threadCount(t *analysis.ThreadCount) ThreadCount {
	return ThreadCount{Thread: int(t.Thread), Name: t.Name, Count: t.Count, Time: t.Time, Wait: t.Wait}
}

func member(m *analysis.Member) Member {
	return Member{Place: place(&m.Place), Family: m.Family, Kinds: m.Kinds, Events: m.Events}
}

// distance orders the lines that a cause drags along: those of its own file,
// those of others, places without a line.
func (m *Member) distance(file string) int {
	switch m.File {
	case file:
		return 0
	case "":
		return 2
	}
	return 1
}

func rival(r *analysis.Rival) Rival {
	return Rival{Place: place(&r.Place), Event: r.Event, R2: r.R2, Correlation: r.Correlation}
}

func instanceScore(s *analysis.InstanceScore) InstanceScore {
	return InstanceScore{Seq: s.Seq, Weight: s.Weight, Imbalance: s.Imbalance, Score: s.Score, R2: s.R2}
}

// around is the number of source lines shown on either side of a cause.
const around = 3

// source returns the lines around p; text stands in for its own line if the
// profile has no more.
func (b *builder) source(p Place, text string) []SourceLine {
	var out []SourceLine
	lines := b.files[p.File]
	for n := p.Line - around; n <= p.Line+around; n++ {
		t, ok := lines[int32(n)]
		if n == p.Line && !ok {
			t, ok = text, text != ""
		}
		if ok && n > 0 {
			out = append(out, SourceLine{Line: n, Text: t, Mark: n == p.Line})
		}
	}
	return out
}
