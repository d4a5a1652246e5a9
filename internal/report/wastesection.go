// In which sections memory work is wasted, and by which threads.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// WasteSection is what a section has of a kind's wasteful accesses, or of the samples of such.
type WasteSection struct {
	Section int                `json:"section"` // its id
	EndsAt  Place              `json:"ends_at"`
	Kind    string             `json:"kind"`
	Count   uint64             `json:"count"`
	Share   float64            `json:"share"` // of the kind's in all sections
	Threads []WasteThreadCount `json:"threads"`
}

// WasteThreadCount is a thread's part of that.
type WasteThreadCount struct {
	Thread int    `json:"thread"`
	Count  uint64 `json:"count"`
}

// divide divides the wasteful accesses among the sections, by kind those with the most first.
func (w *Waste) divide(res *analysis.Result) {
	if w == nil {
		return
	}
	for _, list := range [][]analysis.Section{res.Sections, res.Serial} {
		for i := range list {
			w.Sections = append(w.Sections, wasteSections(&list[i])...)
		}
	}
	w.Sections = slices.DeleteFunc(w.Sections, func(s WasteSection) bool { return w.rank(s.Kind) < 0 })
	w.parts = len(res.Sections) + len(res.Serial)
	all := map[string]uint64{}
	for i := range w.Sections {
		all[w.Sections[i].Kind] += w.Sections[i].Count
	}
	for i := range w.Sections {
		s := &w.Sections[i]
		s.Share = ratio(float64(s.Count), float64(all[s.Kind]))
	}
	slices.SortStableFunc(w.Sections, func(a, b WasteSection) int {
		return cmp.Or(cmp.Compare(w.rank(a.Kind), w.rank(b.Kind)), cmp.Compare(b.Count, a.Count))
	})
}

// rank is the place of a kind in the report.
func (w *Waste) rank(kind string) int {
	return slices.IndexFunc(w.Kinds, func(k WasteKind) bool { return k.Kind == kind })
}

// wasteSections are the rows of a section, one for each kind.
func wasteSections(s *analysis.Section) (out []WasteSection) {
	for _, x := range s.Wasted { // by kind, and then by thread
		if len(out) == 0 || out[len(out)-1].Kind != x.Kind {
			out = append(out, WasteSection{Section: int(s.ID), EndsAt: place(&s.EndsAt), Kind: x.Kind, Threads: []WasteThreadCount{}})
		}
		row := &out[len(out)-1]
		row.Count += x.Count
		row.Threads = append(row.Threads, WasteThreadCount{int(x.Thread), x.Count})
	}
	return out
}

// spreadWords tells how the threads and the sections differ.
func (w *Waste) spreadWords() string {
	return strings.TrimSpace(w.threadWords() + " " + w.sectionWords())
}

// sectionWords tells of each kind which section has most of it, and which thread of that.
func (w *Waste) sectionWords() string {
	if w.parts < 2 {
		return ""
	}
	var out []string
	for i := range w.Sections {
		s := &w.Sections[i]
		if i > 0 && w.Sections[i-1].Kind == s.Kind {
			continue
		}
		words := fmt.Sprintf("%s of the %s in that which ends at %s", unit.Percent(s.Share), w.Kinds[w.rank(s.Kind)].Title, s.EndsAt)
		if most := s.most(); len(s.Threads) > 1 {
			words += fmt.Sprintf(" (%s of these by thread %d)", unit.Percent(ratio(float64(most.Count), float64(s.Count))), most.Thread)
		}
		out = append(out, words)
	}
	if len(out) == 0 {
		return ""
	}
	return "By sections: " + strings.Join(out, "; ") + "."
}

// most is the thread with the most.
func (s *WasteSection) most() WasteThreadCount {
	return slices.MaxFunc(s.Threads, func(a, b WasteThreadCount) int { return cmp.Compare(a.Count, b.Count) })
}
