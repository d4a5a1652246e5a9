package report

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/unit"
)

// Waste is memory work that was for nothing.
type Waste struct {
	Label     string             `json:"label"`     // "measured": every access was looked at; "sampled"
	Fractions map[string]float64 `json:"fractions"` // of the bytes stored, or loaded, by kind
	Kinds     []WasteKind        `json:"kinds"`
	Threads   []WasteThread      `json:"threads"`
	Sections  []WasteSection     `json:"sections"` // that have some, those of the report and serial ones
	Pairs     []WastePair        `json:"pairs"`    // the worst first

	parts int // sections of the report
}

// WasteKind is one kind of waste in the whole run.
type WasteKind struct {
	Kind  string   `json:"kind"`
	Title string   `json:"title"`
	Share Interval `json:"share"`
	Bytes uint64   `json:"bytes"`
	Of    uint64   `json:"of"` // bytes stored, or loaded
	What  string   `json:"what"`
	Do    string   `json:"do"`
}

// WasteThread is the waste of a thread.
type WasteThread struct {
	Thread    int                 `json:"thread"`
	Name      string              `json:"name,omitempty"`
	Fractions map[string]float64  `json:"fractions"`
	Shares    map[string]Interval `json:"shares"` // the same, with bounds that hold for all threads together
}

// WastePair is two places that waste memory work together, over all threads, in the order in which
// they come.
type WastePair struct {
	Kind    string    `json:"kind"`
	Share   float64   `json:"share"` // of the bytes stored, or loaded, in the whole run
	Bytes   uint64    `json:"bytes"`
	Count   uint64    `json:"count"`
	Threads int       `json:"threads"`
	First   WasteSide `json:"first"`
	Second  WasteSide `json:"second"`
	Data    string    `json:"data"`
	Why     string    `json:"why,omitempty"`
}

// WasteSide is one of the places.
type WasteSide struct {
	Place
	Text string  `json:"text,omitempty"` // of the line
	Path []Frame `json:"path"`           // the calls that were open, outermost first
}

// wasteWords are the words for a kind: its title, what it is, the verb of the second access, what
// to do about it.
type wasteWords struct{ title, of, what, then, do string }

// wasteTexts is the table of them, in the order of the report.
func wasteTexts() []struct {
	kind string
	wasteWords
} {
	return []struct {
		kind string
		wasteWords
	}{
		{"dead-store", wasteWords{"dead stores", "stored", "stored over before anybody read it", "stored over at",
			"Store once, where the value is final: drop the first store, narrow what it clears to what is read, or " +
				"keep the value in a register (a local variable, restrict) until it is."}},
		{"silent-store", wasteWords{"silent stores", "stored", "stored where the same value stood already", "stored again at",
			"Test whether anything has changed before computing and storing it, or move what never changes out of the loop."}},
		{"silent-load", wasteWords{"silent loads", "loaded", "loaded again, unchanged", "loaded again at",
			"Keep the value at hand: in a local variable, in a block that fits the registers or the cache, in an " +
				"index instead of a search, in a table instead of a computation."}},
		{"false-sharing", wasteWords{"false sharing", "touched", "on a line that another thread had stored to, at other bytes", "beside it at",
			"Put what different threads write on lines of their own: pad it to 64 bytes, or give each thread a copy."}},
	}
}

// reportedPairs is how many pairs a report has.
const reportedPairs = 100

// wasteOf makes the part of a report; nil if nobody looked for waste.
func wasteOf(t *profile.Tables) *Waste {
	if len(t.WasteTotals) == 0 {
		return nil
	}
	w := &Waste{Label: profile.Measured.String(), Fractions: map[string]float64{}, Kinds: []WasteKind{},
		Threads: []WasteThread{}, Sections: []WasteSection{}, Pairs: []WastePair{}}
	for _, text := range wasteTexts() {
		if k, ok := wasteKind(t, text.kind, text.wasteWords); ok {
			w.Kinds = append(w.Kinds, k)
			w.Fractions[k.Kind] = k.Share.Value
		}
	}
	for i := range t.WasteTotals {
		w.Label = t.WasteTotals[i].Label.String()
	}
	w.threads(t)
	w.pairs(t)
	return w
}

// threads sums up what each of them wasted; of kinds of which it has touched no byte it says nothing.
func (w *Waste) threads(t *profile.Tables) {
	byThread := map[profile.ThreadID]map[string]*wasteSum{}
	for i := range t.WasteTotals {
		x := &t.WasteTotals[i]
		if x.Thread < 0 || int(x.Thread) >= len(t.Threads) || x.Of == 0 { // of the run as a whole
			continue
		}
		if byThread[x.Thread] == nil {
			byThread[x.Thread] = map[string]*wasteSum{}
		}
		if byThread[x.Thread][x.Kind] == nil {
			byThread[x.Thread][x.Kind] = &wasteSum{}
		}
		byThread[x.Thread][x.Kind].add(x)
	}
	for _, id := range slices.Sorted(maps.Keys(byThread)) {
		row := WasteThread{Thread: int(id), Name: t.Threads[id].Name, Fractions: map[string]float64{}, Shares: map[string]Interval{}}
		for kind, sum := range byThread[id] {
			row.Shares[kind] = sum.share()
			row.Fractions[kind] = row.Shares[kind].Value
		}
		w.Threads = append(w.Threads, row)
	}
}

// wasteSum adds totals of a kind up. Bounds of several add up: their errors may be one another's.
type wasteSum struct {
	bytes, of uint64
	low, high float64 // in bytes
	unknown   bool    // something is not known exactly
}

func (s *wasteSum) add(x *profile.WasteTotal) {
	s.bytes, s.of = s.bytes+x.Bytes, s.of+x.Of
	s.low, s.high = s.low+x.Low*float64(x.Of), s.high+x.High*float64(x.Of)
	s.unknown = s.unknown || x.High > x.Low
}

func (s *wasteSum) share() Interval {
	if s.of == 0 && s.unknown {
		return Interval{High: 1}
	}
	of := float64(s.of)
	return Interval{ratio(float64(s.bytes), of), ratio(s.low, of), ratio(s.high, of)}
}

// wasteKind sums up a kind: the rows of the run as a whole, or of all threads if there are none.
func wasteKind(t *profile.Tables, kind string, words wasteWords) (WasteKind, bool) {
	var whole, all wasteSum
	sum, found := &all, false
	for i := range t.WasteTotals {
		x := &t.WasteTotals[i]
		switch {
		case x.Kind != kind:
			continue
		case x.Thread < 0:
			sum = &whole
			whole.add(x)
		default:
			all.add(x)
		}
		found = true
	}
	return WasteKind{Kind: kind, Title: words.title, What: words.what, Do: words.do, Bytes: sum.bytes, Of: sum.of, Share: sum.share()}, found
}

// merged is what is kept of pairs that are put together.
type merged struct {
	at      int // in the list
	threads map[profile.ThreadID]bool
	reasons map[string]uint64 // the bytes that each explains
}

// pairs puts the pairs of all threads together that are at the same lines, called by the same
// lines.
func (w *Waste) pairs(t *profile.Tables) {
	by := map[string]*merged{}
	for i := range t.WastePairs {
		x := &t.WastePairs[i]
		p := WastePair{Kind: x.Kind, First: side(t, &x.First), Second: side(t, &x.Second)}
		key := x.Kind + p.First.key() + p.Second.key()
		m := by[key]
		if m == nil {
			m = &merged{len(w.Pairs), map[profile.ThreadID]bool{}, map[string]uint64{}}
			by[key] = m
			w.Pairs = append(w.Pairs, p)
		}
		m.add(&w.Pairs[m.at], x)
	}
	of := map[string]uint64{}
	for _, k := range w.Kinds {
		of[k.Kind] = k.Of
	}
	for i := range w.Pairs {
		w.Pairs[i].Share = ratio(float64(w.Pairs[i].Bytes), float64(of[w.Pairs[i].Kind]))
	}
	slices.SortStableFunc(w.Pairs, func(a, b WastePair) int { return cmp.Compare(b.Bytes, a.Bytes) })
	w.Pairs = slices.Clip(w.Pairs[:min(len(w.Pairs), reportedPairs)])
}

// add adds a thread's pair to what is put together. Its reason is one that holds for more than half
// of the bytes: a pair for which none is known contradicts none.
func (m *merged) add(sum *WastePair, x *profile.WastePair) {
	sum.Bytes, sum.Count, sum.Data = sum.Bytes+x.Bytes, sum.Count+x.Count, cmp.Or(sum.Data, x.Data)
	m.threads[x.Thread] = true
	sum.Threads = len(m.threads)
	m.reasons[x.Why] += x.Bytes
	sum.Why = ""
	for why, bytes := range m.reasons {
		if bytes > sum.Bytes-bytes {
			sum.Why = why
		}
	}
}

// key tells places apart as people do: by lines.
func (s *WasteSide) key() string {
	key := fmt.Sprintf("|%s:%d:%s", s.File, s.Line, s.Function)
	if s.Line == 0 {
		key += s.Address
	}
	return key + fmt.Sprint(s.Path)
}

func side(t *profile.Tables, s *profile.WasteSide) WasteSide {
	out := WasteSide{Place: Place{Address: unit.Addr(s.Addr).String()}, Path: []Frame{}}
	if len(s.Frames) > 0 {
		f := frameOf(t, s.Frames[0])
		out.File, out.Line, out.Function = f.File, f.Line, f.Function
		out.Text = lineText(t, s.Frames[0])
		for _, f := range s.Frames[1:] {
			out.Inlined = append(out.Inlined, frameOf(t, f))
		}
	}
	if s.Node >= 0 && int(s.Node) < len(t.Nodes) {
		n := &t.Nodes[s.Node]
		if out.Function == "" && n.Function >= 0 {
			out.Function = t.Functions[n.Function].Name
		}
		if n.Image >= 0 {
			out.Image = t.Images[n.Image].Path
		}
	}
	own := 0
	for id := s.Path; id >= 0; id = t.Paths[id].Parent {
		out.Path = append(out.Path, nodeFrame(t, t.Paths[id].Node))
		if !starts(t, t.Paths[id].Node) {
			own = len(out.Path)
		}
	}
	out.Path = out.Path[:own]
	slices.Reverse(out.Path)
	return out
}

// starts reports whether a call may be the runtime's on its way to the program's own code, which
// nobody wants to read.
func starts(t *profile.Tables, id profile.NodeID) bool {
	if id < 0 || int(id) >= len(t.Nodes) {
		return true
	}
	n := &t.Nodes[id]
	return n.Image < 0 || origin.LibraryImage(t.Images[n.Image].Path) || len(n.Frames) == 0 || n.Frames[0].Line == 0
}

func frameOf(t *profile.Tables, f profile.Frame) Frame {
	out := Frame{Line: int(f.Line), Function: f.Name()}
	if f.File >= 0 && int(f.File) < len(t.Files) {
		out.File = t.Files[f.File].Path
	}
	return out
}

func lineText(t *profile.Tables, f profile.Frame) string {
	if f.File >= 0 && int(f.File) < len(t.Files) {
		return t.Files[f.File].Lines[f.Line]
	}
	return ""
}

// nodeFrame is the line of a call.
func nodeFrame(t *profile.Tables, id profile.NodeID) Frame {
	if id < 0 || int(id) >= len(t.Nodes) {
		return Frame{}
	}
	n := &t.Nodes[id]
	if len(n.Frames) > 0 {
		return frameOf(t, n.Frames[0])
	}
	out := Frame{}
	if n.Function >= 0 {
		out.Function = t.Functions[n.Function].Name
	}
	if out.Function == "" && n.Image >= 0 {
		out.Function = filepath.Base(t.Images[n.Image].Path)
	}
	return out
}
