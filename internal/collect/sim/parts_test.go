package sim

import (
	"math/rand"
	"sort"
	"testing"

	"lime/internal/collect/known"
)

// Each row of the table that is to be watched has a meaning here, and one whose return matters is
// said to be watched there.
func TestFunctionTable(t *testing.T) {
	r := &run{meter: countMeter{}, images: &images{}, out: &output{}}
	r.wire(nil)
	enterings, leavings := r.enteringTable(), r.leavingTable()
	for _, f := range known.Probed() {
		if enterings[f.Role] == nil {
			t.Errorf("%s: nothing happens when it is entered", f.Name)
		}
		if leavings[f.Role] != nil && f.Probe != known.AtBoth {
			t.Errorf("%s: its return has a meaning", f.Name)
		}
	}
	if f := byName([]string{"step_end"}, known.SectionEnd)["step_end"]; f == nil || f.Role != known.SectionEnd {
		t.Error("a declared section end is not in the table")
	}
	if byName(nil, known.SectionEnd)["__pthread_mutex_lock"] == nil {
		t.Error("static programs call __pthread_mutex_lock")
	}
}

// Rounds of a loop are taken out of all counts that a segment has of an edge, and never more than
// it holds.
func TestRoundsOfAPieceThatWasLookedAtTwice(t *testing.T) {
	r := &rounds{meter: countMeter{}}
	c := &cycle{edges: []edgeCount{{1, 1}, {2, 2}}, instrs: 5}
	p := &segment{edges: []edgeCount{{1, 7}, {3, 4}, {2, 16}, {1, 2}, {2, 5}}}
	if units, _ := r.takeRounds(p, c); units != 9*5 {
		t.Errorf("%d units were taken out, want nine rounds of 5", units)
	}
	if a, b, other := p.times(1), p.times(2), p.times(3); a != 0 || b != 3 || other != 4 {
		t.Errorf("left are %d, %d and %d, want 0, 3 and 4", a, b, other)
	}
}

// The core that runs next is always the one with the lowest clock, then the lowest number; every
// ready thread gets a core as soon as one is free.
func TestCores(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 200 {
		n := 1 + rng.Intn(6)
		c := newCores(n, 1000)
		for range 1 + rng.Intn(10) {
			c.place(&thread{lastCore: -1, readyAt: uint64(rng.Intn(100))})
		}
		for range 100 {
			k := c.next()
			if k == nil {
				break
			}
			checkOrder(t, c, k)
			step(rng, c, k)
		}
	}
}

// TestCoresAreKept has threads come into being while earlier ones are blocked: as long as there are
// cores for all, nobody's core goes to another thread, whose caches it would lose.
func TestCoresAreKept(t *testing.T) {
	c := newCores(4, 1000)
	var ts []*thread
	for i := range 4 {
		x := &thread{lastCore: -1, readyAt: uint64(10 * i)}
		c.place(x)
		c.release(x) // blocks at once
		ts = append(ts, x)
	}
	for i, x := range ts {
		if x.lastCore != i {
			t.Errorf("thread %d had core %d", i, x.lastCore)
		}
	}
	ts[1].gone = true
	x := &thread{lastCore: -1, readyAt: 50}
	if c.place(x); x.lastCore != 1 {
		t.Errorf("core %d is taken, that of a thread which is gone is 1", x.lastCore)
	}
}

func checkOrder(t *testing.T, c *cores, k *core) {
	t.Helper()
	var busy []*core
	for i := range c.all {
		if c.all[i].busy != nil {
			busy = append(busy, &c.all[i])
		}
	}
	sort.SliceStable(busy, func(i, j int) bool { return busy[i].clock < busy[j].clock })
	if busy[0] != k {
		t.Fatalf("core %d at %d runs, core %d is at %d", k.n, k.clock, busy[0].n, busy[0].clock)
	}
	if len(busy) < len(c.all) && len(c.ready) > 0 {
		t.Fatal("a core is idle while threads wait")
	}
	if !c.first(k) {
		t.Fatal("the core that runs next does not think so")
	}
	if clock, other := c.behind(k); len(busy) > 1 && (other == nil || clock != busy[1].clock) {
		t.Fatalf("the next one is at %d, not %d", busy[1].clock, clock)
	}
}

// step lets the thread of core k work, and sometimes block or be preempted.
func step(rng *rand.Rand, c *cores, k *core) {
	k.clock += uint64(1 + rng.Intn(500))
	c.moved(k)
	switch th := k.busy; rng.Intn(4) {
	case 0:
		at := k.clock
		c.release(th)
		th.readyAt = at + uint64(rng.Intn(1000))
		c.place(th)
	case 1:
		c.yield(k)
	}
}
