package analysis

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// runner holds what all sections share.
type runner struct {
	src  profile.Source
	meta *profile.Meta
	tab  *profile.Tables
	opt  Options
	prog *program
	book *ledger.Ledger

	lossTab *lossTable
	sharing *members
	raw     profile.Source // with those that only help

	files    map[string]profile.FileID
	graphs   *procs                         // of sampled profiles
	often    []uint64                       // by event: how often it was in the section's instances, of those with a detail
	tooFew   []profile.SectionID            // sections with too few samples
	parallel float64                        // the threads' time in all parallel sections
	noisy    map[profile.SectionID]string   // sections in which nothing speaks for the program: what was seen
	unproved map[profile.SectionID]bool     // sections whose threads differ by nothing that proves it the program's doing
	dear     map[profile.SectionID]dearCode // code that runs equally often in all threads and takes some of them longer
}

// Run analyses a profile.
func Run(src profile.Source, opt Options) (*Result, error) {
	whole := src.Tables()
	r := &runner{meta: src.Meta(), opt: opt.withDefaults(), dear: map[profile.SectionID]dearCode{},
		noisy: map[profile.SectionID]string{}, unproved: map[profile.SectionID]bool{}}
	if !r.isSampled() {
		src = profile.Own(src)
	}
	r.sharing = newMembers(r.meta, whole)
	r.raw, r.src, r.tab = src, sharers{src, r.sharing}, src.Tables()
	if r.opt.Workers <= 0 {
		r.opt.Workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		r.book = ledger.New(r.src)
		r.book.Runtime = runtimeNodes(whole)
		r.lossTab = newLossTable(r.meta, r.tab, r.book.Runtime, r.isSampled())
	})
	r.prog = newProgram(r.tab)
	wg.Wait()
	r.files = map[string]profile.FileID{}
	for i, f := range r.tab.Files {
		if _, ok := r.files[f.Path]; !ok {
			r.files[f.Path] = profile.FileID(i)
		}
	}
	sums, err := r.summaries()
	if err != nil {
		return nil, err
	}
	res := &Result{Run: runInfo(r.meta), Whole: wholeProgram(r.meta, r.tab, sums), Options: r.opt}
	for _, s := range sums {
		if !s.serial() {
			r.parallel += s.span
		}
	}
	for _, s := range sums {
		sec, err := r.section(s, &res.Whole)
		if err != nil {
			return nil, err
		}
		if s.serial() {
			res.Serial = append(res.Serial, sec)
		} else {
			res.Sections = append(res.Sections, sec)
			res.Whole.ContendedShare += ratio(sec.ContendedTime, res.Whole.RunTime*res.Whole.cores(s))
		}
	}
	res.Whole.ContendedShare = min(res.Whole.ContendedShare, 1)
	res.Effort = r.effort(res.Whole.Width)
	res.Locks = newLockReader(r.tab, r.prog).uses()
	res.Loss = r.lossAccount(res.Whole.time, sums, res)
	res.Effort.bound(sums)
	res.Effort.follow(res.Loss, noted(r.meta, "samples"))
	r.weighAll(res)
	res.Whole.follow(res.Loss)
	sortSections(res)
	if err := (loneliness{r}).tell(res); err != nil {
		return nil, err
	}
	res.Costs = r.costs(sums)
	res.Verdicts = wholeVerdicts(r.meta, res)
	return res, nil
}

// summaries reads the times of every section that has instances, of several sections at a time.
func (r *runner) summaries() ([]*summary, error) {
	out, errs := make([]*summary, len(r.tab.Sections)), make([]error, len(r.tab.Sections))
	slots := make(chan struct{}, r.opt.Workers)
	var wg sync.WaitGroup
	for id := range out {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[id], errs[id] = summarise(r, profile.SectionID(id))
		})
	}
	wg.Wait()
	return slices.DeleteFunc(out, func(s *summary) bool { return s == nil || s.instances == 0 }), cmp.Or(errs...)
}

func sortSections(res *Result) {
	slices.SortStableFunc(res.Sections, func(a, b Section) int {
		return cmp.Or(cmp.Compare(b.AllLost, a.AllLost), cmp.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(res.Serial, func(a, b Section) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.ID, b.ID))
	})
}

func runInfo(m *profile.Meta) RunInfo {
	return RunInfo{Tool: m.Tool, Collector: m.Collector, Model: m.Model, Command: m.Command, Cores: m.Cores,
		ClockUnit: m.ClockUnit, ClockHz: m.ClockHz, TimeLabel: labelName(m.TimeLabel), CountLabel: labelName(m.CountLabel),
		EndState: m.EndState, ExitStatus: m.ExitStatus, Complete: m.Complete, Resolved: m.Resolved, Measured: measured(m), Notes: m.Notes}
}

func labelName(l profile.Label) string {
	names := [...]string{"measured", "modelled", "sampled", "unavailable"}
	if int(l) < len(names) {
		return names[l]
	}
	return "unavailable"
}

// section makes a section's answer: its figures and its causes, however small its loss is.
func (r *runner) section(s *summary, whole *Whole) (Section, error) {
	sec := s.section(r, whole)
	if s.serial() {
		return sec, nil
	}
	if s.win > 0 {
		explain := r.explain
		if r.isSampled() {
			explain = func(sec *Section, _ *summary) error { return r.explainSampled(sec) }
		}
		if err := explain(&sec, s); err != nil {
			return sec, err
		}
		r.evenButForEnds(&sec)
		sec.evenButForChance()
	} else if sec.AwayShare >= HighShare && !r.isSampled() {
		if err := r.evenTasks(&sec); err != nil {
			return sec, err
		}
	}
	if sec.Balanced = r.even(&sec, s); sec.Balanced {
		sec.demote()
	}
	if err := r.contend(&sec, s, whole); err != nil {
		return sec, err
	}
	if err := r.waited(&sec, s); err != nil {
		return sec, err
	}
	r.weigh(&sec)
	sec.Verdicts = sectionVerdicts(r.meta, &sec, r.opt)
	r.sampledVerdicts(&sec)
	return sec, nil
}

// measured is nil if the whole run was.
func measured(m *profile.Meta) *Measured {
	if len(m.Region) == 0 {
		return nil
	}
	return &Measured{Options: m.Region, Time: m.RegionTime, Whole: m.WholeTime, Stretches: m.Stretches}
}
