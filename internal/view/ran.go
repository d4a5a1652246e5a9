// What ran when: the traces of call paths, thread by thread, as far as a screen can show them.

package view

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// stretch is a time for which a sample of a thread speaks.
type stretch struct {
	from, to uint64
	at       uint64 // of the sample
	length   uint64 // of work that it stands for in sums: more than to - from where others have no sample
	path     profile.PathID
	section  int32 // in which it was taken, -1: in none
}

// ran is what threads ran when.
type ran struct {
	lanes  [][]stretch // by thread, in the order of time
	names  []string    // of functions, those that ran longest first
	levels [][]int32   // by path: its functions, outermost first; nil where no sample is
	deep   int         // most levels of a path
	every  uint64      // one of so many samples was kept
}

// newRan places the samples of the traces: each speaks for the time about it, no further than its
// length, than the middle between it and the next one, and than the part of a section that it lies
// in.
func newRan(t *profile.Tables, x *index, names *analysis.Paths) *ran {
	r := &ran{lanes: make([][]stretch, len(t.Threads)), levels: make([][]int32, len(t.Paths)), every: 1}
	for i := range t.Traces {
		tr := &t.Traces[i]
		r.every = max(r.every, tr.Every)
		list := r.lanes[tr.Thread]
		for k := range tr.Samples {
			s := &tr.Samples[k]
			reach := s.Length + 1
			v := stretch{from: s.At - min(s.At, reach), to: s.At + min(reach, math.MaxUint64-s.At), at: s.At,
				length: s.Length, path: s.Path, section: -1}
			if k > 0 {
				v.from = max(v.from, tr.Samples[k-1].At+(s.At-tr.Samples[k-1].At)/2)
			}
			if k+1 < len(tr.Samples) {
				v.to = min(v.to, s.At+(tr.Samples[k+1].At-s.At)/2)
			}
			if c := x.lanes[tr.Thread].at(s.At); c != nil {
				v.from, v.to, v.section = max(v.from, c.start), min(v.to, c.arrive()), c.section
			}
			v.to = max(v.from, v.to)
			list = append(list, v)
		}
		slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(a.at, b.at) })
		r.lanes[tr.Thread] = list
		x.drop(x.lanes[tr.Thread : tr.Thread+1])
	}
	r.name(names)
	return r
}

// at is the innermost part that a thread was in at a moment.
func (l *lane) at(t uint64) (found *cell) {
	for i := l.from(t); i < len(l.cells) && l.cells[i].start <= t; i++ {
		if l.cells[i].arrive() >= t {
			found = &l.cells[i]
		}
	}
	return found
}

// name numbers the functions of the paths, those first that were at work longest.
func (r *ran) name(paths *analysis.Paths) {
	ids, weight := map[string]int32{}, []float64{}
	for _, lane := range r.lanes {
		for i := range lane {
			s := &lane[i]
			if r.levels[s.path] == nil {
				list := []int32{}
				for _, l := range slices.Backward(paths.Own(s.path)) {
					if l.Loop {
						continue
					}
					id, ok := ids[l.Name]
					if !ok {
						id = int32(len(r.names))
						ids[l.Name] = id
						r.names, weight = append(r.names, l.Name), append(weight, 0)
					}
					list = append(list, id)
				}
				r.levels[s.path], r.deep = list, max(r.deep, len(list))
			}
			for _, id := range r.levels[s.path] {
				weight[id] += float64(s.length)
			}
		}
	}
	order := make([]int32, len(weight))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(r.names[a], r.names[b]))
	})
	to, sorted := make([]int32, len(order)), make([]string, len(order))
	for new, old := range order {
		to[old], sorted[new] = int32(new), r.names[old]
	}
	r.names = sorted
	for _, list := range r.levels {
		for i, id := range list {
			list[i] = to[id]
		}
	}
}

// innermost is the depth that means the innermost function, however deep it is.
const innermost = 0

// function is what a path shows at a depth, from 1 on: what is not so deep shows its innermost.
func (r *ran) function(path profile.PathID, depth int) int32 {
	list := r.levels[path]
	switch {
	case len(list) == 0:
		return -1
	case depth == innermost || depth > len(list):
		return list[len(list)-1]
	}
	return list[depth-1]
}

// within yields the stretches of a thread that touch a time.
func (r *ran) within(thread int, lo, hi uint64, emit func(*stretch)) {
	lane := r.lanes[thread]
	first, _ := slices.BinarySearchFunc(lane, lo, func(s stretch, t uint64) int { return cmp.Compare(s.to, t) })
	for i := first; i < len(lane) && lane[i].from < hi; i++ {
		if lane[i].to > lo {
			emit(&lane[i])
		}
	}
}

// mostFunctionIDs is how many functions have a number of their own in a tile.
const mostFunctionIDs = math.MaxUint16 - 1

// tile is the function that ran longest in each cell of a tile of the time line, its number plus
// one; 0 where no sample says.
func (r *ran) tile(x *index, z, tile, band, depth int) ([]byte, error) {
	if tile >= 1<<z {
		return nil, bad("level %d has the tiles 0 to %d", z, 1<<z-1)
	}
	rows := len(x.band(band))
	if rows == 0 {
		return nil, missing("there is no band %d of threads", band)
	}
	width := float64(x.to-x.from) / float64(uint64(1)<<z) / spanCells
	begin := float64(tile) * spanCells * width
	out := make([]byte, 0, 2*rows*spanCells)
	for row := range rows {
		var sums [spanCells]map[int32]float64
		r.within(band*bandRows+row, x.from+uint64(begin), x.from+uint64(begin+spanCells*width)+1, func(s *stretch) {
			id := r.function(s.path, depth)
			if id < 0 {
				return
			}
			from, to := float64(s.from)-float64(x.from)-begin, float64(s.to)-float64(x.from)-begin
			for k := max(0, int(from/width)); k <= min(spanCells-1, int(to/width)); k++ {
				lo, hi := max(from, float64(k)*width), min(to, float64(k+1)*width)
				if hi > lo {
					if sums[k] == nil {
						sums[k] = map[int32]float64{}
					}
					sums[k][id] += hi - lo
				}
			}
		})
		for k := range sums {
			best, most := int32(-1), 0.0
			for id, v := range sums[k] {
				if v > most || v == most && id < best {
					best, most = id, v
				}
			}
			out = binary.LittleEndian.AppendUint16(out, uint16(min(best, mostFunctionIDs)+1))
		}
	}
	return out, nil
}

// RanNames are the functions that ran, for the numbers of a tile.
type RanNames struct {
	Deep  int      `json:"deep"`
	Every uint64   `json:"every"` // one of so many samples was kept
	Names []string `json:"names"`
}

// mostRanNames is how many functions are named: their JSON stays under 64 kB with names of usual
// length. Further ones can be asked for by pointing at them.
const mostRanNames = 1000

// Moment is the call path on which a thread was.
type Moment struct {
	Known   bool     `json:"known"`
	At      uint64   `json:"at"` // of the sample
	From    uint64   `json:"from"`
	To      uint64   `json:"to"`
	Section int      `json:"section"`
	Calls   []string `json:"calls"` // outermost first, loops among them
}

func (r *ran) moment(thread int, at uint64, paths *analysis.Paths) *Moment {
	out := &Moment{Calls: []string{}, Section: -1}
	r.within(thread, at, at+1, func(s *stretch) {
		out = &Moment{true, s.at, s.from, s.to, int(s.section), []string{}}
		for _, l := range slices.Backward(paths.Own(s.path)) {
			out.Calls = append(out.Calls, l.Name)
		}
	})
	return out
}

// openRan makes what ran when, once.
func (r *Run) openRan() func() (*ran, error) {
	return sync.OnceValues(func() (out *ran, err error) {
		defer caught("reading what ran when", &err)
		x, err := r.index()
		if err != nil {
			return nil, err
		}
		r.paths.mu.Lock()
		defer r.paths.mu.Unlock()
		return newRan(r.tables(), x, r.paths.read()), nil
	})
}

func answerRan(_ *API, r *Run, q *query) (any, error) {
	z, x, b := q.whole("z", 0, spanDeep, 0), q.whole("x", 0, 1<<spanDeep, 0), q.band(r)
	d := q.whole("d", innermost, maxLevels, innermost)
	if q.err != nil {
		return nil, q.err
	}
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	v, err := r.ran()
	if err != nil {
		return nil, err
	}
	return v.tile(index, z, x, b, d)
}

// maxLevels bounds the depth that can be asked for.
const maxLevels = 4096

func answerRanNames(_ *API, r *Run, _ *query) (any, error) {
	v, err := r.ran()
	if err != nil {
		return nil, err
	}
	return &RanNames{v.deep, v.every, append([]string{}, v.names[:min(len(v.names), mostRanNames)]...)}, nil
}

func answerMoment(_ *API, r *Run, q *query) (any, error) {
	t, at := q.whole("t", 0, len(r.tables().Threads)-1, 0), q.clock("at", 0)
	if q.err != nil || len(r.tables().Threads) == 0 {
		return &Moment{Calls: []string{}, Section: -1}, q.err
	}
	v, err := r.ran()
	if err != nil {
		return nil, err
	}
	r.paths.mu.Lock()
	defer r.paths.mu.Unlock()
	return v.moment(t, at, r.paths.read()), nil
}
