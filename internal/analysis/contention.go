package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// contentions are the events in which threads keep one another waiting, each with what helps. A
// coherence miss is one only where it is known with whom the line is shared: a line that a thread
// merely takes over moves once. What is served is a queue for all that miss, wherever they do: no
// line causes the wait that it sees, and what the program decides comes first. So it is with a wait
// for others' work: what those do is why. Who sleeps, or waits for a file, keeps nobody waiting,
// and what it leaves undone is lost all the same.
var contentions = map[string]contention{
	"lock-wait": {"wait", "waits", "for a lock here", "Hold it for less work, take it less often, or split what it guards.", false},
	profile.KindPermitWait: {"wait", "waits", "here for a lock or semaphore that others hold",
		"Hold it for less work, or let more threads have it at a time.", false},
	"spin-wait": {"wait", "waits", "here for what another thread stores", "Let that thread do less before it.", false},
	"work-wait": {"wait", "waits", "here for others' work",
		"Let those who have yet to do it do less before it, or let more of them do it.", true},
	"coherence-miss": {"take", "takes", "a cache line from one another here",
		"Give each thread a line of its own, or let it collect what it has to say and write that once.", false},
	"bus-wait":    {"wait", "waits", "for the shared bus here", "Fewer accesses that miss, or fewer threads, would help.", true},
	"memory-wait": {"wait", "waits", "for memory here", "Fewer accesses that miss, or fewer threads, would help.", true},
	profile.KindSleep: {"sleep", "sleeps", "here",
		"Wait for what is slept for (a condition, a semaphore, a queue), or sleep for less.", false},
	profile.KindIO: {"wait", "waits", "for input or output here",
		"Ask for it earlier or in larger pieces, or let other threads work meanwhile.", false},
	profile.KindFault: {"wait", "waits", "for pages here", "Touch the memory before, or ask for larger pages.", false},
	profile.KindMap: {"wait", "waits", "here to change the memory map, of which all threads share the lock",
		"Ask the kernel for memory less often, in larger pieces, and keep what was given back.", false},
}

// contention says what threads do in an event, many of them and one, and what helps.
type contention struct {
	do, does, what, remedy string
	served                 bool
}

// contend names the lines at which the section's threads keep one another waiting. What all of them
// pay alike is no imbalance, and often more than what one would win by balance: then it comes
// first, if it is a lock or a line that the program has them fight for. Waits for what serves
// everybody come by what they add to the imbalance, where that is worth while: paid alike, they say
// nothing about why the threads differ.
func (r *runner) contend(sec *Section, s *summary, whole *Whole) error {
	paid := r.contended(s)
	if len(paid) == 0 {
		return nil
	}
	if err := r.paidBy(sec.ID, paid); err != nil {
		return err
	}
	for i := range paid {
		if profile.FamilyOf(paid[i].Event) != profile.FamilyOffCore {
			sec.ContendedTime += paid[i].Time
		}
		c := r.contention(sec, s, &paid[i])
		sec.oneCause(&c)
		if k := slices.IndexFunc(sec.Causes, func(d Cause) bool { return sameEvent(&d, &c) }); k >= 0 {
			sec.Causes[k].pays(&c)
		} else {
			sec.Causes = append(sec.Causes, c)
		}
	}
	sec.ofWaits()
	sec.ContendedShare = ratio(sec.ContendedTime, s.own)
	uneven := sec.LostTime >= worthwhile*r.parallel
	slices.SortStableFunc(sec.Causes, func(a, b Cause) int {
		if a.CostShare == 0 && b.CostShare == 0 {
			return 0
		}
		return cmp.Or(compareBool(b.Important, a.Important), cmp.Compare(b.gain(uneven), a.gain(uneven)))
	})
	renumber(sec.Causes)
	return nil
}

// ofWaits takes the decisions on a line at which threads wait together with the wait: how a lock
// that is not free is waited for is no decision of the program's.
func (sec *Section) ofWaits() {
	for i := range sec.Causes {
		wait := &sec.Causes[i]
		if wait.CostShare == 0 || wait.Line == 0 || !profile.FamilyOf(wait.Event).Waits() {
			continue
		}
		for k := range sec.Causes {
			c := &sec.Causes[k]
			if c.Family == FamilyControl && c.File == wait.File && c.Line == wait.Line && c.Share != nil {
				wait.absorbs(c)
			}
		}
	}
	sec.Causes = slices.DeleteFunc(sec.Causes, func(c Cause) bool { return c.merged })
}

// absorbs takes the imbalance of another cause over, which is the same one.
func (c *Cause) absorbs(other *Cause) {
	if other.Share != nil {
		share := *other.Share
		if c.Share != nil {
			share += *c.Share
		}
		c.Share, c.LedgerTime, c.ShareInterval = &share, c.LedgerTime+other.LedgerTime, nil
	}
	c.evenWin += other.TimeToWin
	other.merged = true
}

// oneCause takes the causes of a section that are waits for the lock of a cause, in other calls,
// together with it.
func (sec *Section) oneCause(lock *Cause) {
	for i := range lock.With {
		at := Cause{Event: lock.Event, Place: lock.With[i]}
		for k := range sec.Causes {
			if c := &sec.Causes[k]; sameEvent(c, &at) && !c.merged {
				lock.absorbs(c)
			}
		}
	}
	sec.Causes = slices.DeleteFunc(sec.Causes, func(c Cause) bool { return c.merged })
}

// paidCost is a cost and the events that it is the sum of.
type paidCost struct {
	Cost
	events []int
	calls  []paidCall // of a lock: that wait for it, by their cost
	by     map[profile.ThreadID]float64
	win    float64
}

// paidCall is a call in which threads wait for a lock.
type paidCall struct {
	place Place
	cost  float64
}

// contended lists the section's costs that are contention and weigh, the largest first.
func (r *runner) contended(s *summary) []paidCost {
	rows, kinds := make([]float64, len(r.tab.Events)), map[int32]bool{}
	for k := range r.tab.Kinds {
		_, kinds[int32(k)] = contentions[r.tab.Kinds[k].Name]
	}
	for row, n := range s.costs {
		if kinds[r.tab.Events[row].Kind] && !r.ofMachine(row) {
			rows[row] = n
		}
	}
	var out []paidCost
	for _, at := range newLockReader(r.tab, r.prog).oneLock(r.costRows(rows)) {
		c := r.cost(at, rows, s.own)
		if c.Share < muchContended {
			continue
		}
		if c.Event != "coherence-miss" || c.Sharing != "" {
			calls := paidCalls(r.prog, at, rows)
			c.Place = calls[0].place
			out = append(out, paidCost{Cost: c, events: at, calls: calls})
		}
	}
	slices.SortFunc(out, func(a, b paidCost) int { return compareCosts(&a.Cost, &b.Cost) })
	return out[:min(len(out), maxContended)]
}

// paidCalls lists the places of the events of a row, by their cost.
func paidCalls(prog *program, events []int, rows []float64) (out []paidCall) {
	at := map[lineKey]int{}
	for _, e := range events {
		k := frameKey(prog.tab.Events[e].Frames, prog.tab.Events[e].Addr)
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, paidCall{place: prog.eventPlace(&prog.tab.Events[e])})
		}
		out[at[k]].cost += rows[e]
	}
	slices.SortStableFunc(out, func(a, b paidCall) int { return cmp.Compare(b.cost, a.cost) })
	return out
}

// paidBy reads what each thread paid of each of the costs, and how much sooner the section's ends
// would come if nobody paid it and all else stayed as it is.
func (r *runner) paidBy(id profile.SectionID, paid []paidCost) error {
	of := map[int32]int{}
	for i := range paid {
		paid[i].by = map[profile.ThreadID]float64{}
		for _, e := range paid[i].events {
			of[int32(e)] = i
		}
	}
	waits := make([][]float64, len(paid)) // by part
	for in, err := range r.src.Instances(id) {
		if err != nil {
			return fmt.Errorf("section %d: what its threads wait for: %w", id, err)
		}
		for i := range waits {
			waits[i] = append(waits[i][:0], make([]float64, len(in.Parts))...)
		}
		for _, c := range in.Costs {
			if i, ok := of[c.Row]; ok && c.Part >= 0 && int(c.Part) < len(in.Parts) {
				paid[i].by[in.Parts[c.Part].Thread] += float64(c.N)
				waits[i][c.Part] += float64(c.N)
			}
		}
		for i := range paid {
			paid[i].win += sooner(in, waits[i])
		}
	}
	return nil
}

// sooner is by how much the last thread of an instance would arrive earlier if none waited.
func sooner(in *profile.Instance, waits []float64) float64 {
	last, then := 0.0, 0.0
	for i := range in.Parts {
		time := float64(in.Parts[i].Time())
		last, then = max(last, time), max(then, time-min(time, waits[i]))
	}
	return last - then
}

// contention makes a cause of a cost.
func (r *runner) contention(sec *Section, s *summary, paid *paidCost) Cause {
	e := &r.tab.Events[paid.events[0]]
	if len(paid.calls) > 1 { // the event that names the place
		k := slices.IndexFunc(paid.events, func(i int) bool {
			at := r.prog.eventPlace(&r.tab.Events[i])
			return at.File == paid.File && at.Line == paid.Line && (at.Line > 0 || at.Address == paid.Address)
		})
		e = &r.tab.Events[paid.events[max(k, 0)]]
	}
	c := Cause{Family: FamilyHardware, Event: paid.Event, Title: paid.Title, Place: paid.Place, Subject: paid.Subject, P: 1, PFamily: 1,
		Important: true, CostShare: paid.Share, CostTime: paid.Time, Summed: true, CountTime: true,
		key: causeKey{lineKey: frameKey(e.Frames, e.Addr), hw: true, kind: e.Kind}}
	c.meanCost, c.TimeToWin = ratio(paid.Time, ratio(s.span, s.time)), paid.win
	c.WinShare = min(1, ratio(c.TimeToWin, float64(r.meta.RunTime)))
	for _, t := range sec.Threads {
		c.Threads = append(c.Threads, ThreadCount{Thread: t.Thread, Name: t.Name, Count: uint64(paid.by[t.Thread]), Time: t.Time, Wait: t.Wait})
	}
	for i := range paid.calls[1:] {
		c.With = append(c.With, paid.calls[1+i].place)
	}
	c.Sentence = r.paidWords(s, paid, &c)
	return c
}

// paidWords says what the threads do there, for how long, how often, and what helps.
func (r *runner) paidWords(s *summary, paid *paidCost, c *Cause) string {
	what := contentions[paid.Event]
	byCost := func(a, b ThreadCount) int { return cmp.Compare(a.Count, b.Count) }
	hi, lo := slices.MaxFunc(c.Threads, byCost), slices.MinFunc(c.Threads, byCost)
	among, times := 0, uint64(0)
	for _, t := range c.Threads {
		if t.Count > 0 {
			among++
		}
	}
	for _, e := range paid.events {
		times += s.loss.times[int32(e)]
	}
	often := ""
	if times > 0 && r.lossTab.family[paid.events[0]].Waits() {
		often = fmt.Sprintf(" %s, %s each on average;", plural(times, "time"), r.duration(paid.Time/float64(times)))
		if times == 1 {
			often = " once;"
		}
	}
	out := ""
	switch {
	case among == 1:
		out = fmt.Sprintf("Thread %d %s %s, alone, for %s of all threads' time in this section:%s %s.",
			hi.Thread, what.does, what.what, unit.Percent(paid.Share), often, r.duration(float64(hi.Count)))
	default:
		out = fmt.Sprintf("The threads %s %s, for %s of their time in this section:%s thread %d for %s, thread %d %s.", what.do, what.what,
			unit.Percent(paid.Share), often, hi.Thread, r.duration(float64(hi.Count)), lo.Thread, r.forTime(lo.Count))
	}
	out += paid.callWords()
	out += c.Subject.words()
	if what.remedy != "" {
		out += " " + what.remedy
	}
	return out
}

// callWords says in which calls threads wait for a lock, if there are several.
func (p *paidCost) callWords() string {
	if len(p.calls) < 2 {
		return ""
	}
	sum, words := 0.0, make([]string, len(p.calls))
	for i := range p.calls {
		sum += p.calls[i].cost
	}
	for i := range p.calls {
		at := "here"
		if i > 0 {
			at = "at " + p.calls[i].place.short()
		}
		words[i] = unit.Percent(ratio(p.calls[i].cost, sum)) + " " + at
	}
	return fmt.Sprintf(" It is one lock, and of the waits are %s.", strings.Join(words, ", "))
}

// forTime says for how long a thread waited.
func (r *runner) forTime(time uint64) string {
	if time == 0 {
		return "never"
	}
	return "for " + r.duration(float64(time))
}

// sameEvent says whether two causes are one and the same event at a line.
func sameEvent(a, b *Cause) bool {
	return a.Event == b.Event && a.File == b.File && a.Line == b.Line && (a.Line > 0 || a.Address == b.Address)
}

// pays adds to a cause of imbalance what all threads pay there. What they differ in is told as long
// as it matters beside that.
func (c *Cause) pays(all *Cause) {
	c.CostShare, c.CostTime, c.meanCost, c.evenWin, c.Important = all.CostShare, all.CostTime, all.meanCost, c.TimeToWin, true
	differ := strings.TrimSuffix(c.Sentence, all.Subject.words())
	c.Sentence, c.Threads, c.Summed, c.CountTime, c.Members = all.Sentence, all.Threads, all.Summed, all.CountTime, nil
	if _, how, told := strings.Cut(differ, "; the "); told { // the waits of two threads stand there already
		differ = "The " + how
	} else if strings.Contains(differ, " waits here for ") {
		differ = ""
	}
	if differ != "" && c.TimeToWin >= worthwhile*all.meanCost {
		c.Sentence += " " + differ
	}
	if all.TimeToWin > c.TimeToWin {
		c.TimeToWin, c.WinShare = all.TimeToWin, all.WinShare
	}
}

// gain is by what a cause is ranked where threads keep one another waiting: the core time that it
// loses, for each thread; of what is served to all, where the threads differ, only by what it makes
// them differ.
func (c *Cause) gain(uneven bool) float64 {
	if uneven && c.CostShare > 0 && contentions[c.Event].served {
		return min(c.meanCost, max(0, c.LedgerTime))
	}
	if c.CostShare > 0 {
		return max(c.meanCost, c.evenWin)
	}
	return c.TimeToWin
}
