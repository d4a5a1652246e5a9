package analysis

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/unit"
)

// posted makes a cause that only the ledger knows.
func (r *runner) posted(sec *Section, p *posting) *Cause {
	row := p.rows[0]
	c := &Cause{Event: p.event, Family: FamilyControl, P: 1, PFamily: 1, Seq: row.Worst.Seq, key: r.rowKey(row, p.hw)}
	c.Title = controlTitles[p.event]
	if p.hw {
		c.Family = FamilyHardware
		c.Title = cmp.Or(r.kindTitle(c.key.kind), waitTitles()[p.event], "the same code, slower")
	}
	if title, ok := rowTitles()[row.Kind]; ok {
		c.Title = title
	}
	c.Place = r.ledgerPlace(&row.Place)
	if row.Place.Node >= 0 {
		c.Nodes = []profile.NodeID{row.Place.Node}
	}
	c.Threads = r.ledgerThreads(sec, p)
	c.edge = graphNone
	if w := p.way(sec.Ledger); w != nil && int(w.Edge) < len(r.prog.to) {
		c.edge = r.prog.to[w.Edge]
	}
	c.Summed, c.CountTime = true, p.way(sec.Ledger) == nil && p.tasks() == nil
	if p.hw || c.CountTime {
		c.Callee = row.Callee
		c.Subject = r.subjectOf(c)
		c.Sentence = r.priceSentence(sec, p) + c.Subject.words()
	} else {
		r.way(c, p.way(sec.Ledger))
		c.Sentence = r.sentence(c, finding{key: c.key, event: graphNone}, sec.InstanceCount) + testWords(row)
		if few := p.fewChunks(sec); few != nil {
			c.Title, c.Sentence = few.title(), few.sentence(r, c.Threads)
		}
	}
	return c
}

// rowTitles name kinds of row that say more than their event.
func rowTitles() map[ledger.Kind]string {
	return map[ledger.Kind]string{ledger.OtherStart: "work given to a thread", ledger.Chosen: "work for one thread"}
}

// waitTitles name time that no event explains: it has no place.
func waitTitles() map[string]string {
	return map[string]string{"off-cpu": "time off the core", "lock-wait": "lock wait"}
}

func (r *runner) ledgerPlace(p *ledger.Place) Place {
	pl := Place{File: p.File, Line: int(p.Line), Function: p.Function, Image: p.Image}
	if p.Addr != 0 {
		pl.Address = unit.Addr(p.Addr).String()
	}
	if id, ok := r.files[p.File]; ok {
		pl.Text = r.tab.Files[id].Lines[p.Line]
	}
	for i, f := range p.Frames {
		if i == 0 {
			pl.Column = int(f.Column)
			continue
		}
		pl.Inlined = append(pl.Inlined, Frame{File: f.File, Line: int(f.Line), Function: f.Function})
	}
	return pl
}

// way names the callee of a call, and the recursion.
func (r *runner) way(c *Cause, w *ledger.EdgeCount) {
	if e := w; e != nil && int(e.Edge) < len(r.prog.to) && isCall(r.prog.edges[r.prog.to[e.Edge]].Kind) {
		edge := r.prog.to[e.Edge]
		c.Callee = r.prog.callee(edge)
		c.Recursive = r.prog.s.Recur[edge]
	}
	c.Correlation = correlation(c.Threads)
}

// way is the posting's edge whose counts differ most between the threads, of those that the slow
// threads take more often, if there are any.
func (p *posting) way(acc *ledger.Account) *ledger.EdgeCount {
	var best *ledger.EdgeCount
	most, dear := uint64(0), false
	for _, row := range p.rows {
		for i := range row.Edges {
			n := row.Edges[i].Counts
			if len(n) == 0 {
				continue
			}
			d, up := slices.Max(n)-slices.Min(n), rises(n, acc.Deviation)
			if best == nil || cmp.Or(compareBool(up, dear), cmp.Compare(d, most), cmp.Compare(row.Edges[i].Value, best.Value)) > 0 {
				best, most, dear = &row.Edges[i], d, up
			}
		}
	}
	return best
}

// rises says whether counts rise with the threads' times.
func rises(counts []uint64, deviation []float64) bool {
	sum := 0.0 // the deviations add up to nil
	for i := range min(len(counts), len(deviation)) {
		sum += float64(counts[i]) * deviation[i]
	}
	return sum > 0
}

// ledgerThreads puts the counts of the posting's way, or of its tasks, summed over the instances,
// beside the threads' times.
func (r *runner) ledgerThreads(sec *Section, p *posting) []ThreadCount {
	way := p.way(sec.Ledger)
	counts := p.tasks()
	if counts == nil {
		counts = r.wayCounts(p, way)
	}
	var out []ThreadCount
	for i, id := range sec.Ledger.Threads {
		t := ThreadCount{Thread: id, Name: threadName(r.tab, id)}
		if i < len(counts) {
			t.Count = counts[i]
		} else if way == nil {
			t.Count = uint64(math.Max(0, math.Round(p.spent(i))))
		}
		if k, ok := slices.BinarySearchFunc(sec.Threads, id,
			func(a ThreadTotal, b profile.ThreadID) int { return cmp.Compare(a.Thread, b) }); ok {
			t.Time, t.Wait, t.instances = sec.Threads[k].Time, sec.Threads[k].Wait, sec.Threads[k].Instances
		}
		out = append(out, t)
	}
	return out
}

// wayCounts are the counts of a way by thread. A loop that is tested at its bottom stays in it once
// less than it has iterations: there the visits of the test count.
func (r *runner) wayCounts(p *posting, way *ledger.EdgeCount) []uint64 {
	if way == nil {
		return nil
	}
	edge := r.prog.to[way.Edge]
	if p.event != EventLoop || r.prog.testedBelow(edge) == graphNone {
		return way.Counts
	}
	n := make([]uint64, len(way.Counts))
	for _, row := range p.rows {
		for i := range row.Edges {
			e := &r.prog.edges[r.prog.to[row.Edges[i].Edge]]
			if e.From != r.prog.edges[edge].From || e.Kind == profile.EdgeReturn {
				continue
			}
			for k, c := range row.Edges[i].Counts {
				n[k] += c
			}
		}
	}
	return n
}

// spent is the time that the posting put on a thread beyond the least burdened one.
func (p *posting) spent(thread int) float64 {
	own, least := 0.0, math.Inf(1)
	for k := range p.rows[0].Threads {
		s := 0.0
		for _, row := range p.rows {
			if k < len(row.Threads) {
				s += row.Threads[k]
			}
		}
		if least = min(least, s); k == thread {
			own = s
		}
	}
	return own - least
}

func (r *runner) priceSentence(sec *Section, p *posting) string {
	hi, lo := 0, 0
	for i := range sec.Ledger.Threads {
		if p.spent(i) > p.spent(hi) {
			hi = i
		}
		if p.spent(i) < p.spent(lo) {
			lo = i
		}
	}
	if len(sec.Ledger.Threads) == 0 {
		return ""
	}
	words, tail := "The same code costs thread %d %s more here than thread %d", ""
	switch {
	case p.event == EventEntry:
		return fmt.Sprintf("Thread %d comes into this section at another place than the others and does other work, "+
			"most of it from this line on: it takes %s longer than thread %d.",
			sec.Ledger.Threads[hi], r.duration(p.spent(hi)), sec.Ledger.Threads[lo])
	case p.rows[0].Kind == ledger.OtherStart:
		return startSentence(r.tab, sec, sec.Ledger.Threads[hi], sec.Ledger.Threads[lo], r.duration(p.spent(hi)))
	case !p.hw && p.rows[0].Inside != nil:
		words, tail = "Thread %d spends %s more in what is called here than thread %d", inside(p.rows[0])
	case !p.hw:
		words = "Thread %d spends %s more here than thread %d"
	case p.event == profile.KindSleep:
		words = "Thread %d sleeps %s more here than thread %d"
	case profile.FamilyOf(p.event) == profile.FamilyOffCore:
		words = "Thread %d is off its core for %s more here than thread %d"
	case p.event == "spin-wait":
		words = "Thread %d waits %s more here for other threads than thread %d"
	case p.event == profile.KindPermitWait:
		words = "Thread %d waits %s more here for a lock or semaphore that others hold than thread %d"
	case p.event == "lock-wait":
		words = "Thread %d waits %s more for locks than thread %d"
	}
	return fmt.Sprintf(words, sec.Ledger.Threads[hi], r.duration(p.spent(hi)), sec.Ledger.Threads[lo]) + tail + "."
}

// startSentence says that a thread, or goroutine, was started with a function of its own.
func startSentence(tab *profile.Tables, sec *Section, hi, lo profile.ThreadID, longer string) string {
	name := ""
	if n := threadName(tab, hi); n != "" && n != threadName(tab, lo) {
		name = " (" + n + ")"
	}
	return fmt.Sprintf("Thread %d%s was started with this function, others with another one: what differs is the work that it was given. "+
		"It takes %s longer than thread %d%s.", hi, name, longer, lo, mostAt(sec))
}

// mostAt names the line at which the last threads spend most of what they take longer.
func mostAt(sec *Section) string {
	at := sec.Ledger.Spent
	if at == nil || at.Line == 0 {
		return ""
	}
	return fmt.Sprintf(": %s of the difference at %s:%d", unit.Percent(min(1, at.Share)), path.Base(at.File), at.Line)
}

// inside names what a line of the program's own has called, and where in the library the time went.
func inside(row *ledger.Row) string {
	at := row.Inside
	s := ", most in " + cmp.Or(at.Function, "code without a name")
	if at.Line > 0 {
		s += fmt.Sprintf(" (%s:%d)", path.Base(at.File), at.Line)
	}
	return s
}

// testWords says where the test of a decision stands that was made in an inlined function.
func testWords(row *ledger.Row) string {
	switch {
	case row.Kind == ledger.Chosen:
		return fmt.Sprintf(" The runtime chooses who does it, at %s:%d.", path.Base(row.Test.File), row.Test.Line)
	case row.Test == nil || row.Kind == ledger.Entry || row.Kind == ledger.Dealt:
		return ""
	}
	return fmt.Sprintf(" What %s returns decides, at %s:%d: the compiler has the test there.",
		cmp.Or(row.Test.Function, "an inlined function"), path.Base(row.Test.File), row.Test.Line)
}

// correlation is that of the counts with the times.
func correlation(ts []ThreadCount) float64 {
	n, t := make([]float64, len(ts)), make([]float64, len(ts))
	for i, c := range ts {
		n[i], t[i] = float64(c.Count), c.Time
	}
	return pearson(n, t)
}
