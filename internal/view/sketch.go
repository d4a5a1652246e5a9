// A first picture of a large run: from some of its instances, drawn by lot, while the rest is read.

package view

import (
	"math/rand/v2"
	"os"
	"time"

	"lime/internal/profile"
)

// Sketch is what the time line is drawn from until all parts are read.
type Sketch struct {
	Read int    `json:"read"` // instances that were drawn
	Of   int    `json:"of"`   // if these are all, there is no sketch: the whole is there as soon
	From uint64 `json:"from"` // of the run, as far as they tell
	To   uint64 `json:"to"`

	tiles [][]byte // by band: as span's of the whole run
}

// Bounds of the work for a sketch.
const (
	sketchParts = 200_000 // that are read for one: a few tenths of a second of one core's time
	sketchRest  = 8       // a sketch is worth it if the whole takes so many times as long
	sketchFirst = 256     // instances that tell how many parts one has
	sketchEach  = 8       // parts that a thread should have in a column, so that few are empty by chance
	sketchLeast = 8       // columns at least
)

// lot draws n of so many instances, one from each of n equal stretches: the same ones each time, in
// their order.
func lot(n, of int) []int {
	out := make([]int, n)
	r := rand.New(rand.NewPCG(uint64(of), uint64(n)))
	for i := range out {
		first, next := i*of/n, (i+1)*of/n
		out[i] = first + r.IntN(next-first)
	}
	return out
}

// draw is the numbers of the instances for a sketch of so many parts at most; nil if it is not worth
// it.
func draw(src Source, of, most int) ([]int, error) {
	if of < sketchRest*sketchFirst {
		return nil, nil
	}
	parts := 0
	err := src.ScanPicked(lot(sketchFirst, of), func(in *profile.Instance) error { parts += len(in.Parts); return nil })
	if err != nil {
		return nil, err
	}
	n := max(sketchFirst, most*sketchFirst/max(1, parts))
	if n > of/sketchRest {
		return nil, nil
	}
	return lot(n, of), nil
}

// makeSketch draws instances and makes the picture of them.
func makeSketch(src Source, of, most int) (*Sketch, error) {
	numbers, err := draw(src, of, most)
	if err != nil || numbers == nil {
		return &Sketch{Read: of, Of: of}, err
	}
	x, err := readIndex(src, func(k, of int, each func(*profile.Instance) error) error {
		return src.ScanPicked(numbers[len(numbers)*k/of:len(numbers)*(k+1)/of], each)
	})
	if err != nil {
		return nil, err
	}
	s := &Sketch{Read: len(numbers), Of: of, From: x.from, To: x.to}
	columns := spanCells
	for columns > sketchLeast && x.parts < columns*len(x.lanes)*sketchEach {
		columns /= 2
	}
	s.tiles = make([][]byte, x.bands())
	return s, inParallel(len(s.tiles), func(b int) error {
		s.tiles[b] = x.sketchTile(b, columns, float64(of)/float64(len(numbers)))
		return nil
	})
}

// sketchTile makes a tile of the whole run for a band of threads, of so many different columns. Each
// part stands for as many as weight says.
func (x *index) sketchTile(band, columns int, weight float64) []byte {
	rows := x.band(band)
	width := float64(x.to-x.from) / spanCells
	out := make([]byte, len(rows)*spanCells*int(states))
	for r := range rows {
		var sums [spanCells][states]float64
		rows[r].segments(x.from, x.to, func(c *cell, from, to uint64) {
			spread(&sums, c, float64(from-x.from), float64(to-x.from), width, float64(from-c.start))
		})
		even(sums[:], columns, weight, width)
		fillRow(out[r*spanCells*int(states):], &sums, width)
	}
	return out
}

// even gives the cells of each column the column's mean, in which the states take no more than all
// of the time.
func even(sums [][states]float64, columns int, weight, width float64) {
	wide := len(sums) / columns
	for first := 0; first < len(sums); first += wide {
		var mean [states]float64
		all := 0.0
		for _, cell := range sums[first : first+wide] {
			for s, v := range cell {
				mean[s] += v * weight / float64(wide)
				all += v * weight / float64(wide)
			}
		}
		for s := range mean {
			mean[s] *= width / max(width, all)
		}
		for k := first; k < first+wide; k++ {
			sums[k] = mean
		}
	}
}

// openSketch makes the sketch of a run of which nothing is known yet.
func (r *Run) openSketch() (*Sketch, error) {
	of := int(r.instances())
	none := &Sketch{Read: of, Of: of}
	if r.parts.Load() != nil {
		return none, nil
	}
	if r.kept != nil {
		if _, err := os.Stat(r.kept.file(keptIndex)); err == nil {
			return none, nil
		}
	}
	return makeSketch(r.src, of, sketchParts)
}

// mostPicture is how long the index waits for somebody to have the sketch: a page that was asked for
// is there by then (the goal for opening one), and where nobody looks nobody waits for the index.
const mostPicture = 2 * time.Second

// pictureFirst makes the sketch, if there is to be one, and leaves the cores to the browser until it
// has it: then they are busy for long. What is damaged is told by what follows.
func (r *Run) pictureFirst() {
	if s, err := r.sketch(); err == nil && s.Read < s.Of {
		select {
		case <-r.pictured:
		case <-time.After(mostPicture):
		}
	}
}

func answerSketch(_ *API, r *Run, _ *query) (any, error) { return r.sketch() }

func answerSketched(_ *API, r *Run, q *query) (any, error) {
	b := q.band(r)
	if q.err != nil {
		return nil, q.err
	}
	s, err := r.sketch()
	if err != nil {
		return nil, err
	}
	if b >= len(s.tiles) {
		return nil, missing("there is no sketch of band %d of threads", b)
	}
	if b == len(s.tiles)-1 { // the page asks for them in order
		select {
		case r.pictured <- struct{}{}:
		default: // it is known
		}
	}
	return s.tiles[b], nil
}
