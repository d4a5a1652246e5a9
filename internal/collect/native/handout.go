// Work that goes to whoever comes first: dynamic loops, pools, stealing. With fewer cores than
// threads, who had a core did it, and the threads' CPU times are no shares that the program dealt
// out: a time line with a core for every thread would show an imbalance that there is not.

package native

import (
	"fmt"
	"slices"

	"lime/internal/collect"
	"lime/internal/profile"
	"lime/internal/section"
)

// episodes are the meetings of threads that have begun.
type episodes struct {
	out    *output
	roster *roster
	shared *shared

	begun map[uint64]*episode // by what names the meeting
}

// episode is a meeting of threads that has begun: how much CPU time each had had when the first of
// them came.
type episode struct{ cpu map[*thread]uint64 }

// comes remembers, when a thread comes to the end of a section, how much it has worked since the
// first one came.
func (es *episodes) comes(t *thread, p *piece, object, at uint64) {
	e := es.begun[object]
	if object == 0 || !es.shared.events.switches {
		return
	}
	if e == nil {
		e = &episode{map[*thread]uint64{}}
		for _, o := range es.roster.threads {
			if !o.ended {
				e.cpu[o] = o.cpu.at(at)
			}
		}
		es.begun[object] = e
	}
	now := t.cpu.at(at)
	p.after, p.met, t.met = now-min(e.cpu[t], now), e, e
}

// met ends the meeting that a thread leaves: the others may have come to the next one already.
func (es *episodes) met(t *thread, object uint64) {
	if e := es.begun[object]; e != nil && e == t.met {
		delete(es.begun, object)
	}
}

// handouts tell, by section, by how much threads differed in instances whose work went to whoever
// came first, and in others: who differs by little says little.
type handouts map[int32]*handout

type handout struct{ first, other float64 }

// Limits of what speaks for that: a thread that has less to do, because it was given less, comes
// while others have much of theirs left.
const (
	leftShare   = 0.25 // of what the longest part is longer than the mean, and of the mean: what any thread had left, see handedOut
	mostlyFirst = 0.75 // of what a section's threads differ by: by chance, single instances look like that
)

// handedOut reports whether in an instance, as in most of its section's, no thread had much left to
// do when the first one was done, though their times differ. Who had not begun by then finds nothing
// any more where work is handed out: if it had much to do all the same, that was its own. And what
// they differ by must not be what they have waited for one another instead.
func (o *output) handedOut(in *section.Instance, row int32, cpu []uint64) bool {
	if len(in.Parts) < 2 || !slices.Contains([]section.Kind{section.Barrier, section.Region, section.Join}, in.Kind) {
		return false
	}
	var sum, most, left, own uint64
	for i := range in.Parts {
		p := in.Parts[i].Spans[len(in.Parts[i].Spans)-1].(*piece)
		if first := in.Parts[0].Spans[len(in.Parts[0].Spans)-1].(*piece); p.met == nil || p.met != first.met {
			return false
		}
		// done while it waits: nobody sees what was left of them
		if len(in.Parts[i].Spans) > 1 && slices.ContainsFunc(in.Parts[i].Spans, func(s any) bool { return s.(*piece).tasks }) {
			return false
		}
		sum, most, left = sum+cpu[i], max(most, cpu[i]), max(left, p.after)
		if p.after >= cpu[i] {
			own = max(own, cpu[i])
		}
	}
	mean := float64(sum) / float64(len(cpu))
	over := float64(most) - mean
	h := o.handouts[row]
	if h == nil {
		h = &handout{}
		o.handouts[row] = h
	}
	first := float64(left) < leftShare*over && float64(own) < leftShare*mean &&
		!waitedInstead(in, cpu) &&
		(len(in.Parts) > o.idle.cores || deprived(in, cpu, mean-leftShare*over))
	if first {
		h.first += over
	} else {
		h.other += over
	}
	return first && h.first >= mostlyFirst*(h.first+h.other)
}

// waitedInstead reports whether waiting is more of what the threads differ by than anything else: who
// does less because he waits for others' work comes to the end together with the others, too, as
// stages of a pipeline do.
func waitedInstead(in *section.Instance, cpu []uint64) bool {
	longest := slices.Index(cpu, slices.Max(cpu))
	own, waited, less := waitsOf(in.Parts[longest].Spans), uint64(0), uint64(0)
	for i, c := range cpu {
		w := waitsOf(in.Parts[i].Spans)
		less += cpu[longest] - c
		waited += min(w-min(own, w), cpu[longest]-c)
	}
	return 2*waited > less
}

// waitsOf is for how long a part's thread waited for others' work.
func waitsOf(spans []any) (ns uint64) {
	for _, s := range spans {
		p := s.(*piece)
		for i := range p.off {
			if profile.FamilyOf(p.off[i].kind) == profile.FamilyWait {
				ns += p.off[i].wait
			}
		}
	}
	return ns
}

// deprived reports whether all would have come to some time on a core if they had had one all the
// while since the first one began: where there are cores for all threads, other programs may have had
// them.
func deprived(in *section.Instance, cpu []uint64, all float64) bool {
	began := make([]uint64, len(cpu))
	for i := range in.Parts {
		began[i] = in.Parts[i].Spans[0].(*piece).from
	}
	first := slices.Min(began)
	for i := range in.Parts {
		had := cpu[i] + began[i] - first
		for _, s := range in.Parts[i].Spans {
			had += s.(*piece).queued
		}
		if float64(had) < all {
			return false
		}
	}
	return true
}

// evenly divides the CPU time of an instance among its parts: on as many cores as threads, who
// comes first would have come as often as the others.
func evenly(cpu []uint64) (each uint64) {
	for _, c := range cpu {
		each += c
	}
	return each / uint64(len(cpu))
}

// noteDealt says which imbalance is not told, and what is known instead.
func (r *run) noteDealt(notes collect.Notes, wall uint64) {
	dealt := 0
	for _, p := range r.all() {
		dealt += p.out.dealt
	}
	if dealt == 0 || wall == 0 {
		return
	}
	notes.Set(profile.NoteHandedOut, fmt.Sprintf("in %d instances of sections the work went to whoever came first, "+
		"and who had one of %d cores decided who that was: their imbalance is not told, "+
		"and the threads have equal times there. On the real cores %.0f %% of the time was work", dealt, cores(),
		100*float64(r.sumWork())/float64(wall)/float64(cores())), 1)
}
