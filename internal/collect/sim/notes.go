package sim

import (
	"fmt"
	"io"
	"sort"
	"time"

	"lime/internal/profile"
	"lime/internal/unit"
)

// noteBook counts what the reader of the profile must know.
type noteBook map[[2]string]uint64

func (b noteBook) add(code, text string) { b[[2]string{code, text}]++ }

// list is the book in order.
func (b noteBook) list() []profile.Note {
	out := make([]profile.Note, 0, len(b))
	for k, n := range b {
		out = append(out, profile.Note{Code: k[0], Text: k[1], N: n})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Code != out[j].Code {
			return out[i].Code < out[j].Code
		}
		return out[i].Text < out[j].Text
	})
	return out
}

// progress shows how the run goes, on a terminal.
type progress struct {
	w     io.Writer
	start time.Time
	last  time.Time
	work  uint64
	shown bool
}

const progressEvery = 250 * time.Millisecond

// show rewrites the line, now and then. A nil progress is silent.
func (p *progress) show(r *run) {
	if p == nil || time.Since(p.last) < progressEvery {
		return
	}
	now, work := time.Now(), r.work()
	rate := float64(work-p.work) / now.Sub(p.last).Seconds()
	p.last, p.work, p.shown = now, work, true
	fmt.Fprintf(p.w, "\r\x1b[Klime: %v simulated, %sinstructions/s, %d threads, %d instances ",
		unit.Nanos(r.nanos(r.latest)), unit.SI(rate), len(r.threads), r.out.instances)
}

// clear takes the line away.
func (p *progress) clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func newProgress(w io.Writer) *progress {
	now := time.Now()
	return &progress{w: w, start: now, last: now}
}
