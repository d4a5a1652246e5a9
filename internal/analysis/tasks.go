package analysis

import (
	"fmt"
	"path"
	"slices"

	"lime/internal/ledger"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/unit"
)

// runtimeNodes tells the blocks of runtimes from others: a function of the program's own that is
// inlined into one of a runtime's is none.
func runtimeNodes(tab *profile.Tables) func(profile.NodeID) bool {
	names, its := newRuntimes(tab), make([]bool, len(tab.Nodes))
	for v := range its {
		owners := names.owners(profile.NodeID(v))
		i := slices.IndexFunc(owners, func(o origin.Owner) bool { return o.Runtime() || o == origin.Program })
		its[v] = i >= 0 && owners[i].Runtime()
	}
	return func(v profile.NodeID) bool { return v >= 0 && int(v) < len(its) && its[v] }
}

// evenTasks looks for the tasks of a section whose threads had equally much to do, but did nothing
// for much of its time.
func (r *runner) evenTasks(sec *Section) error {
	acc, err := r.book.Section(sec.ID, ledger.Options{Workers: r.opt.Workers})
	if err != nil {
		return fmt.Errorf("section %d: %w", sec.ID, err)
	}
	r.tasks(sec, acc)
	return nil
}

// tasks says what tasks the section's threads were given, if any.
func (r *runner) tasks(sec *Section, acc *ledger.Account) {
	if len(acc.Tasks) == 0 {
		return
	}
	t := &Tasks{Place: r.ledgerPlace(&acc.Tasks[0].Place), Maker: profile.ThreadID(profile.None)}
	for i := range acc.Tasks {
		t.Count += acc.Tasks[i].Count
	}
	own, overhead := 0.0, 0.0
	for i := range sec.Threads {
		own += sec.Threads[i].Time
	}
	for _, x := range acc.Runtime {
		overhead += x
	}
	t.Mean, t.RuntimeShare = ratio(own, float64(t.Count)), ratio(overhead, own)
	if len(acc.Runtime) > 0 && overhead > 0 {
		most := slices.Max(acc.Runtime)
		t.Maker, t.MakerShare = acc.Threads[slices.Index(acc.Runtime, most)], most/overhead
	}
	t.Advice = advice(sec.IdleShare >= HighShare, t.RuntimeShare >= HighShare)
	if t.Advice == AdviceChange && t.enough(float64(sec.ThreadsMax*max(1, sec.InstanceCount))) {
		t.Advice = AdviceCoarsen
	}
	sec.Tasks = t
}

// enough says whether there would be a task for each thread, were they as much larger as it takes for
// the runtime's part to be low: what the runtime does is for a task, however large that is.
func (t *Tasks) enough(threads float64) bool {
	larger := ratio(t.RuntimeShare*(1-HighShare), (1-t.RuntimeShare)*HighShare)
	return larger > 0 && float64(t.Count)/larger >= threads
}

// tasks are the numbers of tasks, or of chunks of work, by thread, nil if the posting is about neither.
func (p *posting) tasks() (n []uint64) {
	if p.event == EventChunk {
		return p.rows[0].Dealt
	}
	if p.event != EventTask {
		return nil
	}
	for _, row := range p.rows {
		for i, k := range row.Tasks {
			for len(n) <= i {
				n = append(n, 0)
			}
			n[i] += k
		}
	}
	return n
}

// short names a place in a sentence.
func (p *Place) short() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(p.File), p.Line)
	case p.Function != "":
		return p.Function
	}
	return p.Address
}

// taskVerdict says in plain words what is wrong with the tasks: too few at a time, too small, or
// both.
func taskVerdict(s *Section, clock string, say func(code, severity, format string, args ...any)) {
	t := s.Tasks
	if t == nil || t.Advice == AdviceEffective {
		return
	}
	words := map[string]string{
		AdviceCoarsen: "The tasks are too small: make fewer and larger ones.",
		AdviceRefine: "There are not enough of them at a time: make more of them, earlier, or smaller ones, and " +
			"leave less to do before and after them.",
		AdviceChange: "They are too small, and too few at a time: there is too little work for so many threads, or it " +
			"has to be divided in another way.",
	}[t.Advice]
	if t.MakerShare >= soleMaker && s.ThreadsMax > 2 && t.Advice != AdviceCoarsen {
		words += " Nearly all of them are made by one thread."
	}
	say("tasks", SeverityWarn, "Threads waited for tasks, or looked for some, for %s of this section; making and "+
		"handing them out takes %s of the work. "+
		"%s tasks, %s %s of work each, most of it at %s. %s",
		unit.Percent(s.IdleShare), unit.Percent(t.RuntimeShare), unit.SI(float64(t.Count)), unit.SI(t.Mean), clock, t.short(), words)
}
