// The line on the terminal that shows how the run goes.

package sim

import (
	"fmt"
	"io"
	"time"

	"lime/internal/unit"
)

// progress shows how the run goes, on a terminal.
type progress struct {
	w     io.Writer
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
	now, work := time.Now(), r.roster.work()
	rate := float64(work-p.work) / now.Sub(p.last).Seconds()
	p.last, p.work, p.shown = now, work, true
	fmt.Fprintf(p.w, "\r\x1b[Klime: %v simulated, %sinstructions/s, %d threads, %d instances ",
		unit.Nanos(r.clocks.nanos(r.clocks.latest)), unit.SI(rate), len(r.roster.threads), r.out.instances)
}

// clear takes the line away.
func (p *progress) clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, last: time.Now()}
}
