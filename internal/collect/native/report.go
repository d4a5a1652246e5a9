package native

import (
	"fmt"
	"maps"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// leastSpin is what part of the work spinning must be to be worth a word: one in so many.
const leastSpin = 50

// report is the notes with the figures of the recording so far.
func (r *run) report(wall uint64) []profile.Note {
	notes := maps.Clone(r.notes)
	if s := r.main.program.sampler.stacks; s.total > 0 {
		notes.Set("complete-stacks", fmt.Sprintf("%.1f %% of the samples have a complete call path", 100*s.share()), s.complete)
		if list := s.broken.words(); len(list) > 0 {
			notes.Set("broken-stacks", "call paths break off in "+strings.Join(list, ", "), s.total-s.complete)
		}
		notes.Set("samples", fmt.Sprintf("samples by %s, %d a second and thread", r.events.by, r.o.Frequency), s.total)
	}
	if r.events.lost > 0 {
		notes.Set("lost-samples", "records that the kernel had no room for", r.events.lost)
	}
	if r.events.throttle > 0 {
		notes.Set("throttled", "times that the kernel stopped sampling for a while", r.events.throttle)
	}
	var calls, spun, work, width uint64
	goroutines := false
	for _, p := range r.all() {
		width = max(width, uint64(p.out.idle.width))
		calls, spun, work = calls+p.lostCalls(), spun+p.sampling.spun, work+p.out.work
		goroutines = goroutines || p.program.images.goroutines() && !p.program.golang
	}
	if width > 0 {
		notes.Set(profile.NoteEffortThreads,
			"threads at most, for a hundredth of the time or more, have something to do at once: idleness is what is missing to so many", width)
	}
	if calls > 0 {
		notes.Set("lost-calls", "synchronisation calls that found no room in the ring", calls)
	}
	r.noteChildren(notes)
	if spun > 0 && spun*leastSpin > work {
		notes.Set("own-spin", fmt.Sprintf("the threads spun for %v in loops of the program's own: that is waiting, "+
			"and no work, but the sections that end so are not told apart", unit.Nanos(spun)), 1)
	}
	if goroutines {
		notes.Set(profile.NoteGoroutines,
			"the program's goroutines wander between the threads of Go's runtime: what a thread did is not a piece of the program's work", 1)
	}
	r.noteOff(notes)
	r.noteBrief(notes)
	r.noteDealt(notes, wall)
	r.noteGuessed(notes)
	if r.events.switches {
		notes.Set("cpu-time", fmt.Sprintf("the times are those on a CPU, put together as if every thread had a core "+
			"of its own, so that more threads than cores do no harm; "+
			"on the wall the run took %v on %d cores", unit.Nanos(wall), cores()), 1)
	}
	return notes.List()
}

func (r *run) meta(state string) profile.Meta {
	m := profile.Meta{
		Tool: r.o.Tool, Collector: "record", Model: "native", Command: r.o.Command, Cores: cores(),
		ClockUnit: "ns", ClockHz: 1e9, TimeLabel: profile.Measured, CountLabel: profile.Sampled, NodeTime: "stored", EndState: state,
		RankInfo: r.o.Rank,
	}
	if r.events.by == "" {
		m.CountLabel = profile.Unavailable
	}
	return m
}
