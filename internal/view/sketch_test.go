package view

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// Each stretch gives one instance, the same one each time.
func TestLot(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {3, 7}, {256, 2048}, {1000, 1000}, {999, 1000}, {777, 12345}} {
		n, of := c[0], c[1]
		got := lot(n, of)
		if !slices.Equal(got, lot(n, of)) {
			t.Errorf("%d of %d: another lot", n, of)
		}
		for i, k := range got {
			if k < i*of/n || k >= (i+1)*of/n {
				t.Errorf("%d of %d: %d is not of stretch %d", n, of, k, i)
			}
		}
	}
}

// unread is a large run of which a sketch can be made, and that is not read before it may be.
func unread(t *testing.T, src Source) (r *Run, may func()) {
	t.Helper()
	done := make(chan bool)
	r = NewRun(src, "no/such/app.lime", analysis.DefaultOptions(), new(Heap))
	may = sync.OnceFunc(func() { close(done) })
	t.Cleanup(may)
	open := r.open
	r.sketch = sync.OnceValues(func() (*Sketch, error) { return makeSketch(src, int(r.instances()), 3000) })
	r.open = func() error { <-done; return open() }
	return r, may
}

// largeFile is a profile that is worth a sketch of few parts, in a file.
func largeFile(t *testing.T) *profile.Reader {
	t.Helper()
	r, _ := fileRun(t, fixture(t, 6, 6000))
	return r.src.(*profile.Reader)
}

// shares sums a row's states up over so many cells.
func rowShares(row []byte, first, n int) (out [states]float64) {
	for k := first; k < first+n; k++ {
		for s := range out {
			out[s] += float64(row[k*int(states)+s]) / 255 / float64(n)
		}
	}
	return out
}

// A sketch of a run that does the same all the time is near the whole, thread by thread; it is the
// same from a file and from memory.
func TestSketchIsNearTheWhole(t *testing.T) {
	src := largeFile(t)
	of := src.InstanceCount(0) + src.InstanceCount(1) + src.InstanceCount(2)
	s, err := makeSketch(src, of, 3000)
	if err != nil || s.Read >= of/sketchRest || s.Read < sketchFirst {
		t.Fatalf("%+v, %v", s, err)
	}
	again, err := makeSketch(fixture(t, 6, 6000), of, 3000)
	if err != nil || !slices.EqualFunc(s.tiles, again.tiles, slices.Equal) {
		t.Errorf("the sketch from memory differs, %v", err)
	}
	x, err := runOf(fixture(t, 6, 6000)).index()
	if err != nil {
		t.Fatal(err)
	}
	exact, err := x.spanTile(0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const wide = spanCells * int(states)
	for row := range 6 {
		a, b := rowShares(s.tiles[0][row*wide:], 0, spanCells), rowShares(exact[row*wide:], 0, spanCells)
		for k := range a {
			if math.Abs(a[k]-b[k]) > 0.1 { // the mean of 500 instances: a tenth is many times its error
				t.Errorf("thread %d, state %d: %.3f in the sketch, %.3f in the whole", row, k, a[k], b[k])
			}
		}
	}
}

// A small run has no sketch, and one that has been read needs none.
func TestNoSketchOfWhatIsThere(t *testing.T) {
	for _, n := range []int{0, 3, 300, 2500} {
		p := fixture(t, 4, n)
		if s, err := makeSketch(p, n+2, sketchParts); err != nil || s.Read != s.Of || len(s.tiles) > 0 {
			t.Errorf("%d instances: %+v, %v", n, s, err)
		}
	}
	r := runOf(fixture(t, 6, 6000))
	if _, err := r.index(); err != nil {
		t.Fatal(err)
	}
	if s, err := r.sketch(); err != nil || s.Read != s.Of {
		t.Errorf("%+v, %v", s, err)
	}
}

// The sketch is told as one, and answers before the whole has been read.
func TestSketchIsAnsweredFirst(t *testing.T) {
	r, may := unread(t, largeFile(t))
	api := NewAPI([]*Run{r})
	ask := func(name string, pairs ...string) (*Answer, error) {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return api.Answer(name, v)
	}
	a, err := ask("sketch")
	if err != nil {
		t.Fatal(err)
	}
	var s Sketch
	if err := json.Unmarshal(a.Body, &s); err != nil || s.Read >= s.Of || s.Of != 6002 || s.From >= s.To {
		t.Errorf("%s, %v", a.Body, err)
	}
	if a, err = ask("sketched", "b", "0"); err != nil || a.Type != typeBinary || len(a.Body) != 6*spanCells*int(states) {
		t.Errorf("the picture: %v", err)
	}
	if _, err = ask("sketched", "b", "1"); Status(err) != 404 && Status(err) != 400 {
		t.Errorf("a band that is not there: %v", err)
	}
	may()
	if a, err = ask("window"); err != nil {
		t.Fatal(err)
	}
	var w Window
	if err := json.Unmarshal(a.Body, &w); err != nil || w.Parts != 6*6001+1 {
		t.Errorf("%d parts in the whole, %v", w.Parts, err)
	}
}

// The index is begun when somebody has the picture, or when it is clear that nobody looks; where
// there is no sketch it waits for nobody.
func TestTheIndexWaitsForThePicture(t *testing.T) {
	r := runOf(fixture(t, bandRows+1, 9))
	nobody := &Sketch{Read: 1, Of: 9, tiles: [][]byte{{}, {}}}
	for _, s := range []*Sketch{{Read: 9, Of: 9}, nobody} {
		r.sketch = func() (*Sketch, error) { return s, nil }
		r.pictureFirst() // ends
	}
	for band := range 2 {
		for range 3 { // several look
			if _, err := answerSketched(nil, r, &query{values: url.Values{"b": {fmt.Sprint(band)}}}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(r.pictured); n != band {
			t.Errorf("with the picture up to band %d: %d have the whole", band, n)
		}
	}
	r.pictureFirst()
	if len(r.pictured) != 0 {
		t.Error("the index has not waited")
	}
}

// The overview and the time line draw the sketch, say so in words, and show the whole when that is
// there.
func TestSketchInTheBrowser(t *testing.T) {
	for view, whole := range map[string]struct {
		canvas string // that takes the place of the sketch
		words  []string
	}{"overview": {"main", []string{"What became of 6 cores", "app.c:30"}}, "timeline": {"canvas.lanes", []string{"In this stretch"}}} {
		t.Run(view, func(t *testing.T) {
			b := newBrowser(t)
			r, may := unread(t, largeFile(t))
			b.serve(r)
			b.screen("light", 1280)
			b.openEarly("#" + view)
			s, err := r.sketch()
			if err != nil {
				t.Fatal(err)
			}
			words := fmt.Sprintf("sketch from %d of %d instances, reading the rest", s.Read, s.Of)
			b.shows(words, "wait at the end of a section")
			if n := eval[int](b, `document.querySelectorAll("canvas.sketch[aria-label*='sketch from'], [role=status].sketched").length`); n != 2 {
				t.Errorf("%d of 2 tell a screen reader that it is a sketch", n)
			}
			b.until(`document.querySelector("canvas.sketch").dataset.busy === "0"`)
			if b.painted(0) < 3 {
				t.Error("the sketch is blank")
			}
			b.keep("sketch-" + view)
			may()
			b.until(`document.querySelector("` + whole.canvas + `") !== null && document.querySelector("canvas.sketch") === null`)
			b.shows(whole.words...)
		})
	}
}

// until waits until something holds of the page.
func (b *browser) until(js string) {
	b.t.Helper()
	for began := time.Now(); time.Since(began) < b.patience; time.Sleep(30 * time.Millisecond) {
		if eval[bool](b, js) {
			return
		}
	}
	b.t.Fatalf("never: %s: %q", js, b.text())
}
