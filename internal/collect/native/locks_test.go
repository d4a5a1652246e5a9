package native

import "testing"

// A wait for a lock is as long as those who held it got on. Who had no core for it, or wants one
// after he was let go, is kept from it by the machine.
func TestKeptOut(t *testing.T) {
	forced := func(from, to uint64) gap { return gap{from: from, to: to} }
	slept := func(from, to, asleep uint64) gap { return gap{from, to, asleep, asleep / 2} }
	type release struct {
		at uint64
		by []gap // when who gave it back was off the core
	}
	for _, row := range []struct {
		name     string
		waiter   []gap
		releases []release
		want     uint64
	}{
		{"the holder works", []gap{slept(100, 200, 100)}, []release{{200, nil}}, 100},
		{"the waiter has no core afterwards", []gap{slept(100, 500, 100)}, []release{{200, nil}}, 100},
		{"the holder has no core", []gap{slept(100, 200, 100)}, []release{{200, []gap{forced(50, 190)}}}, 10},
		{"the holder sleeps", []gap{slept(100, 200, 100)}, []release{{200, []gap{slept(120, 180, 60)}}}, 100},
		{"the holder sleeps, and then has no core", []gap{slept(100, 200, 100)}, []release{{200, []gap{slept(120, 180, 30)}}}, 70},
		{"who is next has no core", []gap{slept(100, 400, 300)}, []release{{150, nil}, {400, []gap{slept(90, 390, 290)}}}, 60},
		{"who is next works", []gap{slept(100, 400, 300)}, []release{{150, nil}, {400, []gap{slept(90, 150, 60)}}}, 300},
		{"let go by the first, and without a core", []gap{slept(100, 400, 45)}, []release{{150, nil}, {400, nil}}, 50},
		{"nobody knows the holder", []gap{slept(100, 200, 100)}, nil, 50},
		{"it had to leave its core itself", []gap{forced(100, 200)}, []release{{150, nil}}, 0},
		{"before and after", []gap{slept(10, 20, 10), slept(600, 700, 100)}, []release{{200, nil}}, 0},
	} {
		const lock = 0x1000
		r := releases{}
		for _, u := range row.releases {
			r.gaveBack(lock, unlock{at: u.at, by: &thread{cpu: onCPU{gone: u.by}}})
		}
		if got := r.keptOut(&thread{cpu: onCPU{gone: row.waiter}}, lock, 50, 550); got != row.want {
			t.Errorf("%s: waited for %d, want %d", row.name, got, row.want)
		}
	}
}
