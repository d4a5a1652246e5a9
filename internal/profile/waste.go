package profile

import (
	"errors"
	"math"
)

// WasteTotal is how much of what a thread stored or loaded was waste of one kind.
type WasteTotal struct {
	Thread ThreadID
	Kind   string // "dead-store", "silent-store", "silent-load", "false-sharing"
	Bytes  uint64 // wasted; estimated if Label is Sampled
	Of     uint64 // bytes that the kind is a share of
	Low    float64
	High   float64 // the share lies between Low and High in 95 of 100 runs; both are the share where it was counted
	Label  Label
}

// WasteSide is one of the two places of a pair.
type WasteSide struct {
	Path   PathID // the innermost call that was open; None: none was
	Node   NodeID // block that holds the instruction
	Addr   uint64
	Frames []Frame
}

// WastePair is two accesses of a thread that waste memory work together.
type WastePair struct {
	Kind          string
	Thread        ThreadID
	First, Second WasteSide // in the order in which they happened
	Bytes, Count  uint64    // Count: how often the second one did
	Data          string    // what they access; "" if unknown
	Why           string    // a word for the reason; "" if none is known
}

// wasteTables came later than the rest: see later.
var wasteTables = []tableSpec{
	{"waste_total", `CREATE TABLE waste_total(id INTEGER PRIMARY KEY, thread INTEGER, kind TEXT, bytes INTEGER, bytes_of INTEGER, low REAL, high REAL, label INTEGER)`},
	{"waste_pair", `CREATE TABLE waste_pair(id INTEGER PRIMARY KEY, kind TEXT, thread INTEGER, first_path INTEGER, first_node INTEGER, first_addr INTEGER, first_place INTEGER, second_path INTEGER, second_node INTEGER, second_addr INTEGER, second_place INTEGER, bytes INTEGER, n INTEGER, data TEXT, why TEXT)`},
}

var wasteTotalRows = rowSpec[WasteTotal]{"waste_total", func(r *WasteTotal, e *env) []column {
	return []column{num[ThreadID]{&r.Thread}, text[string]{&r.Kind, e}, num[uint64]{&r.Bytes}, num[uint64]{&r.Of},
		real{&r.Low}, real{&r.High}, num[Label]{&r.Label}}
}}

var wastePairRows = rowSpec[WastePair]{"waste_pair", func(r *WastePair, e *env) []column {
	side := func(s *WasteSide) []column {
		return []column{num[PathID]{&s.Path}, num[NodeID]{&s.Node}, num[uint64]{&s.Addr}, place{&s.Frames, e}}
	}
	cols := append([]column{text[string]{&r.Kind, e}, num[ThreadID]{&r.Thread}}, side(&r.First)...)
	cols = append(cols, side(&r.Second)...)
	return append(cols, num[uint64]{&r.Bytes}, num[uint64]{&r.Count}, text[string]{&r.Data, e}, text[string]{&r.Why, e})
}}

var wasteTotalText = textRow[WasteTotal]{"waste-total", WasteTotal{Thread: None}, func(r *WasteTotal) []textField {
	return []textField{str("kind", &r.Kind), id("thread", &r.Thread), dec("bytes", &r.Bytes, 0), dec("of", &r.Of, 0),
		float("low", &r.Low), float("high", &r.High),
		enum("label", labelNames, &r.Label)}
}}

var noSide = WasteSide{Path: None, Node: None}

var wastePairText = textRow[WastePair]{"waste-pair", WastePair{Thread: None, First: noSide, Second: noSide},
	func(r *WastePair) []textField {
		return []textField{str("kind", &r.Kind), id("thread", &r.Thread), id("first-path", &r.First.Path),
			id("first-node", &r.First.Node), hex("first", &r.First.Addr), frames("first-at", &r.First.Frames),
			id("second-path", &r.Second.Path), id("second-node", &r.Second.Node), hex("second", &r.Second.Addr),
			frames("second-at", &r.Second.Frames),
			dec("bytes", &r.Bytes, 0), dec("n", &r.Count, 0), str("data", &r.Data), str("why", &r.Why)}
	}}

// checkWaste validates the tables of waste.
func (t *Tables) checkWaste(at, n extent) error {
	side := func(r *refs, s *WasteSide) {
		r.to("path", int32(s.Path), n.paths)
		r.to("node", int32(s.Node), n.nodes)
		r.frames(s.Frames, n)
	}
	return errors.Join(
		checkRows("waste_total", at.wasteTotals, t.WasteTotals, func(r *refs, _ int, x *WasteTotal) {
			r.to("thread", int32(x.Thread), n.threads)
			r.that(x.Kind != "", "it has no kind")
			r.that(x.Bytes <= x.Of, "%d bytes of %d are wasted", x.Bytes, x.Of)
			r.that(x.Label <= Unavailable, "label %d is unknown", x.Label)
			r.that(x.Low >= 0 && x.Low <= x.High && x.High <= 1 && !math.IsNaN(x.High), "it lies between %v and %v", x.Low, x.High)
		}),
		checkRows("waste_pair", at.wastePairs, t.WastePairs, func(r *refs, _ int, x *WastePair) {
			r.to("thread", int32(x.Thread), n.threads)
			r.that(x.Kind != "", "it has no kind")
			side(r, &x.First)
			side(r, &x.Second)
		}),
	)
}

// AddWasteTotal appends a thread's waste of a kind.
func (t *Tables) AddWasteTotal(r WasteTotal) { t.WasteTotals = append(t.WasteTotals, r) }

// AddWastePair appends two places that waste memory work together.
func (t *Tables) AddWastePair(r WastePair) { t.WastePairs = append(t.WastePairs, r) }

// AddWasteTotal appends a row to be written with the next transaction.
func (w *Writer) AddWasteTotal(r WasteTotal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.tables.AddWasteTotal(r)
}

// AddWastePair appends a row to be written with the next transaction.
func (w *Writer) AddWastePair(r WastePair) {
	queue(w, &w.at.wastePairs, func(r WastePair) int32 { w.next.tables.AddWastePair(r); return 0 }, r, r.First.Frames, r.Second.Frames)
}
