package view

import (
	"encoding/binary"
	"math"
	"slices"

	"lime/internal/profile"
)

// Size of a tile of the heat map, and how many instances' counts are read for one.
const (
	cellColumns = 64
	cellsDeep   = 24
	cellReads   = 256
)

// tile gathers the values of threads x instances.
type tile struct {
	rows         []int32 // threads
	min, max     []float32
	sum          []float64
	n            []int32
	read, of     int
	first, level int
}

func newTile(rows []int32, z, x, instances int) *tile {
	size := len(rows) * cellColumns
	t := &tile{rows: rows, min: make([]float32, size), max: make([]float32, size), sum: make([]float64, size),
		n: make([]int32, size), level: z, first: x * cellColumns << z}
	t.of = max(0, min(instances-t.first, cellColumns<<z))
	return t
}

// put adds a value of a row at an instance.
func (t *tile) put(row, seq int, v float32) {
	k := row*cellColumns + (seq-t.first)>>t.level
	if t.n[k] == 0 || v < t.min[k] {
		t.min[k] = v
	}
	if t.n[k] == 0 || v > t.max[k] {
		t.max[k] = v
	}
	t.sum[k] += float64(v)
	t.n[k]++
}

// bytes writes the tile as the package's comment says.
func (t *tile) bytes() []byte {
	out := make([]byte, 0, 16+12*len(t.n))
	for _, v := range []int{len(t.rows), cellColumns, t.read, t.of} {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	for _, field := range []func(int) float32{
		func(k int) float32 { return t.min[k] },
		func(k int) float32 { return t.max[k] },
		func(k int) float32 { return float32(t.sum[k] / float64(t.n[k])) },
	} {
		for k := range t.n {
			v := float32(math.NaN())
			if t.n[k] > 0 {
				v = field(k)
			}
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out
}

// cells returns a tile of a section's heat map: band b of its threads.
func (r *Run) cells(x *index, section int, m *metric, z, at, band int) ([]byte, error) {
	all := x.sections[section].threads
	lo := min(band*bandRows, len(all))
	rows := all[lo:min(lo+bandRows, len(all))]
	instances := len(x.sections[section].longest)
	if len(rows) == 0 || at*cellColumns<<z >= max(instances, 1) {
		return nil, missing("section %d has no such tile: it has %d threads and %d instances", section, len(all), instances)
	}
	t := newTile(rows, z, at, instances)
	if m.counted() {
		err := r.countCells(t, section, m)
		return t.bytes(), err
	}
	t.read = t.of
	for row, thread := range rows {
		l := &x.lanes[thread]
		for k := range l.cells {
			c := &l.cells[k]
			if seq := int(c.seq); int(c.section) == section && seq >= t.first && seq < t.first+t.of {
				t.put(row, seq, x.value(c, m.kind))
			}
		}
		x.drop(x.lanes[thread : thread+1])
	}
	return t.bytes(), nil
}

// countCells fills a tile from the instances' counts: all of them, or as many as are read for a
// tile, at even steps.
func (r *Run) countCells(t *tile, section int, m *metric) error {
	n := min(t.of, cellReads)
	for k := range n {
		seq := t.first + k*t.of/n
		in, err := r.src.Instance(profile.SectionID(section), seq)
		if err != nil {
			return err
		}
		t.read++
		for i, v := range m.values(in) {
			if row, ok := slices.BinarySearch(t.rows, int32(in.Parts[i].Thread)); ok {
				t.put(row, seq, float32(v))
			}
		}
	}
	return nil
}

// ThreadValues is a metric by thread.
type ThreadValues struct {
	Thread []int     `json:"thread"`
	Name   []string  `json:"name"`
	Value  []float64 `json:"value"`
	Time   []float64 `json:"time"` // beside it
	Read   int       `json:"read"` // instances that were read
	Of     int       `json:"of"`
}

// threadReads is how many instances' counts are read for a metric by thread.
const threadReads = 1024

// threadValues sums a metric up by thread, in one section or in all (section < 0).
func (r *Run) threadValues(x *index, section int, m *metric) (*ThreadValues, error) {
	time, value, in := make([]float64, len(x.lanes)), make([]float64, len(x.lanes)), make([]bool, len(x.lanes))
	for i := range x.lanes {
		for k := range x.lanes[i].cells {
			c := &x.lanes[i].cells[k]
			if section >= 0 && int(c.section) != section {
				continue
			}
			in[i] = true
			time[i] += float64(c.work)
			if !m.counted() {
				value[i] += float64(x.value(c, m.kind))
			}
		}
		x.drop(x.lanes[i : i+1])
	}
	out := &ThreadValues{Thread: []int{}, Name: []string{}, Value: []float64{}, Time: []float64{}}
	if err := r.countThreads(out, section, m, value); err != nil {
		return nil, err
	}
	for i := range x.lanes {
		if in[i] {
			out.Thread, out.Name = append(out.Thread, i), append(out.Name, r.tables().Threads[i].Name)
			out.Value, out.Time = append(out.Value, value[i]), append(out.Time, time[i])
		}
	}
	return out, nil
}

// countThreads adds what the instances' counts say.
func (r *Run) countThreads(out *ThreadValues, section int, m *metric, value []float64) error {
	for s := range r.tables().Sections {
		if section >= 0 && s != section {
			continue
		}
		all := r.src.InstanceCount(profile.SectionID(s))
		n := all
		if m.counted() {
			n = min(all, threadReads)
		}
		out.Of, out.Read = out.Of+all, out.Read+n
		for k := 0; k < n && m.counted(); k++ {
			in, err := r.src.Instance(profile.SectionID(s), k*all/n)
			if err != nil {
				return err
			}
			for i, v := range m.values(in) {
				value[in.Parts[i].Thread] += v
			}
		}
	}
	return nil
}
