package report

import (
	"cmp"
	"fmt"
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
	Pairs     []WastePair        `json:"pairs"` // the worst first
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
	Thread    int                `json:"thread"`
	Name      string             `json:"name,omitempty"`
	Fractions map[string]float64 `json:"fractions"`
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
		Threads: []WasteThread{}, Pairs: []WastePair{}}
	for _, text := range wasteTexts() {
		if k, ok := wasteKind(t, text.kind, text.wasteWords); ok {
			w.Kinds = append(w.Kinds, k)
			w.Fractions[k.Kind] = k.Share.Value
		}
	}
	byThread := map[profile.ThreadID]map[string][2]uint64{}
	for i := range t.WasteTotals {
		x := &t.WasteTotals[i]
		w.Label = x.Label.String()
		if x.Thread < 0 { // of the run as a whole
			continue
		}
		if byThread[x.Thread] == nil {
			byThread[x.Thread] = map[string][2]uint64{}
		}
		sum := byThread[x.Thread][x.Kind]
		byThread[x.Thread][x.Kind] = [2]uint64{sum[0] + x.Bytes, sum[1] + x.Of}
	}
	for id, sums := range byThread {
		row := WasteThread{Thread: int(id), Fractions: map[string]float64{}}
		if id >= 0 && int(id) < len(t.Threads) {
			row.Name = t.Threads[id].Name
		}
		for kind, sum := range sums {
			row.Fractions[kind] = ratio(float64(sum[0]), float64(sum[1]))
		}
		w.Threads = append(w.Threads, row)
	}
	slices.SortFunc(w.Threads, func(a, b WasteThread) int { return cmp.Compare(a.Thread, b.Thread) })
	w.pairs(t)
	return w
}

// wasteKind sums up a kind over the threads. Bounds of several threads add up: their errors may be
// one another's.
func wasteKind(t *profile.Tables, kind string, words wasteWords) (WasteKind, bool) {
	k := WasteKind{Kind: kind, Title: words.title, What: words.what, Do: words.do}
	found, unknown := false, false
	for i := range t.WasteTotals {
		if x := &t.WasteTotals[i]; x.Kind == kind {
			found, unknown = true, unknown || x.High > x.Low
			k.Bytes += x.Bytes
			k.Of += x.Of
			k.Share.Low += x.Low * float64(x.Of)
			k.Share.High += x.High * float64(x.Of)
		}
	}
	of := float64(k.Of)
	if k.Of == 0 && found && unknown {
		k.Share.High = 1
		return k, found
	}
	k.Share = Interval{ratio(float64(k.Bytes), of), ratio(k.Share.Low, of), ratio(k.Share.High, of)}
	return k, found
}

// pairs puts the pairs of all threads together that are at the same lines, called by the same
// lines.
func (w *Waste) pairs(t *profile.Tables) {
	by := map[string]int{}
	threads := map[string]map[profile.ThreadID]bool{}
	for i := range t.WastePairs {
		x := &t.WastePairs[i]
		p := WastePair{Kind: x.Kind, Bytes: x.Bytes, Count: x.Count, First: side(t, &x.First),
			Second: side(t, &x.Second), Data: x.Data, Why: x.Why}
		key := x.Kind + p.First.key() + p.Second.key()
		at, ok := by[key]
		if !ok {
			at = len(w.Pairs)
			by[key], threads[key] = at, map[profile.ThreadID]bool{}
			w.Pairs = append(w.Pairs, p)
		} else {
			sum := &w.Pairs[at]
			sum.Bytes, sum.Count = sum.Bytes+x.Bytes, sum.Count+x.Count
			if sum.Data == "" {
				sum.Data = x.Data
			}
			if sum.Why != x.Why {
				sum.Why = ""
			}
		}
		threads[key][x.Thread] = true
		w.Pairs[at].Threads = len(threads[key])
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
