package view

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// randomShares have several readers put cells into runs of so many, and return what each lane is to
// have. No more than two runs of each reader are in memory where there is a disk.
func randomShares(t *testing.T, r *rand.Rand, found *runs, lanes int) (want [][]cell, shares []*share) {
	want = make([][]cell, lanes)
	for range 1 + r.IntN(4) {
		s := &share{runs: found, lanes: make([]laneShare, lanes), from: math.MaxUint64}
		shares = append(shares, s)
		at, spread := uint64(0), uint64(1+r.IntN(1000)) // from in order to at random
		for range r.IntN(40 * found.each) {
			i := r.Int32N(int32(lanes))
			at += uint64(r.IntN(5))
			c := cell{start: at + r.Uint64N(spread), work: float32(r.IntN(9)), wait: float32(r.IntN(9)), section: r.Int32N(3), seq: r.Int32()}
			want[i] = append(want[i], c)
			s.put(i, c)
			if cap(s.cells) > 2*found.each || len(s.spare) > found.each {
				t.Fatalf("room for %d cells, runs have %d", cap(s.cells)+len(s.spare), found.each)
			}
		}
		s.flush()
	}
	for _, cells := range want {
		slices.SortFunc(cells, byStart)
	}
	return want, shares
}

// What several readers have read is merged into the lanes, sorted: from memory, from a disk, and
// from memory where the disk has no room.
func TestRunsAreMerged(t *testing.T) {
	full := func(f *runs) { f.file, _ = os.Open(os.DevNull) } // nothing can be written to it
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		found := &runs{each: 1 + r.IntN(3*mergeCells)}
		where := seed % 4
		switch where {
		case 1:
			found.dir = t.TempDir()
		case 2:
			found.dir = filepath.Join(t.TempDir(), "none")
		case 3:
			full(found)
		}
		lanes := 1 + r.IntN(5)
		want, shares := randomShares(t, r, found, lanes)
		for _, one := range found.list {
			if whole := int(one.first[lanes]) == found.each; (one.cells == nil) != (whole && where == 1) {
				t.Fatalf("seed %d: a run of %d cells, %d of them in memory", seed, one.first[lanes], len(one.cells))
			}
		}
		counts := found.counts(lanes)
		for range 3 { // any stretch of lanes by itself
			first := r.IntN(lanes)
			last := first + 1 + r.IntN(lanes-first)
			got := make([][]cell, lanes)
			if err := found.merge(first, last, func(i int, cells []cell) error {
				if len(cells) == 0 {
					t.Fatalf("seed %d: nothing is put", seed)
				}
				got[i] = append(got[i], cells...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if i < first || i >= last {
					if got[i] != nil {
						t.Fatalf("seed %d: lane %d is none of %d to %d", seed, i, first, last)
					}
				} else if !slices.Equal(got[i], want[i]) || counts[i] != len(want[i]) {
					t.Fatalf("seed %d, lane %d: %d cells, %d counted, want %d", seed, i, len(got[i]), counts[i], len(want[i]))
				}
			}
		}
		x := &index{lanes: make([]lane, lanes), from: math.MaxUint64}
		x.sum(shares)
		for i := range want {
			reach, until := uint64(0), uint64(0)
			for _, c := range want[i] {
				reach, until = max(reach, c.end()-c.start+1), max(until, c.end())
			}
			if l := &x.lanes[i]; l.reach != reach || l.until != until {
				t.Fatalf("seed %d, lane %d: reach %d, want %d; until %d, want %d", seed, i, l.reach, reach, l.until, until)
			}
		}
		if where == 1 {
			if left, _ := os.ReadDir(found.dir); len(left) > 0 {
				t.Fatalf("the file has a name: %v", left)
			}
		}
		found.close()
	}
}

// Lanes are divided into stretches that are all of them, in order.
func TestPortions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for range 500 {
		counts := make([]int, 1+r.IntN(9))
		for i := range counts {
			counts[i] = r.IntN(4) * r.IntN(100)
		}
		n := 1 + r.IntN(5)
		bounds, before := portions(counts, n)
		if len(bounds) != len(before)+1 || len(before) > n || bounds[0] != 0 || bounds[len(before)] != len(counts) || !slices.IsSorted(bounds) {
			t.Fatalf("%v by %d: %v, %v", counts, n, bounds, before)
		}
		for k, b := range before {
			sum := 0
			for _, c := range counts[:bounds[k]] {
				sum += c
			}
			if sum != b {
				t.Fatalf("%v by %d: %d before lane %d, want %d", counts, n, b, bounds[k], sum)
			}
		}
	}
}

// sameIndex holds an index against another one.
func sameIndex(t *testing.T, x, y *index) {
	t.Helper()
	if x.from != y.from || x.to != y.to || x.parts != y.parts || len(x.lanes) != len(y.lanes) || len(x.levels) != len(y.levels) {
		t.Fatalf("%d lanes of %d parts from %d to %d", len(y.lanes), y.parts, y.from, y.to)
	}
	for i := range x.lanes {
		if !slices.Equal(x.lanes[i].cells, y.lanes[i].cells) || x.lanes[i].reach != y.lanes[i].reach || x.lanes[i].until != y.lanes[i].until {
			t.Fatalf("lane %d is another", i)
		}
	}
	for s := range x.sections {
		a, b := &x.sections[s], &y.sections[s]
		if !slices.Equal(a.threads, b.threads) || !slices.Equal(a.longest, b.longest) || !slices.Equal(a.last, b.last) {
			t.Fatalf("section %d is another", s)
		}
	}
	for z := range x.levels {
		for k := range x.levels[z] {
			if !bytes.Equal(x.levels[z][k], y.levels[z][k]) {
				t.Fatalf("level %d, tile %d is another", z, k)
			}
		}
	}
}

// bare is a profile of parts alone, one barrier after the other.
func bare(t *testing.T, threads, instances int) *profile.Profile {
	t.Helper()
	p := profile.New(profile.Meta{ClockUnit: "ns", Cores: threads})
	p.AddNode(profile.Node{Image: profile.None, Function: profile.None})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	for range threads {
		p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	}
	r := rand.New(rand.NewPCG(2, 6))
	for i := range instances {
		in := &profile.Instance{Parts: make([]profile.Part, threads)}
		begin := uint64(i) * 1000
		for k := range in.Parts {
			in.Parts[k] = profile.Part{Thread: profile.ThreadID(k), Start: begin, Arrive: begin + r.Uint64N(900), Release: begin + 900}
		}
		put(t, p, in)
	}
	return p
}

// onDisk makes an index on a disk.
func onDisk(t *testing.T, p Source, d *disk) *index {
	t.Helper()
	var done atomic.Int64
	x, err := buildIndex(p, &done, new(Heap), d)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The index of a large profile is the same, made in memory and on a disk: in a file that is kept, in
// one that is not, and where there is no room for it after all. No other file is left.
func TestAnIndexOnADiskIsTheSame(t *testing.T) {
	p := bare(t, 70, 9000) // 630,000 parts: runs of each reader, and levels
	x := build(t, p)
	if x.parts < 9*runCells || len(x.levels) < 2 {
		t.Fatalf("%d parts, %d levels", x.parts, len(x.levels))
	}
	dir := t.TempDir()
	s := &store{dir: dir}
	kept := func(fill func(*os.File) error) (string, error) { return s.file(keptIndex), s.write(keptIndex, fill) }
	full := func(fill func(*os.File) error) (string, error) {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return "", fill(f)
	}
	late := func(fill func(*os.File) error) (string, error) {
		_, err := kept(fill)
		return "", cmp.Or(err, os.ErrClosed)
	}
	for name, c := range map[string]struct {
		disk   disk
		mapped bool
		left   string
	}{
		"kept":         {disk{dir, kept}, true, keptIndex},
		"not kept":     {disk{dir, nil}, true, ""},
		"no room":      {disk{dir, full}, false, ""},
		"none at last": {disk{dir, late}, false, keptIndex},
		"no directory": {disk{filepath.Join(dir, "none"), nil}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			y := onDisk(t, p, &c.disk)
			if (y.file != nil) != c.mapped {
				t.Fatalf("mapped: %v", y.file != nil)
			}
			sameIndex(t, x, y)
			var names []string
			left, _ := os.ReadDir(dir)
			for _, e := range left {
				names = append(names, e.Name())
			}
			if got := strings.Join(names, " "); got != c.left {
				t.Errorf("left: %q", got)
			}
			os.Remove(s.file(keptIndex))
		})
	}
}

// inMemory is how much of a file's mapping is in memory, in bytes.
func inMemory(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), path+"\n")
	_, rest, rss := strings.Cut(rest, "Rss:")
	line, _, _ := strings.Cut(rest, " kB")
	kb, err := strconv.Atoi(strings.TrimSpace(line))
	if !ok || !rss || err != nil {
		t.Fatalf("%s is not mapped: %v", path, err)
	}
	return kb << 10
}

// Whatever has been looked at, little of an index that is mapped stays in memory: at most the pages
// about the ends of its lanes and what is no part.
func TestWhatWasLookedAtIsGivenBack(t *testing.T) {
	const threads = 5
	r, path := fileRun(t, bare(t, threads, 30000)) // 1 MB in each lane
	if err := r.Keep(t.TempDir(), analysis.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	x, err := r.index()
	if err != nil || x.file == nil {
		t.Fatalf("%s: not mapped, %v", path, err)
	}
	cells := 0
	for i := range x.lanes {
		cells += len(raw(x.lanes[i].cells))
	}
	most := len(x.file) - cells + threads*2*os.Getpagesize()
	if most > cells/2 {
		t.Fatalf("%d bytes of cells, %d of the rest", cells, most)
	}
	a := NewAPI([]*Run{r})
	file := r.kept.file(keptIndex)
	if got := inMemory(t, file); got > most {
		t.Errorf("%d of %d bytes after it was made", got, len(x.file))
	}
	for _, q := range []string{"window", "threads?s=0", "threads", "cells?s=0&z=9", "span?z=12&x=7", "parts?from=100000&to=101000",
		"critical"} {
		if _, err := answer(t, a, q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
		if got := inMemory(t, file); got > most {
			t.Errorf("%s: %d of %d bytes stay in memory, %d at most", q, got, len(x.file), most)
		}
	}
	runtime.KeepAlive(x)
}
