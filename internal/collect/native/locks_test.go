package native

import (
	"maps"
	"testing"

	"lime/internal/collect/threads"
	"lime/internal/profile"
	"lime/internal/section"
)

// A wait for a lock is as long as those who held it got on. Who had no core for it, or wants one
// after he was let go, is kept from it by the machine.
func TestKeptOut(t *testing.T) {
	forced := func(from, to uint64) gap { return gap{from: from, to: to} }
	slept := func(from, to, asleep uint64) gap { return gap{from, to, rest{asleep, asleep / 2, asleep}} }
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
		{"the holder sleeps for one who has no core", []gap{slept(100, 200, 100)}, []release{{200, []gap{{120, 180, rest{60, 30, 10}}}}}, 50},
		{"the holder wakes up on the way, and then has no core", []gap{slept(100, 200, 100)}, []release{{200, []gap{slept(50, 190, 60)}}}, 20},
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

// What a thread waits for a lock is charged to those who had it, one after the other, and adds up.
// Who waited himself until a moment has not had it before.
func TestBlame(t *testing.T) {
	type release struct {
		by       int32
		from, at uint64
	}
	for _, row := range []struct {
		name     string
		releases []release
		want     map[int32]uint64 // of a wait from 100 to 200
	}{
		{"one holds it", []release{{1, 0, 190}}, map[int32]uint64{1: 100}},
		{"one after the other", []release{{1, 0, 150}, {2, 0, 190}}, map[int32]uint64{1: 50, 2: 50}},
		{"the second waits, too", []release{{1, 0, 150}, {2, 151, 190}}, map[int32]uint64{1: 51, 2: 49}},
		{"the second gets it late, as the first takes it again", []release{{1, 0, 110}, {2, 180, 185}}, map[int32]uint64{1: 80, 2: 20}},
		{"the first was seen before that", []release{{1, 0, 90}, {2, 180, 190}}, map[int32]uint64{1: 80, 2: 20}},
		{"nobody is known who had it before", []release{{2, 180, 190}}, map[int32]uint64{2: 100}},
		{"nobody gives it back meanwhile", []release{{1, 0, 90}, {2, 0, 300}}, map[int32]uint64{}},
	} {
		const lock = 0x1000
		r := &locks{out: &output{paths: map[pathKey]float64{}}, unlocks: releases{}, table: lockTable{}}
		for _, u := range row.releases {
			r.unlocks.gaveBack(lock, unlock{at: u.at, from: u.from, row: u.by, path: u.by})
		}
		r.blame(lock, 100, 200)
		got := map[int32]uint64{}
		p := profile.New(profile.Meta{})
		rows := threads.LockRows[int32]{Sink: p,
			Thread: func(row section.ThreadID) profile.ThreadID { return profile.ThreadID(row) },
			Holds:  func(uint64, int32) profile.WasteSide { return profile.WasteSide{} }}
		rows.Write(profile.Lock{}, r.table.lock(lock))
		for _, h := range p.Tables().LockHolds {
			got[int32(h.Thread)] += h.Waited
		}
		for k, ns := range r.out.paths {
			if uint64(ns) != got[k.thread] {
				t.Errorf("%s: %v ns on the path of %d, %d in the table", row.name, ns, k.thread, got[k.thread])
			}
		}
		if !maps.Equal(got, row.want) {
			t.Errorf("%s: charged %v, want %v", row.name, got, row.want)
		}
	}
}

// A wait for a lock counts no longer than its holder was at work, however often that lost its core: what
// is not remembered of that is not claimed.
func TestHolderThatLosesItsCoreAgainAndAgain(t *testing.T) {
	const lock, before, run, away = 0x1000, 300, 10, 90
	for _, times := range []int{1, 100, keptGaps, keptGaps + 1, 3 * keptGaps} {
		for _, holds := range []bool{true, false} { // a core, when it gives the lock back
			by, at := &thread{}, uint64(1000)
			by.cpu.in(at, rest{})
			from := at + 3*run // the wait begins while it works
			worked := uint64(0)
			for i := range before + times {
				at += run
				if worked += run; i == before {
					from, worked = at-run/2, run/2
				}
				by.cpu.out(at, true)
				at += away
				by.cpu.in(at, rest{})
			}
			if holds {
				at, worked = at+run, worked+run
			}
			r := releases{}
			r.gaveBack(lock, unlock{at: at, by: by})
			got := r.heldUp(lock, from, at)
			if remembered := times <= keptGaps; got > worked || remembered && got != worked {
				t.Errorf("%d times without a core: it counts for %d, the holder worked for %d", times, got, worked)
			}
		}
	}
}
