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

// LockRow is a call that waited for a lock.
type LockRow struct {
	Lock  string  `json:"lock"` // in the first row of each lock
	Place string  `json:"place"`
	File  string  `json:"file"`
	Line  int     `json:"line"`
	Held  string  `json:"held,omitempty"` // the call that had taken it meanwhile
	Waits uint64  `json:"waits"`
	Time  float64 `json:"time"`
	Share float64 `json:"share"`
}

// lockRows are the rows of the text, and one that heads each lock.
func lockRows(r *Report) []LockRow {
	out := []LockRow{}
	for i := range r.Locks {
		l := &r.Locks[i]
		if l.Share < leastShown {
			break
		}
		out = append(out, LockRow{Lock: l.title(), Waits: l.Contended, Time: l.Time, Share: l.Share})
		for k := range l.Waits {
			w := &l.Waits[k]
			if w.Share < leastShown {
				break
			}
			out = append(out, LockRow{Place: w.Place.String(), File: w.File, Line: w.Line, Held: w.Held, Waits: w.Contended,
				Time: w.Time, Share: w.Share})
		}
	}
	return out
}

// WasteTable is memory work that was for nothing, with its words.
type WasteTable struct {
	Title   string      `json:"title"`
	Intro   string      `json:"intro"`
	Kinds   []WasteRow  `json:"kinds"`
	Threads string      `json:"threads,omitempty"` // how they differ
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
	t := &WasteTable{Title: wasteTitle, Intro: w.intro(), Threads: w.threadWords(), Lists: []WasteList{},
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
