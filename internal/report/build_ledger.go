package report

import (
	"fmt"
	"slices"
	"strings"

	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/unit"
)

// tells whether an account says anything: that the time is in no block is no news.
func tells(a *ledger.Account) bool {
	return slices.ContainsFunc(a.Rows, func(r ledger.Row) bool { return r.Kind != ledger.Unaccounted })
}

// account makes the report's ledger of an account.
func account(a *ledger.Account, cancels bool) *Ledger {
	l := &Ledger{Cancels: cancels,
		Spent: spent(a), Total: a.Total, Exact: a.Exact, Rows: convert(a.Rows, ledgerRow),
		RestRows: a.Rest.Rows, RestPositive: a.Rest.Positive, RestNegative: a.Rest.Negative,
		Residual: a.Residual, Notes: a.Notes, Deviation: a.Deviation,
		Threads: convert(a.Threads, func(t *profile.ThreadID) int { return int(*t) }),
	}
	if cancels {
		l.dropShares()
	}
	return l
}

// spentShare is the share from which it is worth saying where the time goes.
const spentShare = 0.5

// spent is where the last threads spent their time, if the heaviest row does not say so itself.
func spent(a *ledger.Account) *Spent {
	s := a.Spent
	if s == nil || s.Share < spentShare || len(a.Rows) == 0 {
		return nil
	}
	if top := &a.Rows[0].Place; top.File == s.File && max(top.Line-s.Line, s.Line-top.Line) <= around {
		return nil // the source that is shown has it
	}
	return newSpent(s)
}

func newSpent(s *ledger.Spent) *Spent {
	at := netRow(&ledger.Net{Place: s.Place})
	return &Spent{Place{File: at.File, Line: at.Line, Function: at.Function, Address: at.Address, Image: s.Image}, s.Share, s.About}
}

// Words say where the last thread spent its time.
func (s *Spent) Words() string {
	return "Most of what it worked longer, it worked at " + clean(s.Place.String()) + "."
}

func ledgerRow(r *ledger.Row) LedgerRow {
	out := LedgerRow{
		Share: r.Share, Time: r.Cycles, Kind: string(r.Kind), Event: r.Event, Detail: r.Detail,
		File: r.Place.File, Line: int(r.Place.Line), Function: r.Place.Function,
		What: rowWords(r), PerThread: r.Threads,
	}
	if r.Place.Addr != 0 {
		out.Address = unit.Addr(r.Place.Addr).String()
	}
	if r.Inside != nil {
		in := netRow(&ledger.Net{Place: *r.Inside})
		out.Inside = &Place{File: in.File, Line: in.Line, Function: in.Function, Address: in.Address, Image: r.Inside.Image}
	}
	for i := range r.With {
		out.With = append(out.With, netRow(&r.With[i]))
	}
	return out
}

func netRow(n *ledger.Net) NetRow {
	out := NetRow{Share: n.Share, Time: n.Cycles, Kind: string(n.Kind),
		File: n.Place.File, Line: int(n.Place.Line), Function: n.Place.Function}
	if n.Place.Addr != 0 {
		out.Address = unit.Addr(n.Place.Addr).String()
	}
	return out
}

// netWords says what a row was taken together with, "" if with nothing.
func (r *LedgerRow) netWords() string {
	const most = 3
	var words []string
	for i := range r.With[:min(len(r.With), most)] {
		n := &r.With[i]
		at := Place{File: n.File, Line: n.Line, Function: n.Function, Address: n.Address}
		where := at.Short()
		if at.unknown() {
			where = rowTitles[ledger.Kind(n.Kind)]
		}
		words = append(words, where)
	}
	if n := len(r.With) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	if len(words) == 0 {
		return ""
	}
	return "net of " + strings.Join(words, ", ")
}

// rowTitles names the kinds of ledger row for people.
var rowTitles = map[ledger.Kind]string{
	ledger.Branch:       "branch",
	ledger.Loop:         "iterations",
	ledger.Call:         "call",
	ledger.IndirectCall: "indirect call",
	ledger.IndirectJump: "switch",
	ledger.Price:        "same code, slower",
	ledger.LockWait:     "lock wait",
	ledger.SpinWait:     "wait for a thread",
	ledger.OffCPU:       "off the core",
	ledger.Entry:        "work of its own",
	ledger.OtherStart:   "work given to a thread",
	ledger.Chosen:       "work for one thread",
	ledger.Dealt:        "chunks",
	ledger.Tasks:        "tasks",
	ledger.BrokenFlow:   "way not seen",
	ledger.Visits:       "visits",
	ledger.FirstCalls:   "first calls",
	ledger.Loading:      "loading libraries",
	ledger.Unaccounted:  "not in any block",
}

// rowWords describes a row: its kind, and how often the way that varies most
// was taken by the threads.
func rowWords(r *ledger.Row) string {
	words := rowTitles[r.Kind]
	if words == "" {
		words = string(r.Kind)
	}
	if r.Kind == ledger.Price && r.Event != "" {
		words = profile.KindTitle(r.Event)
	}
	if r.Inside != nil && r.Callee != "" {
		words += " of " + r.Callee
	}
	counts := r.Tasks
	if r.Kind == ledger.Dealt {
		counts = r.Dealt
	} else if e := widest(r.Edges); e != nil {
		counts = e.Counts
	}
	if len(counts) > 0 {
		words += fmt.Sprintf(" %s to %s", unit.SI(float64(slices.Min(counts))), unit.SI(float64(slices.Max(counts))))
	}
	return words
}

// widest returns the way whose counts differ most between the threads; of two,
// the one that takes more time.
func widest(edges []ledger.EdgeCount) *ledger.EdgeCount {
	var best *ledger.EdgeCount
	var most uint64
	for i := range edges {
		c := edges[i].Counts
		if len(c) == 0 {
			continue
		}
		d := slices.Max(c) - slices.Min(c)
		if d > most || d == most && best != nil && edges[i].Value > best.Value {
			best, most = &edges[i], d
		}
	}
	return best
}
