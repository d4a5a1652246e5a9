package report

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"lime/internal/profile"
)

// The report in the pieces in which 'lime view' asks for it: data with the words that the page of
// WriteHTML has beside them, so that both say the same.

// Stylesheet returns the style of the page, whose colours and shapes 'lime view' shares.
func Stylesheet() string { return pageCSS }

// Finite makes the figures that JSON cannot hold finite, as WriteJSON does.
func (r *Report) Finite() { finite(reflect.ValueOf(r)) }

// Head is what stands above the sections.
type Head struct {
	Program   Program        `json:"program"`
	Whole     Whole          `json:"whole"`
	Command   string         `json:"command"`
	Collected string         `json:"collected"`
	Nothing   string         `json:"nothing,omitempty"` // why there is no section
	Loss      *LossTable     `json:"loss,omitempty"`
	Tiles     []Tile         `json:"tiles"`
	Told      []Verdict      `json:"told"`
	Notes     []string       `json:"notes"`
	Sections  []SectionBrief `json:"sections"`
	Serial    []SerialRow    `json:"serial"`
	Costs     *CostTable     `json:"costs,omitempty"`
	Effort    *EffortTable   `json:"effort,omitempty"`
	Locks     []LockRow      `json:"locks"`
	Waste     *WasteTable    `json:"waste,omitempty"`
}

// LossTable is the account of the whole loss: useful work first, then what loses something, the
// most first.
type LossTable struct {
	Title    string    `json:"title"`
	Headline string    `json:"headline"`
	Rows     []LossRow `json:"rows"`
}

// LossRow is a term with its largest places.
type LossRow struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Share  float64  `json:"share"`
	Places []LossAt `json:"places"`
}

// LossAt is a place's part of a term.
type LossAt struct {
	At      string  `json:"at"`
	About   string  `json:"about,omitempty"`
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Section int     `json:"section"` // its id, -1 if it is not one section's
	Thread  int     `json:"thread"`  // whose it is alone, -1 if there are others or the place is not known
	Share   float64 `json:"share"`
}

// Tile is a figure with its name.
type Tile struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// SectionBrief is a section's row in the overview.
type SectionBrief struct {
	ID        int          `json:"id"`
	Ends      Place        `json:"ends_at"`
	Title     string       `json:"title"` // the place of its end, as the report names it
	Short     string       `json:"short"`
	AllLost   float64      `json:"all_lost"` // of core time
	Imbalance float64      `json:"imbalance"`
	Instances int          `json:"instances"`
	Threads   int          `json:"threads"`
	Line      string       `json:"line"` // its answer in a line
	Causes    []CauseBrief `json:"causes"`
}

// CauseBrief is a cause's row in the overview, and a mark in the margin of the source.
type CauseBrief struct {
	Rank  int     `json:"rank"`
	Title string  `json:"title"`
	Place string  `json:"place"`
	File  string  `json:"file"`
	Line  int     `json:"line"`
	Share float64 `json:"share"`
	Words string  `json:"words"`
}

// SerialRow is a stretch of one thread's work.
type SerialRow struct {
	Until string  `json:"until"`
	Spent string  `json:"spent,omitempty"` // where most of it goes
	Share float64 `json:"share"`
	Times int     `json:"times"`
}

// CostTable is what all threads pay.
type CostTable struct {
	Title string    `json:"title"`
	Intro string    `json:"intro"`
	Rows  []CostRow `json:"rows"`
}

// CostRow is what an event at a place costs.
type CostRow struct {
	Event string  `json:"event,omitempty"` // its name in the text
	Title string  `json:"title"`
	Place string  `json:"place"`
	File  string  `json:"file"`
	Line  int     `json:"line"`
	About string  `json:"about,omitempty"`
	Share float64 `json:"share"`
	Time  float64 `json:"time"`
}

// EffortTable is the effort with its words.
type EffortTable struct {
	Threads int          `json:"threads"`
	Text    string       `json:"text"`
	Rows    []EffortRow  `json:"rows"`
	Lists   []EffortList `json:"lists"`
}

// EffortRow is a share of the effort.
type EffortRow struct {
	Label  string  `json:"label"`
	Share  float64 `json:"share"`
	Bounds string  `json:"bounds,omitempty"`
}

// EffortList is a list of places under a title.
type EffortList struct {
	Title string    `json:"title"`
	Rows  []CostRow `json:"rows"`
}

// NewHead returns what stands above the sections.
func NewHead(r *Report) *Head {
	p := newPage(r)
	h := &Head{Program: r.Program, Whole: r.Whole, Command: p.Command, Collected: p.Collected, Told: full(p.Told), Notes: full(p.Notes),
		Tiles:    figureTiles(r),
		Sections: convert(r.Sections, func(s *Section) SectionBrief { return brief(r, s) }),
		Serial:   convert(serialShown(r), serialRow),
		Locks:    lockRows(r), Waste: wasteTable(r.Waste),
	}
	h.Loss = lossTable(r)
	if len(r.Sections) == 0 {
		h.Nothing = p.Nothing
	}
	if len(r.Costs) > 0 {
		h.Costs = &CostTable{costsTitle, costsIntro, convert(r.Costs, costRow)}
	}
	if e := p.Effort; e != nil {
		h.Effort = &EffortTable{e.Threads, e.Text,
			convert(e.Rows, func(x *effortRow) EffortRow { return EffortRow(*x) }), convert(e.Lists, effortList)}
	}
	return h
}

func lossTable(r *Report) *LossTable {
	if r.Loss == nil || r.Loss.CoreTime == 0 {
		return nil
	}
	out := &LossTable{Title: lossTitle(r), Headline: r.Loss.Headline}
	for _, t := range r.Loss.shownTerms() {
		row := LossRow{Name: t.Name, Title: t.Title, Share: t.Share, Places: []LossAt{}}
		for i := range t.Places[:min(len(t.Places), pageLossPlaces)] {
			if p := &t.Places[i]; p.Share >= leastShown {
				at := p.stands()
				row.Places = append(row.Places, LossAt{p.at(), p.about(t.Name), at.File, at.Line, p.Section, p.alone(), p.told()})
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// full is a list that JSON writes as [] when it is empty.
func full[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func brief(r *Report, s *Section) SectionBrief {
	return SectionBrief{ID: s.ID, Ends: s.EndsAt, Title: s.EndsAt.End(), Short: s.EndsAt.EndShort(),
		AllLost: s.AllLost, Imbalance: s.Imbalance,
		Instances: s.Instances, Threads: len(s.Threads), Line: s.inALine(&r.Program), Causes: convert(s.Causes, causeBrief)}
}

func causeBrief(c *Cause) CauseBrief {
	return CauseBrief{c.Rank, c.Title, c.Place.String(), c.File, c.Line, c.Share, shareWords(c)}
}

func serialRow(s *Stretch) SerialRow {
	row := SerialRow{Until: s.EndsAt.End(), Share: s.TimeShare, Times: s.Instances}
	row.Spent = strings.Join(s.spent(), ", ")
	return row
}

func costRow(c *Cost) CostRow {
	return CostRow{c.Event, c.Title, c.Place.String(), c.File, c.Line, c.About(), c.Share, c.Time}
}

func effortList(l *chargeList) EffortList {
	return EffortList{l.Title, convert(l.Rows, func(c *Charge) CostRow {
		return CostRow{"", "", c.Words(), c.File, c.Line, pathWords(c.Path), c.Share, c.Time}
	})}
}

// SectionPage is all that the report says of a section.
type SectionPage struct {
	SectionBrief
	Words      string       `json:"words"`
	Told       []Verdict    `json:"told"`
	Time       float64      `json:"time"`
	Threads    []ThreadTime `json:"thread_times"`
	Course     Course       `json:"course"`
	Balance    string       `json:"balance,omitempty"`
	Parts      []PartRow    `json:"balance_parts,omitempty"`
	Account    *AccountPage `json:"account,omitempty"`
	Pages      []CausePage  `json:"cause_pages"`
	Minor      []CausePage  `json:"minor"`
	Candidates []CauseBrief `json:"candidates"` // Words: why they are no causes
	NoCause    string       `json:"no_cause,omitempty"`
}

// PartRow is an uneven part of the balance point.
type PartRow struct {
	Words string    `json:"words"`
	Share float64   `json:"share"`
	Times []float64 `json:"times"`
}

// AccountPage is the ledger's account.
type AccountPage struct {
	Words string       `json:"words"`
	Total float64      `json:"total"`
	Rows  []AccountRow `json:"rows"`
	Spent string       `json:"spent,omitempty"`
	Notes []string     `json:"notes"`
}

// AccountRow is a row of the account; the rest has no place.
type AccountRow struct {
	Place string  `json:"place"`
	File  string  `json:"file"`
	Line  int     `json:"line"`
	What  string  `json:"what"`
	Net   string  `json:"net,omitempty"`
	Share float64 `json:"share"`
	Time  float64 `json:"time"`
}

// CausePage is a cause with its words.
type CausePage struct {
	CauseBrief
	Event     string        `json:"event"`
	Family    string        `json:"family"`
	Score     float64       `json:"score"`
	Sentence  string        `json:"sentence"`
	Span      string        `json:"span,omitempty"`
	Win       string        `json:"win,omitempty"`
	Parts     string        `json:"parts,omitempty"`
	Agreement string        `json:"agreement,omitempty"`
	Stability float64       `json:"stability"`
	Which     string        `json:"which,omitempty"` // instances the counts are of
	CountWord string        `json:"count_word"`
	CountTime bool          `json:"count_time,omitempty"`
	Counts    []ThreadCount `json:"counts"`
	Source    []SourceLine  `json:"source"`
	Members   []string      `json:"members"`
	Rivals    []string      `json:"rivals"`
	Paths     []string      `json:"paths"`
}

// NewSectionPage returns what the report says of the section with this id; nil if there is none.
func NewSectionPage(r *Report, id int) *SectionPage {
	i := slices.IndexFunc(r.Sections, func(s Section) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	p := newPageSection(r, i, 1)
	s := &r.Sections[i]
	out := &SectionPage{SectionBrief: brief(r, s), Words: p.Words, Told: full(p.Told), Time: s.Time,
		Threads: full(s.Threads), Course: s.Course, NoCause: p.NoCause,
		Pages: convert(p.Causes, causePage), Minor: convert(p.Minor, causePage),
		Candidates: convert(s.Candidates, func(c *Candidate) CauseBrief {
			return CauseBrief{Title: c.Title, Place: c.Place.String(), File: c.File, Line: c.Line, Share: c.Score, Words: c.Why}
		})}
	if b := s.Balance; b != nil && len(b.Parts) > 0 {
		out.Balance = b.Text
		out.Parts = convert(b.Parts, func(p *BalancePart) PartRow { return PartRow{p.words(), p.Share, p.Times} })
	}
	if s.Ledger != nil {
		out.Account = accountPage(&p)
	}
	return out
}

func accountPage(p *pageSection) *AccountPage {
	a := &AccountPage{Words: p.LedgerWords, Total: p.Ledger.Total, Notes: full(p.Ledger.Notes)}
	for _, row := range p.LedgerRows {
		a.Rows = append(a.Rows, AccountRow{row.where(), row.File, row.Line, row.What, row.netWords(), row.Share, row.Time})
	}
	for _, row := range p.LedgerRest {
		a.Rows = append(a.Rows, AccountRow{What: row.What, Share: row.Share, Time: row.Time})
	}
	if p.Ledger.Spent != nil {
		a.Spent = p.Ledger.Spent.Words()
	}
	return a
}

func causePage(p *pageCause) CausePage {
	c := p.Cause
	out := CausePage{CauseBrief: causeBrief(c), Event: c.Event, Family: c.Family, Score: c.Score,
		Sentence: c.Sentence, Span: p.ShareSpan, Win: p.Win,
		Agreement: c.Agreement, Stability: c.Stability, Which: p.Which, CountWord: p.CountWord, CountTime: c.CountTime,
		Counts: full(c.Counts), Source: full(c.Source),
		Members: convert(c.Members, func(m *Member) string { return cmp.Or(m.Place.String(), "?") + " (" + titleList(m.Kinds) + ")" }),
		Rivals:  convert(c.Rivals, func(v *Rival) string { return v.Place.String() + " (" + profile.KindTitle(v.Event) + ")" }),
		Paths:   convert(c.Paths, func(f *[]Frame) string { return pathWords(*f) })}
	if len(c.Parts) > 0 {
		out.Parts = partWords(c.Parts)
	}
	return out
}
