// The account of the whole loss: its terms, and how they are put together from the time line
// (losstime.go) and from what the instances say of their parts (losspart.go).

package analysis

import (
	"cmp"
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// Loss says what became of all the time of the cores that the run could use, or that were asked for:
// every unit of it is in one term, and the terms' shares add up to 1. docs/loss.md defines them.
type Loss struct {
	Cores      int            `json:"cores"`     // that the run could use, or that were asked for
	CoreTime   float64        `json:"core_time"` // cores x run time, and what moments in which more threads were at work add
	Terms      []LossTerm     `json:"terms"`     // in the order of lossTerms
	Efficiency LossEfficiency `json:"efficiency"`
}

// LossTerm is one of the things that core time goes into.
type LossTerm struct {
	Name   string      `json:"name"`
	Title  string      `json:"title"`
	Time   float64     `json:"time"`
	Share  float64     `json:"share"`  // of the core time
	Places []LossPlace `json:"places"` // by time, the most first; they add up to the term
}

// LossPlace is a place's part of a term.
type LossPlace struct {
	Place
	Event   string            `json:"event,omitempty"` // kind of event, "" where it follows from the time line
	Section profile.SectionID `json:"section"`         // None if it is not one section's
	Time    float64           `json:"time"`
	Share   float64           `json:"share"`             // of the core time
	Threads []ThreadShare     `json:"threads,omitempty"` // that spent most of it so, at most a few
	Behind  float64           `json:"behind,omitempty"`  // of the time: others waited at a section's end for threads that were late by this
	Count   uint64            `json:"times,omitempty"`   // of waits: how often threads waited
	Among   int               `json:"among"`             // how many threads spent time so, 0 if that is not known
	Cores   int               `json:"cores,omitempty"`   // Why is NeverUsed: of so many cores
	Subject                   // of memory events and locks: the data
	Meets   bool              `json:"meets,omitempty"` // of overhead: it is a barrier's, and no region's
	Why     string            `json:"why,omitempty"`   // the place is not known, for this reason
	Spent   *ledger.Spent     `json:"spent,omitempty"` // where the thread that was alone spent most of its time
	// of waits for others' work: where it was called, what was waited for, and how many threads at a
	// time did that on average
	From    *Frame   `json:"from,omitempty"`
	Awaits  []Awaits `json:"awaits,omitempty"`
	AtATime float64  `json:"at_a_time,omitempty"`
}

// LossShares are the shares of the core time, by term.
type LossShares map[string]float64

// ThreadShare is a thread's part of something.
type ThreadShare struct {
	Thread profile.ThreadID `json:"thread"`
	Name   string           `json:"name"`
	Time   float64          `json:"time"`
}

// LossEfficiency are the efficiencies of the POP project, Parallel = LoadBalance x Serialisation x
// Transfer.
type LossEfficiency struct {
	Parallel      float64 `json:"parallel"`      // core time in the program's own code
	LoadBalance   float64 `json:"load_balance"`  // mean / longest of the threads' times in it
	Serialisation float64 `json:"serialisation"` // what waiting for one another leaves of the rest
	Transfer      float64 `json:"transfer"`      // what data from outside and the runtime's own code leave of it
}

// The terms.
const (
	TermUseful    = "useful"
	TermImbalance = "imbalance"
	TermUnproved  = "unproved"
	TermSerial    = "serial"
	TermLock      = "lock"
	TermWait      = "wait"
	TermOffCore   = "off_core"
	TermOverhead  = "overhead"
	TermMemory    = "memory"
)

// Claims reports whether a term says that the program loses time so. Threads that differ by no more
// than the machine makes them, now one and now another, lose it as well: it stands in the account,
// and is nobody's doing.
func Claims(term string) bool { return term != TermUseful && term != TermUnproved }

// lossTerms are their names and titles, in the order of reports.
var lossTerms = [...]struct{ name, title string }{
	{TermUseful, "useful work"},
	{TermImbalance, "imbalance"},
	{TermUnproved, "differences not proved"},
	{TermSerial, "too few threads"},
	{TermLock, "waiting for locks"},
	{TermWait, "waiting for others' work"},
	{TermOffCore, "off the core"},
	{TermOverhead, "runtime overhead"},
	{TermMemory, "stalls of the core"},
}

// Term returns the term of that name.
func (l *Loss) Term(name string) *LossTerm {
	for i := range l.Terms {
		if l.Terms[i].Name == name {
			return &l.Terms[i]
		}
	}
	return &LossTerm{Name: name}
}

// Largest is the term that loses most by the program's doing, nil if none loses anything so. Of
// equal ones the first counts.
func (l *Loss) Largest() (most *LossTerm) {
	for i := range l.Terms {
		if t := &l.Terms[i]; Claims(t.Name) && t.Time > 0 && (most == nil || t.Time > most.Time) {
			most = t
		}
	}
	return most
}

// lossBuilder collects the places of the terms.
type lossBuilder struct {
	r      *runner
	rows   map[string]map[lossKey]*LossPlace
	byName map[lossKey]map[profile.ThreadID]float64 // the threads of a row, where they are known
	times  map[lossKey]uint64                       // of waits: how often
	// who waited for whom
	awaited map[awaits]float64
	closing map[profile.SectionID]bool // see closing
	alone   map[profile.SectionID]bool // in which one thread works alone
	absent  map[bool]float64           // by that: of the cores for which there was no thread meanwhile
	idles   map[profile.SectionID]idleWaits
	own     map[profile.SectionID]LossShares // what each section's parts come to; times, until all is known
}

// lossKey names a row of a term.
type lossKey struct {
	term    string
	event   string
	at      lineKey
	section profile.SectionID // rows that follow from the time line: each section has its own
	name    string            // function, or the reason why nothing is known
}

// add charges time to a place.
func (b *lossBuilder) add(k lossKey, time float64, place func() LossPlace, threads map[profile.ThreadID]float64) {
	if time <= 0 {
		return
	}
	if b.rows[k.term] == nil {
		b.rows[k.term] = map[lossKey]*LossPlace{}
	}
	p := b.rows[k.term][k]
	if p == nil {
		made := place()
		p = &made
		p.Event = k.event
		b.rows[k.term][k], b.byName[k] = p, map[profile.ThreadID]float64{}
	}
	p.Time += time
	for t, x := range threads {
		b.byName[k][t] += x
	}
}

// of notes what a term takes of a section.
func (b *lossBuilder) of(id profile.SectionID, term string, time float64) {
	if b.own[id] == nil {
		b.own[id] = LossShares{}
	}
	if time > 0 {
		b.own[id][term] += time
	}
}

// lost is what a section loses: all terms but useful work. The cores for which it had no thread are
// lost to it like those whose threads wait.
func (s LossShares) lost() (sum float64) {
	for i := range lossTerms {
		if name := lossTerms[i].name; name != TermUseful {
			sum += s[name]
		}
	}
	return sum
}

// largest is the term that a section loses most to by the program's doing.
func (s LossShares) largest() (name string, share float64) {
	for i := range lossTerms {
		if n := lossTerms[i].name; Claims(n) && s[n] > share {
			name, share = n, s[n]
		}
	}
	return name, share
}

// unknown charges time of which no place is known.
func (b *lossBuilder) unknown(term string, time float64, why string) {
	b.add(lossKey{term: term, section: profile.None, name: why}, time,
		func() LossPlace { return LossPlace{Section: profile.None, Why: why} }, nil)
}

// mostLossThreads is how many threads are named with a place.
const mostLossThreads = 4

// loss puts the account together.
func (b *lossBuilder) loss(t *timeline, w *Whole) *Loss {
	l := &Loss{Cores: t.cores + w.Unused}
	for _, row := range lossTerms {
		term := LossTerm{Name: row.name, Title: row.title, Places: []LossPlace{}}
		for k, p := range b.rows[row.name] {
			p.Count = b.times[k]
			p.Threads, p.Among = threadShares(b.r.tab, b.byName[k])
			term.Places = append(term.Places, *p)
		}
		slices.SortFunc(term.Places, compareLossPlaces)
		for i := range term.Places {
			term.Time += term.Places[i].Time
		}
		l.CoreTime += term.Time
		l.Terms = append(l.Terms, term)
	}
	for i := range l.Terms {
		term := &l.Terms[i]
		term.Share = ratio(term.Time, l.CoreTime)
		for k := range term.Places {
			term.Places[k].Share = ratio(term.Places[k].Time, l.CoreTime)
		}
	}
	for _, shares := range b.own {
		for name, x := range shares {
			shares[name] = ratio(x, l.CoreTime)
		}
	}
	l.efficiencies(w)
	return l
}

// compareLossPlaces puts what has most time first.
func compareLossPlaces(x, y LossPlace) int {
	return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Address, y.Address),
		cmp.Compare(x.Function, y.Function), cmp.Compare(x.Event, y.Event), cmp.Compare(x.Section, y.Section), cmp.Compare(x.Why, y.Why))
}

// threadShares are the threads that have most of a place's time.
func threadShares(tab *profile.Tables, times map[profile.ThreadID]float64) (most []ThreadShare, among int) {
	var out []ThreadShare
	for id, x := range times {
		if x > 0 {
			out = append(out, ThreadShare{id, threadName(tab, id), x})
		}
	}
	slices.SortFunc(out, func(x, y ThreadShare) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Thread, y.Thread))
	})
	return out[:min(len(out), mostLossThreads)], len(out)
}

// follow takes the efficiencies from the account.
func (w *Whole) follow(l *Loss) {
	e := l.Efficiency
	w.ParallelEfficiency, w.LoadBalance, w.CommunicationEfficiency = e.Parallel, e.LoadBalance, e.Serialisation*e.Transfer
}

// efficiencies follow from the terms: what the threads' own code leaves of the core time, how
// evenly it is spread over them, and what reasons from outside and the runtime take of the rest.
// What is left then is order: one waits for another.
func (l *Loss) efficiencies(w *Whole) {
	e := &l.Efficiency
	share := func(name string) float64 { return l.Term(name).Share }
	e.Parallel = min(1, share(TermUseful)+share(TermMemory))
	e.LoadBalance = max(w.LoadBalance, e.Parallel)
	rest := ratio(e.Parallel, e.LoadBalance)
	e.Transfer = min(1, max(rest, 1-share(TermOffCore)-share(TermOverhead)))
	e.Serialisation = ratio(rest, e.Transfer)
}
