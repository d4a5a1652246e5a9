package view

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// Size of a tile of the time line.
const (
	bandRows  = 64  // threads of a band
	spanCells = 256 // columns
	spanDeep  = 40  // levels: a run of 2^48 clock units down to one in a column
)

// spanTile returns the shares of the states in 1/2^z of the run, for a band of threads.
func (x *index) spanTile(z, tile, band int) ([]byte, error) {
	if tile >= 1<<z {
		return nil, bad("level %d has the tiles 0 to %d", z, 1<<z-1)
	}
	rows := x.band(band)
	if len(rows) == 0 {
		return nil, missing("there is no band %d of threads", band)
	}
	if z < len(x.levels) {
		return x.levels[z][tile*x.bands()+band], nil
	}
	return x.makeTile(rows, z, tile), nil
}

// makeTile makes a tile from the parts.
func (x *index) makeTile(rows []lane, z, tile int) []byte {
	whole := float64(x.to - x.from)
	width := whole / float64(uint64(1)<<z) / spanCells
	begin := float64(tile) * spanCells * width // from x.from on: differences keep more digits than clocks
	out := make([]byte, len(rows)*spanCells*int(states))
	var sums [spanCells][states]float64
	for r := range rows {
		clear(sums[:])
		l := &rows[r]
		lo, hi := x.from+uint64(begin), x.from+uint64(begin+spanCells*width)+1
		l.segments(lo, hi, func(c *cell, from, to uint64) {
			spread(&sums, c, float64(from-x.from)-begin, float64(to-x.from)-begin, width, float64(from-c.start))
		})
		fillRow(out[r*spanCells*int(states):], &sums, width)
	}
	x.drop(rows)
	return out
}

// tileParts is how many parts a tile may be made from while somebody waits for it: a few
// milliseconds' worth.
const tileParts = 50_000

// coarse makes the levels whose tiles lie over more than so many parts: the finest of them from the
// parts, the others each from the next.
func (x *index) coarse(parts int) error {
	n := 0
	for b := range x.bands() {
		most := 0
		for _, l := range x.band(b) {
			most += len(l.cells)
		}
		for n < spanDeep && most>>n > parts {
			n++
		}
	}
	x.levels = make([][][]byte, n)
	for z := n - 1; z >= 0; z-- {
		level := make([][]byte, x.bands()<<z)
		x.levels[z] = level
		if err := inParallel(len(level), func(k int) error {
			tile, b := k/x.bands(), k%x.bands()
			if z == n-1 {
				level[k] = x.makeTile(x.band(b), z, tile)
				return nil
			}
			finer := x.levels[z+1]
			level[k] = halved(finer[2*tile*x.bands()+b], finer[(2*tile+1)*x.bands()+b])
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// halved makes a tile of two that lie side by side: a cell is the mean of two. Halves are rounded
// up and down in turns, and never make more than there is.
func halved(left, right []byte) []byte {
	const wide = spanCells * int(states)
	out := make([]byte, 0, len(left))
	for at := 0; at < len(left); at += wide {
		for _, half := range [][]byte{left[at : at+wide], right[at : at+wide]} {
			for k := 0; k < wide; k += 2 * int(states) {
				room, up := 255, len(out)/int(states)%2
				for s := range int(states) {
					share := min(room, (int(half[k+s])+int(half[k+int(states)+s])+up)/2)
					out = append(out, byte(share))
					room -= share
				}
			}
		}
	}
	return out
}

// bands is into how many bands the threads are divided.
func (x *index) bands() int { return (len(x.lanes) + bandRows - 1) / bandRows }

// band returns the lanes of a band of threads.
func (x *index) band(band int) []lane {
	lo := min(band*bandRows, len(x.lanes))
	return x.lanes[lo:min(lo+bandRows, len(x.lanes))]
}

// spread adds what a part did between two points of a tile to its columns; after is how long after
// the part's start the first is.
func spread(sums *[spanCells][states]float64, c *cell, from, to, width, after float64) {
	first, last := int(from/width), int(to/width)
	for k := max(first, 0); k <= min(last, spanCells-1); k++ {
		lo, hi := max(from, float64(k)*width), min(to, float64(k+1)*width)
		if hi > lo {
			add(sums, k, c.shares(after+lo-from, after+hi-from))
		}
	}
}

func add(sums *[spanCells][states]float64, k int, what [states]float64) {
	for s, v := range what {
		sums[k][s] += v
	}
}

// fillRow turns sums into shares of 255. Rounding never makes more than there is.
func fillRow(row []byte, sums *[spanCells][states]float64, width float64) {
	for k := range sums {
		left := 255.0
		for s, v := range sums[k] {
			share := min(left, float64(int(255*v/width+0.5)))
			row[k*int(states)+s] = byte(share)
			left -= share
		}
	}
}

// Window is what the threads did in a stretch of time.
type Window struct {
	From     uint64          `json:"from"`
	To       uint64          `json:"to"`
	Origin   uint64          `json:"origin"` // of the run
	End      uint64          `json:"end"`
	Threads  int             `json:"threads"`
	Work     float64         `json:"work"` // clock units of all threads
	Wait     float64         `json:"wait"`
	Lock     float64         `json:"lock"`
	Off      float64         `json:"off"`
	None     float64         `json:"none"` // between a thread's first part and its last: the profile says nothing
	Parts    int             `json:"parts"`
	Sections []WindowSection `json:"sections"` // by work, the most first
	Busiest  []WindowThread  `json:"busiest"`
	Idlest   []WindowThread  `json:"idlest"`
}

// WindowSection is a section's part of a window.
type WindowSection struct {
	Section   int     `json:"section"`
	Work      float64 `json:"work"`
	Wait      float64 `json:"wait"`
	Instances int     `json:"instances"`
}

// WindowThread is a thread's work in a window.
type WindowThread struct {
	Thread int     `json:"thread"`
	Work   float64 `json:"work"`
	Wait   float64 `json:"wait"`
}

// Most rows of the lists of a window.
const (
	windowSections = 8
	windowThreads  = 4
)

// window sums up what some threads did in a stretch of time, exactly but for the rounding of lengths.
func (x *index) window(lo, hi uint64, of func(thread int) bool) *Window {
	w := &Window{From: lo, To: hi, Sections: []WindowSection{}}
	var sum [states]float64
	bySection := make([]WindowSection, len(x.sections))
	type span struct{ lo, hi int32 }
	seqs := make([]span, len(x.sections))
	var threads []WindowThread
	for i := range x.lanes {
		if !of(i) {
			continue
		}
		var own [states]float64
		x.lanes[i].segments(lo, hi, func(c *cell, from, to uint64) {
			w.Parts++
			s := &bySection[c.section]
			if q := &seqs[c.section]; s.Work+s.Wait == 0 {
				*q = span{c.seq, c.seq}
			} else {
				*q = span{min(q.lo, c.seq), max(q.hi, c.seq)}
			}
			b := c.shares(float64(from-c.start), float64(to-c.start))
			for k, v := range b {
				own[k] += v
			}
			s.Work += b[stateWork] + b[stateLock] + b[stateOff]
			s.Wait += b[stateWait]
		})
		if len(x.lanes[i].cells) > 0 {
			w.Threads++
			w.None += x.lanes[i].within(lo, hi) - own[stateWork] - own[stateWait] - own[stateLock] - own[stateOff]
			threads = append(threads, WindowThread{i, own[stateWork], own[stateWait]})
		}
		for k, v := range own {
			sum[k] += v
		}
		x.drop(x.lanes[i : i+1])
	}
	w.Work, w.Wait, w.Lock, w.Off = sum[stateWork], sum[stateWait], sum[stateLock], sum[stateOff]
	w.None = max(0, w.None)
	for s := range bySection {
		if b := bySection[s]; b.Work+b.Wait > 0 {
			b.Section, b.Instances = s, int(seqs[s].hi-seqs[s].lo)+1
			w.Sections = append(w.Sections, b)
		}
	}
	w.rank(threads)
	return w
}

// Parts are the parts of a stretch of time, column by column.
type Parts struct {
	More    bool      `json:"more"` // too many to list
	Thread  []int     `json:"thread"`
	Section []int32   `json:"section"`
	Seq     []int32   `json:"seq"`
	Start   []uint64  `json:"start"`
	Work    []float32 `json:"work"`
	Wait    []float32 `json:"wait"`
	Lock    []float32 `json:"lock"`
	Off     []float32 `json:"off"`
	Last    []int32   `json:"last"` // the thread that came last to the instance's end: it released the others
}

// mostParts is how many parts are told one by one: their JSON stays under 64 kB.
const mostParts = 600

func newParts() *Parts {
	return &Parts{Thread: []int{}, Section: []int32{}, Seq: []int32{}, Start: []uint64{}, Work: []float32{},
		Wait: []float32{}, Lock: []float32{}, Off: []float32{}, Last: []int32{}}
}

// partsIn lists the parts of a band of threads that touch a stretch of time.
func (x *index) partsIn(lo, hi uint64, band int) *Parts {
	p := newParts()
	rows := x.band(band)
	defer x.drop(rows)
	for r := range rows {
		l := &rows[r]
		for i := l.from(lo); i < len(l.cells) && l.cells[i].start < hi; i++ {
			c := &l.cells[i]
			if c.end() <= lo {
				continue
			}
			if len(p.Thread) == mostParts {
				p = newParts()
				p.More = true
				return p
			}
			p.Thread, p.Section, p.Seq = append(p.Thread, band*bandRows+r), append(p.Section, c.section), append(p.Seq, c.seq)
			p.Start, p.Work, p.Wait = append(p.Start, c.start), append(p.Work, c.work), append(p.Wait, c.wait)
			p.Lock, p.Off, p.Last = append(p.Lock, c.lock), append(p.Off, c.off), append(p.Last, x.sections[c.section].last[c.seq])
		}
	}
	return p
}

// Instance is one passage through a section, thread by thread.
type Instance struct {
	Section int       `json:"section"`
	Seq     int       `json:"seq"`
	Start   uint64    `json:"start"` // the first
	End     uint64    `json:"end"`   // the last release
	Thread  []int     `json:"thread"`
	Begin   []uint64  `json:"begin"`
	Time    []float64 `json:"time"`
	Wait    []float64 `json:"wait"`
	Lock    []float64 `json:"lock"`
	Off     []float64 `json:"off"`
	Last    int       `json:"last"`  // the thread that arrived last: the others waited for it
	Calls   []string  `json:"calls"` // open when thread t began, outermost first
}

func newInstance(t *profile.Tables, in *profile.Instance, thread int) *Instance {
	out := &Instance{Section: int(in.Section), Seq: in.Seq, Start: in.Parts[0].Start, Last: int(in.Parts[0].Thread), Calls: []string{}}
	most, arrive := uint64(0), in.Parts[0].Arrive
	for i := range in.Parts {
		most = max(most, in.Parts[i].Time())
	}
	for i := range in.Parts {
		p := &in.Parts[i]
		out.Start, out.End = min(out.Start, p.Start), max(out.End, p.Arrive, p.Release)
		if p.Arrive > arrive {
			arrive, out.Last = p.Arrive, int(p.Thread)
		}
		out.Thread, out.Begin, out.Time = append(out.Thread, int(p.Thread)), append(out.Begin, p.Start), append(out.Time, float64(p.Time()))
		out.Wait = append(out.Wait, float64(most-p.Time()))
		out.Lock, out.Off = append(out.Lock, float64(p.LockWait)), append(out.Off, float64(p.OffCPU))
		if int(p.Thread) == thread {
			for _, n := range p.EntryStack {
				out.Calls = append(out.Calls, nodeName(t, n))
			}
		}
	}
	return out
}

// rank picks the threads that worked most and least.
func (w *Window) rank(threads []WindowThread) {
	slices.SortStableFunc(threads, func(a, b WindowThread) int { return cmp.Compare(b.Work, a.Work) })
	n := min(windowThreads, len(threads))
	w.Busiest, w.Idlest = threads[:n], slices.Clone(threads[len(threads)-n:])
	slices.Reverse(w.Idlest)
	slices.SortStableFunc(w.Sections, func(a, b WindowSection) int { return cmp.Compare(b.Work, a.Work) })
	w.Sections = w.Sections[:min(windowSections, len(w.Sections))]
}
