// The account of the whole loss: its JSON form, how it is built, and its words.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/unit"
)

// LossShares are the shares of the core time, by term. They add up to 1.
type LossShares struct {
	Useful    float64 `json:"useful"`
	Imbalance float64 `json:"imbalance"`
	Unproved  float64 `json:"unproved"`
	Serial    float64 `json:"serial"`
	Lock      float64 `json:"lock"`
	Wait      float64 `json:"wait"`
	OffCore   float64 `json:"off_core"`
	Overhead  float64 `json:"overhead"`
	Memory    float64 `json:"memory"`
}

// Loss is the account of all the time of the cores that the run could use, or that were asked for.
type Loss struct {
	LossShares
	Cores      int            `json:"cores"`
	CoreTime   float64        `json:"core_time"` // cores x run time, and what moments with more threads add
	Headline   string         `json:"headline"`  // the largest loss and its place, for people
	Efficiency LossEfficiency `json:"efficiency"`
	Terms      []LossTerm     `json:"terms"`
}

// LossEfficiency are the efficiencies of the POP project.
type LossEfficiency struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Serialisation float64 `json:"serialisation"`
	Transfer      float64 `json:"transfer"`
}

// LossTerm is one of the terms with its places, which add up to it.
type LossTerm struct {
	Name      string      `json:"name"`
	Title     string      `json:"title"`
	Share     float64     `json:"share"`
	Time      float64     `json:"time"`
	Places    []LossPlace `json:"places"` // by time, the most first, at most 20
	RestShare float64     `json:"rest_share"`
	RestRows  int         `json:"rest_rows"`
	// of stalls: the share of the core time that goes to mispredicted branches; the rest is memory's
	Mispredicted float64 `json:"mispredicted,omitempty"`
}

// LossPlace is a place's part of a term.
type LossPlace struct {
	Place
	Event   string        `json:"event,omitempty"`
	Section int           `json:"section"` // its id, -1 if it is not one section's
	Share   float64       `json:"share"`
	Time    float64       `json:"time"`
	Behind  float64       `json:"behind,omitempty"`  // of the time: others waited at a section's end for threads that this made late
	Threads []ThreadShare `json:"threads,omitempty"` // that have most of the rest, at most 4
	Among   int           `json:"among,omitempty"`   // how many threads have some of it
	Data    string        `json:"data,omitempty"`    // the lock, or what memory is accessed
	Sharing string        `json:"sharing,omitempty"`
	Held    string        `json:"held,omitempty"`  // of a lock: the call that had taken it where threads waited for it longest
	Times   uint64        `json:"times,omitempty"` // of waits: how often threads waited
	Meets   bool          `json:"meets,omitempty"` // of overhead: it is a barrier's, and no region's
	Why     string        `json:"why,omitempty"`   // the place is not known, for this reason
	Cores   int           `json:"cores,omitempty"` // the program never had a thread for so many cores that were asked for
	Spent   *Spent        `json:"spent,omitempty"`
	From    *Frame        `json:"from,omitempty"`      // of waits for others' work: where the function is called that waits
	Awaits  []Awaits      `json:"awaits,omitempty"`    // and where is done what is waited for, the longest first
	AtATime float64       `json:"at_a_time,omitempty"` // by how many threads at a time, on average
}

// Awaits is what was waited for.
type Awaits struct {
	Place
	Share float64 `json:"share"` // of the waits
}

// ThreadShare is a thread's part of a place's time.
type ThreadShare struct {
	Thread int     `json:"thread"`
	Name   string  `json:"name,omitempty"`
	Time   float64 `json:"time"`
}

// lossPlaces is how many places of a term a report holds; the rest is one figure.
const lossPlaces = 20

func newLoss(l *analysis.Loss) *Loss {
	if l == nil {
		return nil
	}
	out := &Loss{Cores: l.Cores, CoreTime: l.CoreTime, Efficiency: LossEfficiency(l.Efficiency), Terms: make([]LossTerm, len(l.Terms))}
	shares := analysis.LossShares{}
	for i := range l.Terms {
		out.Terms[i] = lossTerm(&l.Terms[i])
		shares[l.Terms[i].Name] = l.Terms[i].Share
	}
	out.LossShares = lossShares(shares)
	out.Headline = out.headline()
	return out
}

func lossShares(s analysis.LossShares) LossShares {
	return LossShares{Useful: s[analysis.TermUseful], Imbalance: s[analysis.TermImbalance], Unproved: s[analysis.TermUnproved],
		Serial: s[analysis.TermSerial], Lock: s[analysis.TermLock],
		Wait: s[analysis.TermWait], OffCore: s[analysis.TermOffCore], Overhead: s[analysis.TermOverhead], Memory: s[analysis.TermMemory]}
}

func lossTerm(t *analysis.LossTerm) LossTerm {
	out := LossTerm{Name: t.Name, Title: t.Title, Share: t.Share, Time: t.Time}
	n := min(len(t.Places), lossPlaces)
	out.Places = convert(t.Places[:n], lossPlace)
	for i := range t.Places[n:] {
		out.RestShare += t.Places[n+i].Share
		out.RestRows++
	}
	for i := range t.Places {
		if t.Places[i].Event == profile.KindMispredict {
			out.Mispredicted += t.Places[i].Share
		}
	}
	return out
}

// lostTo says of a share of the time that it is the term's. Stalls are told by what makes them.
func (t *LossTerm) lostTo() string {
	words := lostWords[t.Name]
	switch {
	case t.Name == analysis.TermLock && len(t.Places) > 0 && t.Places[0].Event == profile.KindPermitWait:
		return "is spent waiting for a lock or semaphore that others hold"
	case t.Name != analysis.TermMemory:
		return words
	}
	switch memory := t.Share - t.Mispredicted; {
	case t.Mispredicted < leastShown:
		return "is spent waiting for memory"
	case memory < leastShown:
		return "is lost to mispredicted branches"
	default:
		return fmt.Sprintf("%s (%s mispredicted branches, %s memory)", words, unit.Percent(t.Mispredicted), unit.Percent(memory))
	}
}

func lossPlace(p *analysis.LossPlace) LossPlace {
	out := LossPlace{Place: place(&p.Place), Event: p.Event, Section: int(p.Section), Share: p.Share, Time: p.Time, Behind: p.Behind,
		Among: p.Among, Data: p.Data, Sharing: p.Sharing, Held: p.Held, Times: p.Count, Why: p.Why, Cores: p.Cores, Meets: p.Meets}
	out.Threads = shares(p.Threads)
	if p.Spent != nil {
		out.Spent = newSpent(p.Spent)
	}
	if p.From != nil {
		from := Frame(*p.From)
		out.From = &from
	}
	for i := range p.Awaits {
		out.Awaits = append(out.Awaits, Awaits{place(&p.Awaits[i].Place), p.Awaits[i].Share})
	}
	out.AtATime = p.AtATime
	return out
}

// ranked are the terms that lose something, the most first.
func (l *Loss) ranked() []*LossTerm {
	var out []*LossTerm
	for i := range l.Terms {
		if t := &l.Terms[i]; t.Name != analysis.TermUseful && t.Time > 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *LossTerm) int { return cmp.Compare(b.ofUsed(), a.ofUsed()) })
	return out
}

// ofUsed is the term's share without cores for which there was never a thread: it is the user who
// chose their number, and what the program does with the others is not to stand behind them.
func (t *LossTerm) ofUsed() float64 {
	if p := t.neverUsed(); p != nil {
		return t.Share - p.Share
	}
	return t.Share
}

// neverUsed is the row of cores for which there was never a thread, nil if there are none.
func (t *LossTerm) neverUsed() *LossPlace {
	if i := slices.IndexFunc(t.Places, func(p LossPlace) bool { return p.Cores > 0 }); i >= 0 {
		return &t.Places[i]
	}
	return nil
}

// claimed are those of them that are the program's doing.
func (l *Loss) claimed() []*LossTerm {
	return slices.DeleteFunc(l.ranked(), func(t *LossTerm) bool { return !analysis.Claims(t.Name) })
}

// lostWords say of a share of the time that it is a term's.
var lostWords = map[string]string{
	analysis.TermImbalance: "is lost to imbalance", analysis.TermSerial: "is lost because too few threads are at work",
	analysis.TermLock: "is spent waiting for locks", analysis.TermWait: "is spent waiting for others' work",
	analysis.TermOffCore:  "is spent off the core",
	analysis.TermOverhead: "is runtime overhead", analysis.TermMemory: "is lost to stalls of the core",
}

// where names the places of a term in a sentence.
func (t *LossTerm) where() string {
	p := t.ofPlaces()
	if p == nil {
		return ""
	}
	part := ratio(p.told(), t.ofUsed())
	switch {
	case p.Why != "" && part > 0.995:
		return ": " + p.Why
	case p.Why == analysis.LoadingLibraries:
		return fmt.Sprintf(", %s of it while %s", unit.Percent(part), p.Why) + t.elsewhere()
	case p.Why != "":
		return fmt.Sprintf(", %s of it at places that are not known (%s)", unit.Percent(part), p.Why) + t.elsewhere()
	}
	lead := ", at "
	if part <= 0.995 {
		lead = fmt.Sprintf(", %s%s of it at ", p.roughly(), unit.Percent(part))
	}
	return lead + p.at() + p.about(t.Name)
}

// ofPlaces is the first place of those that the program used, nil if there is none.
func (t *LossTerm) ofPlaces() *LossPlace {
	if i := slices.IndexFunc(t.Places, func(p LossPlace) bool { return p.Cores == 0 }); i >= 0 {
		return &t.Places[i]
	}
	return nil
}

// unused says for how many cores the program never had a thread.
func (p *LossPlace) unused() string {
	return "there was never a thread for " + countOf(p.Cores, "core")
}

// elsewhere names the first place that is known, where no line has what most is lost to.
func (t *LossTerm) elsewhere() string {
	i := slices.IndexFunc(t.Places, func(p LossPlace) bool { return p.Why == "" && p.Cores == 0 })
	if i < 0 || t.Places[i].Share < littleLost {
		return ""
	}
	p := &t.Places[i]
	return fmt.Sprintf(", and %s%s at %s", p.roughly(), unit.Percent(ratio(p.told(), t.ofUsed())), p.at()) + p.about(t.Name)
}

// told is the share of the core time that is lost where the report says: of a stretch of one thread
// alone, what its line has of it.
func (p *LossPlace) told() float64 {
	if p.Spent != nil {
		return p.Share * p.Spent.Share
	}
	return p.Share
}

func (p *LossPlace) roughly() string {
	if p.Spent != nil && p.Spent.About {
		return "about "
	}
	return ""
}

// about says what else is known of a place: what happens there, in which threads, or what ran
// meanwhile.
func (p *LossPlace) about(term string) string {
	var parts []string
	if p.From != nil {
		parts = append(parts, "called from "+Place{File: p.From.File, Line: p.From.Line, Function: p.From.Function}.Short())
	}
	if p.Event != "" && profile.KindTitle(p.Event) != p.Event && term != analysis.TermLock {
		parts = append(parts, profile.KindTitle(p.Event))
	}
	switch {
	case p.Data != "" && term == analysis.TermLock:
		parts = append(parts, lockWords(p.Data))
	case p.Data != "":
		parts = append(parts, "on "+p.Data)
	}
	if by := p.holder(); by != "" {
		parts = append(parts, by)
	}
	switch {
	case p.Spent != nil:
		parts = append(parts, fmt.Sprintf("thread %d alone, until %s", p.first(), p.EndShort()))
	case term == analysis.TermSerial && len(p.Threads) == 1:
		parts = append(parts, fmt.Sprintf("thread %d alone", p.first()))
	case term == analysis.TermOverhead && p.Meets:
		parts = append(parts, "to meet at the barrier, when all have come")
	case term == analysis.TermOverhead && p.Section >= 0:
		parts = append(parts, "to start and end the parallel region")
	case term != analysis.TermSerial && p.threadWords() != "":
		parts = append(parts, p.threadWords())
	}
	if behind := ratio(p.Behind, p.Time); behind >= littleLost {
		parts = append(parts, unit.Percent(behind)+" of it at the section's end, waiting for threads that this made late")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// holder says who has what is waited for, if that is taken elsewhere.
func (p *LossPlace) holder() string {
	if p.Held == "" || p.Held == p.Short() {
		return ""
	}
	return "held meanwhile by who took it at " + p.Held
}

func (p *LossPlace) first() int {
	if len(p.Threads) == 0 {
		return 0
	}
	return p.Threads[0].Thread
}

// mostOf is the share of a place's time from which a few threads are said to have most of it.
const mostOf = 0.75

// threadWords names the threads that have most of a place's time, or says how many have some.
func (p *LossPlace) threadWords() string {
	sum := 0.0
	if p.Among == 0 {
		return ""
	}
	for i := range p.Threads {
		sum += p.Threads[i].Time
	}
	if sum < mostOf*(p.Time-p.Behind) {
		return countOf(p.Among, "thread")
	}
	words := make([]string, len(p.Threads))
	for i, t := range p.Threads {
		words[i] = fmt.Sprint(t.Thread)
	}
	if len(words) == 1 {
		return "thread " + words[0]
	}
	named := "threads " + strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
	if p.Among > len(words) {
		return "most in " + named
	}
	return named
}

// at is the place in a table, or why there is none.
func (p *LossPlace) at() string {
	switch {
	case p.Cores > 0:
		return p.unused()
	case p.Why == analysis.LoadingLibraries:
		return p.Why
	case p.Why != "":
		return "not known: " + p.Why
	case p.Spent != nil:
		return p.Spent.Place.String()
	case p.Section >= 0 && p.Event == "":
		return p.End()
	}
	return p.Place.String()
}

// alone is the thread that has all of a place's time, -1 if there are others or the place is not
// known.
func (p *LossPlace) alone() int {
	if p.Cores > 0 || p.Why != "" || len(p.Threads) != 1 || p.Among > 1 {
		return -1
	}
	return p.first()
}

// stands is the place that at names: nothing is known of it where at says why.
func (p *LossPlace) stands() *Place {
	switch {
	case p.Cores > 0 || p.Why != "":
		return &Place{}
	case p.Spent != nil:
		return &p.Spent.Place
	}
	return &p.Place
}

func shares(list []analysis.ThreadShare) (out []ThreadShare) {
	for _, t := range list {
		out = append(out, ThreadShare{int(t.Thread), t.Name, t.Time})
	}
	return out
}

// lockWords names a lock in a sentence; one that is no data of a name is told by where it was taken.
func lockWords(name string) string {
	if rest, ok := strings.CutPrefix(name, "the one "); ok {
		return "the lock " + rest
	}
	return "lock " + name
}
