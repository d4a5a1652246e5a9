// What the overview of 'lime view' has of the text report besides sections: figures, locks, waste.

package report

import "strings"

// figureTiles are the figures of the head, as the text has them.
func figureTiles(r *Report) (out []Tile) {
	left, right := figures(r)
	for i := range left {
		out = append(out, Tile{left[i][0], left[i][1]}, Tile{right[i][0], right[i][1]})
	}
	return out
}

// LockRow is a lock, a call that waited for it, or one that held it meanwhile.
type LockRow struct {
	Lock    string   `json:"lock"`           // in the first row of each lock
	What    string   `json:"what,omitempty"` // in front of the place of one that held it
	Place   string   `json:"place"`
	File    string   `json:"file"`
	Line    int      `json:"line"`
	About   []string `json:"about,omitempty"` // what else is known of it, a line each
	Waits   uint64   `json:"waits"`
	Time    float64  `json:"time"`
	Longest float64  `json:"longest,omitempty"` // 0 if it is not known
	Share   float64  `json:"share"`
}

// lockRows are the rows of the text, and one that heads each lock.
func lockRows(r *Report) []LockRow {
	out := []LockRow{}
	for i := range r.Locks {
		l := &r.Locks[i]
		if l.Share < leastShown {
			break
		}
		head := LockRow{Lock: l.title(), Waits: l.Contended, Time: l.Time, Longest: l.LongestWait, Share: l.Share}
		out = append(out, head.saying(l.about(&r.Program)))
		out = append(append(out, l.waitRows()...), l.holderRows()...)
	}
	return out
}

// saying adds a line to what is known.
func (x LockRow) saying(words string) LockRow {
	if words != "" {
		x.About = append(x.About, words)
	}
	return x
}

// waitRows are the calls that waited.
func (l *Lock) waitRows() (out []LockRow) {
	for i := range l.Waits {
		w := &l.Waits[i]
		if w.Share < leastShown {
			break
		}
		row := LockRow{Place: w.Place.String(), File: w.File, Line: w.Line, Waits: w.Contended, Time: w.Time, Longest: w.Longest,
			Share: w.Share}
		if w.Held != "" && len(l.Holders) == 0 {
			row = row.saying("taken before at " + w.Held)
		}
		out = append(out, row.saying(calledFrom(w.Path)))
	}
	return out
}

// holderRows are the calls that held it.
func (l *Lock) holderRows() (out []LockRow) {
	for i := range l.Holders[:min(len(l.Holders), mostHolders)] {
		h := &l.Holders[i]
		if h.Share < leastShown {
			break
		}
		row := LockRow{What: h.what(), Place: h.Place.String(), File: h.File, Line: h.Line, Waits: h.Times, Time: h.Time,
			Longest: h.Longest, Share: h.Share}
		out = append(out, row.saying(h.threadWords()).saying(calledFrom(h.Path)))
	}
	return out
}

// WasteTable is memory work that was for nothing, with its words.
type WasteTable struct {
	Title   string      `json:"title"`
	Intro   string      `json:"intro"`
	Kinds   []WasteRow  `json:"kinds"`
	Threads string      `json:"threads,omitempty"` // how they and the sections differ
	Lists   []WasteList `json:"lists"`
}

// WasteRow is a kind's share.
type WasteRow struct {
	Title  string  `json:"title"`
	Share  float64 `json:"share"`
	Amount string  `json:"amount"` // bytes, or the bounds
}

// WasteList is the worst pairs of a kind, and what to do about them.
type WasteList struct {
	Title string         `json:"title"`
	Do    string         `json:"do"`
	Pairs []WastePairRow `json:"pairs"`
}

// WastePairRow is two places that waste memory work together; one, if both are the same.
type WastePairRow struct {
	Head  string    `json:"head"`
	Share float64   `json:"share"`
	About string    `json:"about"`
	Why   string    `json:"why,omitempty"`
	Sides []WasteAt `json:"sides"`
}

// WasteAt is one of the places.
type WasteAt struct {
	Place string `json:"place"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	Text  string `json:"text,omitempty"`
	Path  string `json:"path,omitempty"`
}

func wasteTable(w *Waste) *WasteTable {
	if w == nil {
		return nil
	}
	t := &WasteTable{Title: wasteTitle, Intro: w.intro(), Threads: w.spreadWords(), Lists: []WasteList{},
		Kinds: convert(w.Kinds, func(k *WasteKind) WasteRow { return WasteRow{k.Title, k.Share.Value, k.amount(w)} })}
	then := map[string]string{}
	for _, words := range wasteTexts() {
		then[words.kind] = words.then
	}
	for i := range w.Kinds {
		k := &w.Kinds[i]
		worst := w.worst(k.Kind, false)
		if len(worst) == 0 {
			continue
		}
		l := WasteList{Title: k.listTitle(), Do: k.Do}
		for _, x := range worst {
			row := WastePairRow{Head: x.headline(then[k.Kind]), Share: x.Share, About: x.about(), Why: whyWords(x.Why),
				Sides: []WasteAt{x.First.at()}}
			if !x.Loop() {
				row.Sides = append(row.Sides, x.Second.at())
			}
			l.Pairs = append(l.Pairs, row)
		}
		t.Lists = append(t.Lists, l)
	}
	return t
}

func (s *WasteSide) at() WasteAt {
	return WasteAt{s.Place.String(), s.File, s.Line, strings.TrimSpace(s.Text), pathWords(s.Path)}
}
