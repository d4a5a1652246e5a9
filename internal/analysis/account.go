package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// kindNames gives the cause's event for a row of the ledger. Kinds that are not here name no
// decision of a source line; they stay rows of the account.
var kindNames = map[ledger.Kind]struct {
	event string
	hw    bool
}{
	ledger.Branch: {EventBranch, false}, ledger.Loop: {EventLoop, false}, ledger.Call: {EventCall, false},
	ledger.IndirectCall: {EventCall, false}, ledger.OtherStart: {EventCall, false}, ledger.Entry: {EventEntry, false},
	ledger.Chosen: {EventEntry, false}, ledger.Dealt: {EventChunk, false},
	ledger.Tasks: {EventTask, false}, ledger.IndirectJump: {EventJump, false}, ledger.Visits: {EventVisit, false},
	ledger.Price: {"price", true}, ledger.LockWait: {"lock-wait", true}, ledger.SpinWait: {"spin-wait", true},
	ledger.OffCPU: {"off-cpu", true},
}

// posting is what the ledger charges to one cause: its rows on one line.
type posting struct {
	rows   []*ledger.Row
	cycles float64
	share  float64
	hw     bool
	event  string
	course []float64      // cycles by group of instances
	luck   []float64      // by other placement of pages: of cycles, what would not be there
	also   []ledger.Place // where other rows of the decision stand (unite.go)
	keys   []causeKey     // of those
}

// pending is an account that is being made beside the statistics: neither needs the other.
type pending struct {
	done chan struct{}
	acc  *ledger.Account
	err  error
}

func (r *runner) openAccount(id profile.SectionID) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.acc, p.err = r.book.Section(id, ledger.Options{Workers: r.opt.Workers})
	}()
	return p
}

func (p *pending) wait() { <-p.done }

// account brings the section's ledger and its causes together.
func (r *runner) account(sec *Section, p *pending) error {
	p.wait()
	acc, err := p.acc, p.err
	if err != nil {
		return fmt.Errorf("section %d: %w", sec.ID, err)
	}
	sec.Ledger, sec.HasLedger = acc, acc.Exact
	sec.LedgerRestSum, sec.LedgerPositive, sec.LedgerNegative = acc.Rest.Cycles, acc.Rest.Positive, acc.Rest.Negative
	r.tasks(sec, acc)
	posts, order := r.postings(acc)
	order = r.unite(acc, posts, order)
	if !torn(acc) {
		order = settle(acc, posts, order)
	}
	sec.draws = newShareDraws(acc)
	for _, p := range posts {
		p.course = sec.draws.course(p)
	}
	sec.Cancels = acc.Positive > maxGross*acc.Total
	switch {
	case torn(acc):
		sec.HasLedger = false
	case acc.Exact:
		r.rankExact(sec, posts, order)
	default:
		r.rankEstimated(sec, posts, order)
	}
	return nil
}

// torn says whether an account's rows are so much larger than the imbalance that none of them
// explains it, as where many threads run one another's tasks. With few threads, rows may well make
// up for one another.
func torn(acc *ledger.Account) bool {
	return acc.Positive > maxGross*acc.Total && (!acc.Exact || len(acc.Threads) >= manyThreads)
}

// postings groups the rows by line and event.
func (r *runner) postings(acc *ledger.Account) (map[causeKey]*posting, []causeKey) {
	posts := map[causeKey]*posting{}
	var order []causeKey
	for i := range acc.Rows {
		row := &acc.Rows[i]
		name, ok := kindNames[row.Kind]
		if !ok {
			continue
		}
		key := r.rowKey(row, name.hw)
		p := posts[key]
		if p == nil {
			p = &posting{hw: name.hw, event: name.event}
			if name.hw {
				p.event = cmp.Or(row.Event, name.event)
			}
			posts[key], order = p, append(order, key)
		}
		if row.Kind == ledger.Loop {
			p.event = EventLoop
		}
		if row.Test != nil { // statistics know it by its test
			p.keys = append(p.keys, r.keyAt(row.Test, false))
		}
		p.rows = append(p.rows, row)
		p.cycles, p.share = p.cycles+row.Cycles, p.share+row.Share
		p.luck = plus(p.luck, row.Luck)
	}
	return posts, order
}

// given says that what differs is the work that a thread was given, and no decision on the line where
// it begins: a branch there that correlates is one that only this thread comes to.
func (p *posting) given() bool {
	k := p.rows[0].Kind
	return k == ledger.OtherStart || k == ledger.Entry || k == ledger.Chosen || k == ledger.Dealt
}

// rowKey is the key that a cause at the row's place has.
func (r *runner) rowKey(row *ledger.Row, hw bool) causeKey {
	if n := row.Place.Node; row.Kind == ledger.Visits && n >= 0 {
		return causeKey{lineKey: r.prog.visitKey(n)}
	}
	k := r.keyAt(&row.Place, hw)
	k.deal = row.DealtLoop
	if hw {
		k.kind = int32(slices.IndexFunc(r.tab.Kinds, func(e profile.EventKind) bool {
			return e.Name == cmp.Or(row.Event, kindNames[row.Kind].event)
		}))
	}
	return k
}

// keyAt is the key of a line, or of an address that has none.
func (r *runner) keyAt(at *ledger.Place, hw bool) causeKey {
	k := causeKey{lineKey: lineKey{file: profile.None, addr: at.Addr}, hw: hw}
	if id, ok := r.files[at.File]; ok && at.Line > 0 {
		k.lineKey = lineKey{file: id, line: at.Line}
	}
	return k
}

// rankExact orders the causes by what the ledger charges them with. What correlates but was charged
// nothing goes to the candidates: it follows from a cause, or costs nothing.
func (r *runner) rankExact(sec *Section, posts map[causeKey]*posting, order []causeKey) {
	known := byKey(sec)
	sec.Causes, sec.Candidates = nil, nil
	for _, key := range order {
		p, c := posts[key], known[key]
		if p.share < r.opt.MinShare {
			continue
		}
		switch {
		case c == nil || c.Score < leastScore:
			c = r.posted(sec, p)
		case p.given():
			scored := c
			c = r.posted(sec, p)
			c.score(scored)
		}
		delete(known, key)
		c.adopt(r, p, known)
		r.lend(c, p, known)
		c.charge(p, sec, r.meta)
		c.Important = p.share >= importantShare
		sec.Causes = append(sec.Causes, *c)
	}
	lost := math.Abs(otherShare(sec.Ledger)) > lostShare
	for _, c := range known {
		r.uncharged(c, posts[c.key], lost)
		switch {
		case lost && c.PFamily < r.opt.Alpha && *c.Share > -importantShare:
			sec.Causes = append(sec.Causes, *c)
		case c.Score >= leastScore:
			sec.Candidates = append(sec.Candidates, *c)
		}
	}
	sortCauses(sec.Candidates, func(a, b *Cause) int { return compareKeys(a.key, b.key) })
	rank(sec.Candidates, r.opt)
	sortCauses(sec.Causes, func(a, b *Cause) int {
		return cmp.Or(compareBool(b.Important, a.Important), cmp.Compare(*b.Share, *a.Share), cmp.Compare(b.Score, a.Score),
			compareKeys(a.key, b.key))
	})
	renumber(sec.Causes)
	sec.Unexplained = sec.Ledger.Rest.Share + otherShare(sec.Ledger)
}

// adopt gives a cause what is known of the places that are the same decision.
func (c *Cause) adopt(r *runner, p *posting, known map[causeKey]*Cause) {
	for _, key := range p.keys {
		if k := known[key]; k != nil {
			c.score(k)
			delete(known, key)
		}
	}
	for i := range p.also {
		c.With = append(c.With, r.ledgerPlace(&p.also[i]))
	}
}

// score takes over the statistics of another cause that is the same decision, if they are better.
func (c *Cause) score(k *Cause) {
	if k.Score > c.Score {
		c.Score, c.Beta, c.P, c.PFamily, c.R2, c.Correlation = k.Score, k.Beta, k.P, k.PFamily, k.R2, k.Correlation
	}
}

// lend gives a recursive call the score of the function that it enters: that leads in the graph.
func (r *runner) lend(c *Cause, p *posting, known map[causeKey]*Cause) {
	for _, row := range p.rows {
		for i := range row.Edges {
			id := row.Edges[i].Edge
			if int(id) >= len(r.prog.to) || !r.prog.s.Recur[r.prog.to[id]] || !isCall(r.tab.Edges[id].Kind) {
				continue
			}
			entry := r.tab.Edges[id].To
			k := known[causeKey{lineKey: r.prog.nodeKey(entry)}]
			if k == nil || !slices.Contains(k.Nodes, entry) || k.Score <= c.Score {
				continue
			}
			c.score(k)
			delete(known, k.key)
		}
	}
}

func byKey(sec *Section) map[causeKey]*Cause {
	out := map[causeKey]*Cause{}
	for _, list := range [][]Cause{sec.Causes, sec.Candidates} {
		for i := range list {
			out[list[i].key] = &list[i]
		}
	}
	return out
}

func renumber(cs []Cause) {
	for i := range cs {
		cs[i].Rank = i + 1
	}
}

// otherShare is the share of the rows that stand for no source line, nor for anything else that a
// programmer knows.
func otherShare(acc *ledger.Account) float64 {
	s := 0.0
	for i := range acc.Rows {
		k := acc.Rows[i].Kind
		if _, ok := kindNames[k]; !ok && k != ledger.FirstCalls && k != ledger.Loading {
			s += acc.Rows[i].Share
		}
	}
	return s
}

// charge gives a cause its share, and says whether the two methods agree.
func (c *Cause) charge(p *posting, sec *Section, m *profile.Meta) {
	share := p.share
	c.Share, c.LedgerTime, c.course, c.put = &share, p.cycles, p.course, p.sums()
	c.dealt(p.luck)
	c.TimeToWin = max(0, min(p.cycles, sec.TimeToWin))
	c.WinShare = ratio(c.TimeToWin, float64(m.RunTime))
	if !sec.HasLedger || p.share < importantShare {
		return
	}
	if fit := p.fit(sec.Ledger); fit >= fitting && c.Score < minScored {
		c.Score = max(c.Score, fit*min(1, share))
	}
	if c.Score <= 0 {
		c.Agreement = "The account charges this line exactly; its counts alone do not correlate with the times well enough to show it: " +
			"few threads, several causes at once, or a cause that changes from instance to instance."
	}
}

// fit is the correlation of what the posting put on the threads with their times, 0 with too few
// threads to tell. A decision that is written down at several places, or that others meet behind
// it, may rise and fall with the times while none of its counts does.
func (p *posting) fit(acc *ledger.Account) float64 {
	if len(acc.Threads) < manyThreads {
		return 0
	}
	return pearson(p.sums(), acc.Deviation)
}

// uncharged marks a cause that correlates but costs the last thread nothing, as far as the account
// knows.
func (r *runner) uncharged(c *Cause, p *posting, lost bool) {
	share := 0.0
	if p != nil {
		share, c.LedgerTime = p.share, p.cycles
	}
	c.Share = &share
	c.Agreement = "The account charges much of this section to no source line, so that it cannot confirm what the correlation shows."
	if !lost {
		c.TimeToWin, c.WinShare = 0, 0
		c.Agreement = "Correlates with the times, but the account charges it next to nothing: it follows from another cause, or costs no time."
	}
}

// rankEstimated keeps the order by score, gives the known causes their estimated shares, and takes
// lines from the account only where the regression found nothing, or most of all what follows from the loss.
func (r *runner) rankEstimated(sec *Section, posts map[causeKey]*posting, order []causeKey) {
	known := byKey(sec)
	for key, c := range known {
		if p := posts[key]; p != nil {
			share := p.share
			c.Share, c.LedgerTime = &share, p.cycles
		}
	}
	if len(sec.Causes) > 0 && sec.Causes[0].leads() || !sec.takeCharged(sec.estimated(r, posts, order, known)) {
		sortVisits(sec.Causes)
		confirm(sec.Causes)
	}
}

// takeCharged puts what the account charges before what the regression has found and leads, and what does not
// among the candidates. It answers false where the account has nothing to put there.
func (sec *Section) takeCharged(charged []Cause) bool {
	if len(charged) == 0 && len(sec.Causes) > 0 {
		return false
	}
	found := sec.Causes
	sec.Causes = charged
	told := func(c Cause) bool {
		return slices.ContainsFunc(sec.Causes, func(d Cause) bool { return d.key == c.key })
	}
	var rest []Cause
	for _, c := range found {
		switch {
		case told(c):
		case c.leads():
			sec.Causes = append(sec.Causes, c)
		default:
			rest = append(rest, c)
		}
	}
	sec.Candidates = append(rest, slices.DeleteFunc(sec.Candidates, told)...)
	renumber(sec.Causes)
	return true
}

// leads says whether a cause may be why threads work longer: they come there more often, or the account
// charges it. What they come to less often follows from that, as a rule: who works longer than the
// others finds its queues full, or the others at the barrier, and waits less often.
func (c Cause) leads() bool {
	return c.Correlation >= 0 || c.Share != nil && math.Abs(*c.Share) >= importantShare
}

// estimated is what the account charges with enough to be worth telling.
func (sec *Section) estimated(r *runner, posts map[causeKey]*posting, order []causeKey, known map[causeKey]*Cause) (out []Cause) {
	for _, key := range order {
		if p := posts[key]; p.share >= estimatedShare {
			c := known[key]
			if c == nil {
				c = r.posted(sec, p)
			}
			c.charge(p, sec, r.meta)
			c.Important, c.Agreement = true, "The share is an estimate; the counts do not correlate with the times well enough to confirm it."
			out = append(out, *c)
		}
	}
	return out
}

// confirm puts the causes that the account charges with much before those that it does not know,
// where there are any.
func confirm(cs []Cause) {
	much := func(c *Cause) bool { return c.Share != nil && *c.Share >= lostShare }
	if !slices.ContainsFunc(cs, func(c Cause) bool { return c.Important && much(&c) }) || cs[0].Event == EventVisit {
		return
	}
	for i := range cs {
		if c := &cs[i]; c.Share == nil || math.Abs(*c.Share) < importantShare {
			c.Important = false
		}
	}
	slices.SortStableFunc(cs, func(a, b Cause) int {
		return cmp.Or(compareBool(b.Important, a.Important), compareBool(much(&b), much(&a)))
	})
	renumber(cs)
}

// sortVisits orders causes by their estimated shares if they are places that were sampled: all
// places of a slow loop correlate about as well, and the one where most of the time goes says most.
func sortVisits(cs []Cause) {
	for i := range cs {
		if cs[i].Event != EventVisit {
			return
		}
	}
	share := func(c *Cause) float64 {
		if c.Share == nil {
			return 0
		}
		return *c.Share
	}
	slices.SortStableFunc(cs, func(a, b Cause) int {
		return cmp.Or(compareBool(b.Important, a.Important), cmp.Compare(share(&b), share(&a)))
	})
	renumber(cs)
}
