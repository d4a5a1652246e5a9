// What became of the time of a program that measures itself, on as many cores as it has threads: its
// own pieces, put in order by a scheduler that is small enough to be read.
package workloads

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// piece is what a thread did in one go, in ns.
type piece struct{ Own, Under, Slept, Turn int64 }

// measuredRun is what a program says of itself.
type measuredRun struct {
	all     int64 // CPU time of the process
	threads [][]piece
}

// slack is how much later than asked for a timer lets a thread go, at most, in ns (prctl(2),
// PR_SET_TIMERSLACK).
const slack = 50_000

func readMeasured(out []byte, k *knobs) (m measuredRun, err error) {
	in := bytes.NewReader(out)
	if err := binary.Read(in, binary.LittleEndian, &m.all); err != nil {
		return m, err
	}
	for range k.threads {
		var n int64
		if err := binary.Read(in, binary.LittleEndian, &n); err != nil {
			return m, err
		}
		list := make([]piece, n)
		if err := binary.Read(in, binary.LittleEndian, list); err != nil {
			return m, err
		}
		for i := range list { // what it took to get a core again is none of it
			list[i].Slept = min(list[i].Slept, int64(k.nap)*1000+slack)
		}
		m.threads = append(m.threads, list)
	}
	return m, nil
}

// terms is time by term of the account, in ns.
type terms map[string]float64

func (x terms) sum() (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// most are the two terms that lose most.
func (x terms) most() (first, second string) {
	var names []string
	for n := range x {
		if n != "useful" && n != "unproved" {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(x[b], x[a]), cmp.Compare(a, b)) })
	return names[0], names[1]
}

// ideal is what becomes of the time of as many cores as there are threads, by the pieces' own times.
func (m *measuredRun) ideal(k *knobs) terms {
	t := terms{"useful": 0, "imbalance": 0, "serial": 0, "lock": 0, "wait": 0, "off_core": 0}
	for _, list := range m.threads {
		for _, p := range list {
			t["useful"] += float64(p.Own + p.Under)
		}
	}
	switch k.kind {
	case "phases", "region":
		m.meet(k, t)
	case "locked":
		m.queue(t)
	case "shared":
		m.deal(t)
	case "stages":
		m.pass(t)
	}
	return t
}

// meet is for threads that meet behind each turn: what they wait for is its longest part. Turns with
// an even number are one thread's.
func (m *measuredRun) meet(k *knobs, t terms) {
	long, who := map[int64]float64{}, map[int64]piece{}
	for _, list := range m.threads {
		for _, p := range list {
			if x := float64(p.Own + p.Slept); x > long[p.Turn] {
				long[p.Turn], who[p.Turn] = x, p
			}
		}
	}
	for turn, x := range long {
		for _, list := range m.threads {
			i, ok := slices.BinarySearchFunc(list, turn, func(p piece, turn int64) int { return cmp.Compare(p.Turn, turn) })
			var p piece
			if ok {
				p = list[i]
			}
			t["off_core"] += float64(p.Slept)
			idle := x - float64(p.Own+p.Slept)
			if k.meeting == "dynamic" && turn%2 == 1 { // who had a core got the pieces
				continue
			}
			switch late := float64(who[turn].Slept); {
			case turn%2 == 0:
				t["serial"] += idle
			default:
				t["off_core"] += min(idle, late)
				t["imbalance"] += idle - min(idle, late)
			}
		}
	}
}

// queue is for threads that go through one lock, in the order in which they come.
func (m *measuredRun) queue(t terms) {
	n := len(m.threads)
	at, next, came := make([]float64, n), make([]int, n), make([]float64, n)
	arrive := func(i int) {
		came[i] = at[i] + float64(m.threads[i][next[i]].Own)
	}
	left := 0
	for i := range n {
		if len(m.threads[i]) > 0 {
			arrive(i)
			left++
		}
	}
	waited, free := make([]float64, n), 0.0
	for left > 0 {
		i := -1
		for j := range n {
			if next[j] < len(m.threads[j]) && (i < 0 || came[j] < came[i]) {
				i = j
			}
		}
		begin := max(free, came[i])
		waited[i] += begin - came[i]
		at[i] = begin + float64(m.threads[i][next[i]].Under)
		free = at[i]
		if next[i]++; next[i] < len(m.threads[i]) {
			arrive(i)
		} else {
			left--
		}
	}
	t["lock"] += sumOf(waited)
	t["imbalance"] += behind(at) // at the join
}

func sumOf(xs []float64) (sum float64) {
	for _, x := range xs {
		sum += x
	}
	return sum
}

// behind is what all wait for the last.
func behind(ends []float64) (sum float64) {
	last := slices.Max(ends)
	for _, x := range ends {
		sum += last - x
	}
	return sum
}

// deal is for pieces that go to whoever is free.
func (m *measuredRun) deal(t terms) {
	all, ends := slices.Concat(m.threads...), make([]float64, len(m.threads))
	slices.SortFunc(all, func(a, b piece) int { return cmp.Compare(a.Turn, b.Turn) })
	for _, p := range all {
		i := slices.Index(ends, slices.Min(ends))
		ends[i] += float64(p.Own)
	}
	t["imbalance"] += behind(ends)
}

// pass is for stages with queues of four in between.
func (m *measuredRun) pass(t terms) {
	const room = 4
	n, items := len(m.threads), len(m.threads[0])
	handed, taken := make([][]float64, n), make([][]float64, n) // when the item left the stage, and when it came
	at := make([]float64, n)
	for i := range n {
		handed[i], taken[i] = make([]float64, items), make([]float64, items)
	}
	for k := range items {
		for i := range n {
			begin := at[i]
			if i > 0 {
				begin = max(begin, handed[i-1][k])
			}
			taken[i][k] = begin
			done := begin + float64(m.threads[i][k].Own)
			if i+1 < n && k >= room {
				done = max(done, taken[i+1][k-room])
			}
			t["wait"] += done - at[i] - float64(m.threads[i][k].Own)
			handed[i][k], at[i] = done, done
		}
	}
	t["wait"] += behind(at)
}

// The scheduler on programs that are reckoned by hand.
func TestMeasuredTruth(t *testing.T) {
	own := func(ns ...int64) (list []piece) {
		for i, x := range ns {
			list = append(list, piece{Own: x, Turn: int64(2*i + 1)})
		}
		return list
	}
	under := func(list []piece, ns int64) []piece {
		for i := range list {
			list[i].Under = ns
		}
		return list
	}
	for _, row := range []struct {
		kind    string
		threads [][]piece
		term    string
		want    float64
	}{
		{"phases", [][]piece{own(10, 30), own(20, 10)}, "imbalance", 10 + 20},
		{"locked", [][]piece{under(own(10, 10), 20), under(own(10, 10), 20)}, "lock", 20 + 10 + 10},
		{"shared", [][]piece{own(10, 10, 10, 10), own()}, "imbalance", 0},
		{"shared", [][]piece{own(10), own(), own()}, "imbalance", 20},
		{"stages", [][]piece{own(10, 10), own(30, 30)}, "wait", 10 + 50},
	} {
		m := &measuredRun{threads: row.threads}
		if got := m.ideal(&knobs{kind: row.kind, threads: len(row.threads)}); math.Abs(got[row.term]-row.want) > 1e-9 {
			t.Errorf("%s: %v, want %s %.0f", row.kind, got, row.term, row.want)
		}
	}
}
