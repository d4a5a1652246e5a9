// Threads that end before the clock has sampled them once. The kernel begins a period anew for each
// thread, so that one that lives for less than a period never has a sample, however many of them
// there are.

package native

import (
	"fmt"

	"lime/internal/collect"
	"lime/internal/unit"
)

// brief is how many threads have ended before they had a core for a period, and for how long they
// had one in all, in ns,
// and how many of them had no sample.
type brief struct{ threads, ran, unseen uint64 }

// leastBrief is from how many of them on that is worth a word: a few are no program's way to work.
const leastBrief = 8

// hasLived takes in that a thread has ended.
func (lv *lives) hasLived(t *thread) {
	if cpu := t.cpu.at(t.end); cpu > 0 && cpu < 1_000_000_000/lv.shared.o.Frequency {
		lv.brief.threads, lv.brief.ran = lv.brief.threads+1, lv.brief.ran+cpu
		if lv.shared.events.wants(lv.brief, t.parent); !t.sampled {
			lv.brief.unseen++
		}
	}
}

// noteBrief says what of a program no sample tells.
func (r *run) noteBrief(notes collect.Notes) {
	var b brief
	for _, p := range r.all() {
		b.threads, b.ran, b.unseen = b.threads+p.lives.brief.threads, b.ran+p.lives.brief.ran, b.unseen+p.lives.brief.unseen
	}
	if b.threads >= leastBrief && r.events.by != "" {
		notes.Set("brief-threads", fmt.Sprintf("%d threads ended before they had a core for as long as there is "+
			"between two samples, after %v on average: their times are measured; what they did, %s "+
			"('lime simulate' counts it)", b.threads, unit.Nanos(b.ran/b.threads), b.seen()), b.threads)
	}
}

// seen says how many of them samples tell of.
func (b *brief) seen() string {
	if b.unseen == b.threads {
		return "no sample tells"
	}
	return fmt.Sprintf("samples taken in turns tell of %d of them", b.threads-b.unseen)
}
