package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/section"
	"lime/internal/unit"
)

// TestDealtFairly deals pieces out anew that threads had taken in any order: nothing is lost, and
// nobody is later than another by more than the largest piece, if all came for work at once.
func TestDealtFairly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 2 + r.IntN(9)
		parts, at := make([]section.Part, n), make([]uint64, n)
		segments := make([]segment, n)
		sum, largest := uint64(0), uint64(0)
		turn := uint64(0)
		comes := func(i int) {
			turn++
			segments[i].deals = append(segments[i].deals, deal{turn: turn, at: at[i]})
		}
		for range uint64(r.IntN(200)) {
			i, length := r.IntN(n), 1+r.Uint64N(1000)
			comes(i)
			at[i] += length
			sum, largest = sum+length, max(largest, length)
		}
		var bouts []bout
		for i := range parts {
			comes(i) // all are told that nothing is left
			parts[i] = section.Part{Arrive: unit.Cycles(at[i] + 1), Came: unit.Cycles(at[i] + 1), Spans: []any{&segments[i]}}
			bouts = append(bouts, boutOf(&parts[i]))
		}
		ends := dealtFairly(bouts)
		all := uint64(0)
		for _, e := range ends {
			all += e
		}
		if least, most := slices.Min(ends), slices.Max(ends); all != sum+uint64(n) || most-least > largest {
			t.Fatalf("%d pieces of %d, the largest %d: ends from %d to %d, %d in all, want %d", n, sum, largest, least, most, all, sum)
		}
	}
}

// A taskTree is tasks that make others on their way, on threads that stand at the end of a region. The
// oracle knows who made whom; the replay knows only how many had been made when one began.
type taskTree struct {
	r      *rand.Rand
	turn   uint64
	at     []uint64
	marks  [][]deal
	made   []taskMade // not begun yet
	sum    uint64
	latest uint64 // the longest chain of tasks that make each other
	most   uint64 // the longest task
}

type taskMade struct{ chain uint64 }

func (x *taskTree) note(i int, kind dealKind) {
	x.turn++
	x.marks[i] = append(x.marks[i], deal{turn: x.turn, at: x.at[i], kind: kind})
}

// runs has thread i do one of the tasks, which makes some others.
func (x *taskTree) runs(i, makes int) {
	k := x.r.IntN(len(x.made))
	chain := x.made[k].chain
	x.made = append(x.made[:k], x.made[k+1:]...)
	x.note(i, dealBegins)
	length := uint64(0)
	for range makes {
		step := 1 + x.r.Uint64N(100)
		length, x.at[i] = length+step, x.at[i]+step
		x.note(i, dealMakes)
		x.made = append(x.made, taskMade{chain + length})
	}
	step := 1 + x.r.Uint64N(1000)
	length, x.at[i] = length+step, x.at[i]+step
	x.note(i, dealEnds)
	x.sum, x.latest, x.most = x.sum+length, max(x.latest, chain+length), max(x.most, length)
	x.at[i] += x.r.Uint64N(3000) // it looks for another one
}

// parts are the threads' parts: the master makes the first tasks, and all of them come to the region's
// end before they do any.
func (x *taskTree) parts() (list []section.Part, own uint64) {
	own = x.latest
	for i := range x.marks {
		p := section.Part{Thread: section.ThreadID(i), Came: unit.Cycles(x.at[i])}
		home, away := &segment{}, &segment{task: true}
		for _, d := range x.marks[i] {
			if d.kind == dealMakes && len(away.deals) == 0 {
				home.deals = append(home.deals, d)
				continue
			}
			away.deals = append(away.deals, d)
		}
		if len(home.deals) > 0 {
			p.Arrive += unit.Cycles(own)
		}
		for k, d := range away.deals {
			if d.kind == dealEnds {
				p.Arrive += unit.Cycles(d.at - beginOf(away.deals[:k]))
			}
		}
		p.Spans = []any{home, away}
		list = append(list, p)
	}
	return list, own
}

func beginOf(marks []deal) uint64 {
	for i := len(marks) - 1; ; i-- {
		if marks[i].kind == dealBegins {
			return marks[i].at
		}
	}
}

// TestTasksDealtFairly deals random trees of tasks anew, which threads had done in any order: the end
// is never before the work divided by the threads, nor before the longest task and what the master did
// before it, and, as nobody is idle while there is a task, not later than Graham's bound allows: the work
// divided by the threads, and the longest chain.
func TestTasksDealtFairly(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 2 + r.IntN(7)
		x := &taskTree{r: r, at: make([]uint64, n), marks: make([][]deal, n)}
		for range 1 + r.IntN(20) {
			x.at[0] += 1 + r.Uint64N(50)
			x.note(0, dealMakes)
			x.made = append(x.made, taskMade{x.at[0]})
		}
		x.latest = x.at[0]
		sum := x.at[0]
		parts := 0
		mine := x.at[0]
		for i := range x.at {
			x.at[i] = mine
		}
		for len(x.made) > 0 {
			makes := 0
			if parts++; parts < 100 {
				makes = r.IntN(4)
			}
			x.runs(r.IntN(n), makes)
		}
		chain := x.latest
		x.latest = mine // what parts takes for the master's own work
		list, _ := x.parts()
		var bouts []bout
		for i := range list {
			bouts = append(bouts, boutOf(&list[i]))
		}
		sum += x.sum
		end := slices.Max(dealtFairly(bouts))
		if least := max(sum/uint64(n), mine+1, x.most); end < least || end > sum/uint64(n)+chain+mine {
			t.Fatalf("seed %d: %d of work on %d threads, the longest task %d, chain %d: ends at %d", seed, sum, n, x.most, chain, end)
		}
	}
}

// TestChance has what is due to who took which piece, and what is not: a thread's own work before
// and after, one large piece, tasks of which each makes the next.
func TestChance(t *testing.T) {
	// the deals at which a thread came, and when it arrived
	part := func(id int, arrive uint64, deals ...deal) section.Part {
		return section.Part{Thread: section.ThreadID(id), Arrive: unit.Cycles(arrive), Came: unit.Cycles(arrive), Spans: []any{&segment{deals: deals}}}
	}
	// it was idle for so long on its way, by which it arrives earlier
	idle := func(p section.Part, units unit.Cycles) section.Part {
		p.Arrive -= units
		return p
	}
	comes := func(turn, at uint64) deal { return deal{turn: turn, at: at} }
	// what it did at the end, beside that
	tasks := func(p section.Part, length uint64, deals ...deal) section.Part {
		p.Spans, p.Arrive = append(p.Spans, &segment{deals: deals, task: true}), p.Arrive+unit.Cycles(length)
		return p
	}
	task := func(turn, at, length uint64, makes ...uint64) (list []deal) {
		list = append(list, deal{turn: turn, at: at, kind: dealBegins})
		for _, after := range makes {
			list = append(list, deal{turn: turn + 1, at: at + after, kind: dealMakes})
		}
		return append(list, deal{turn: turn + 2, at: at + length, kind: dealEnds})
	}
	makes := func(turn, at uint64) deal { return deal{turn: turn, at: at, kind: dealMakes} }
	for _, c := range []struct {
		name  string
		parts []section.Part
		want  uint64
	}{
		{"nothing is dealt", []section.Part{part(0, 100), part(1, 500)}, 0},
		{"one took three, the other one", []section.Part{
			part(0, 300, comes(1, 0), comes(2, 100), comes(3, 200), comes(5, 300)), part(1, 100, comes(4, 0), comes(6, 100))}, 100},
		{"one large piece", []section.Part{
			part(0, 300, comes(1, 0), comes(3, 300)), part(1, 100, comes(2, 0), comes(4, 100))}, 0},
		{"own work behind the loop", []section.Part{
			part(0, 400, comes(1, 0), comes(3, 100)), part(1, 100, comes(2, 0), comes(4, 100))}, 0},
		{"own work in front of it", []section.Part{
			part(0, 400, comes(1, 300), comes(3, 400)), part(1, 100, comes(2, 0), comes(4, 100))}, 100},
		{"two tasks, both done by one", []section.Part{
			tasks(part(0, 10, makes(1, 0), makes(2, 0)), 200, slices.Concat(task(3, 20, 100), task(6, 500, 100))...), part(1, 10)}, 100},
		{"the second task is made by the first, at its end", []section.Part{
			tasks(part(0, 10, makes(1, 0)), 200, slices.Concat(task(3, 20, 100, 100), task(6, 500, 100))...), part(1, 10)}, 0},
		{"the same, in the midst of it", []section.Part{
			tasks(part(0, 10, makes(1, 0)), 200, slices.Concat(task(3, 20, 100, 50), task(6, 500, 100))...), part(1, 10)}, 50},
		{"tasks of a taskwait, and own work behind it", []section.Part{
			part(0, 300, slices.Concat([]deal{makes(1, 0), makes(2, 0), {turn: 3, kind: dealWaits}},
				task(4, 0, 100), task(7, 100, 100), []deal{{turn: 10, at: 200, kind: dealGoesOn}})...), part(1, 0)}, 100},
		{"the same, and idle before the tasks", []section.Part{
			idle(part(0, 1200, slices.Concat([]deal{makes(1, 0), makes(2, 0), {turn: 3, kind: dealWaits}},
				task(4, 900, 100), task(7, 1000, 100), []deal{{turn: 10, at: 1100, kind: dealGoesOn}})...), 900), part(1, 0)}, 100},
		{"idle for a task before the last piece of a loop", []section.Part{
			idle(part(0, 1300, slices.Concat([]deal{makes(1, 0), {turn: 2, kind: dealWaits}}, task(3, 900, 100),
				[]deal{{turn: 6, at: 1000, kind: dealGoesOn}, comes(7, 1000), comes(8, 1100), comes(9, 1200), comes(11, 1300)})...), 900),
			part(1, 100, comes(10, 0), comes(12, 100))}, 100},
	} {
		if got := chance(c.parts); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestDealsAreJoined notes far more pieces than are kept: no work is lost, and they are as fair as
// pieces of twice the length are.
func TestDealsAreJoined(t *testing.T) {
	const length, n = 10, 10 * mostDeals
	for _, kinds := range [][]dealKind{{dealComes}, {dealBegins, dealEnds}, {dealBegins, dealMakes, dealEnds}} {
		d, x := &dealer{}, &thread{}
		for range n {
			d.notes(x, dealMakes)
		}
		if len(x.deals.all) > mostDeals {
			t.Errorf("%d makings kept", len(x.deals.all))
		}
		for range n {
			for _, kind := range kinds {
				if kind == dealEnds || kind == dealComes {
					x.at += length
				}
				d.notes(x, kind)
			}
		}
		parts := []section.Part{{Arrive: unit.Cycles(n * length), Came: unit.Cycles(n * length), Spans: []any{&segment{deals: x.deals.all}}}, {Spans: []any{&segment{deals: []deal{{}}}}}}
		b := boutOf(&parts[0])
		tasks := 0
		for i := range b.spells {
			tasks += b.spells[i].tasks
		}
		if kinds[0] == dealBegins && tasks != n {
			t.Errorf("%v: %d tasks are left of %d", kinds, tasks, n)
		}
		if got := chance(parts); len(kinds) < 3 && (got < n*length*9/20 || got > n*length/2) {
			t.Errorf("%v: %d of %d is chance, want a half", kinds, got, n*length)
		}
	}
}
