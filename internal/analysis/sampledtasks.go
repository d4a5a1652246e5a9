// Tasks that a sampling collector has seen from their begin to their end: how much of what threads wait
// at a section's end no other hand could have dealt out more evenly.

package analysis

import (
	"fmt"
	"maps"
	"slices"

	"lime/internal/profile"
	"lime/internal/unit"
)

// wholeTasks are the tasks of a section's instances by event, and what the last threads are ahead of
// the mean because of them.
type wholeTasks struct {
	number, ahead map[int32]float64
	threads       map[int32]map[profile.ThreadID]uint64 // by event: how many each did
	late          float64                               // what the last threads are ahead of the mean in all
	with          map[int32]float64                     // by event: the instances that have such tasks
}

func newWholeTasks() *wholeTasks {
	return &wholeTasks{number: map[int32]float64{}, ahead: map[int32]float64{}, with: map[int32]float64{},
		threads: map[int32]map[profile.ThreadID]uint64{}}
}

func (w *wholeTasks) add(tab *profile.Tables, in *profile.Instance) {
	sum, longest, seen := 0.0, 0.0, map[int32]bool{}
	for i := range in.Parts {
		t := float64(in.Parts[i].Time())
		sum, longest = sum+t, max(longest, t)
	}
	late, tasks := longest-ratio(sum, float64(len(in.Parts))), 0.0
	w.late += late
	each := func(list []profile.Count, f func(c *profile.Count)) {
		for i := range list {
			if c := &list[i]; ofWholeTasks(tab, in, c) {
				f(c)
			}
		}
	}
	each(in.Events, func(c *profile.Count) {
		if w.threads[c.Row] == nil {
			w.threads[c.Row] = map[profile.ThreadID]uint64{}
		}
		w.threads[c.Row][in.Parts[c.Part].Thread] += c.N
		w.number[c.Row] += float64(c.N)
		tasks += float64(c.N)
		seen[c.Row] = true
	})
	// What is lost is less than a task, and cannot be nothing: then all of it is that.
	whole := late <= ratio(sum, tasks)
	each(in.Costs, func(c *profile.Count) {
		if x := float64(c.N); whole {
			w.ahead[c.Row] += max(x, late)
		} else {
			w.ahead[c.Row] += x
		}
	})
	for row := range seen {
		w.with[row]++
	}
}

func ofWholeTasks(tab *profile.Tables, in *profile.Instance, c *profile.Count) bool {
	return c.Row >= 0 && int(c.Row) < len(tab.Events) && int(c.Part) < len(in.Parts) &&
		tab.Kinds[tab.Events[c.Row].Kind].Name == profile.KindWholeTask
}

// most is the event of the tasks that make the threads wait most, and how much of their waiting that
// is; none if it is not most of it.
func (w *wholeTasks) most() (row int32, share float64) {
	row = profile.None
	for _, e := range slices.Sorted(maps.Keys(w.ahead)) {
		if row < 0 || w.ahead[e] > w.ahead[row] {
			row = e
		}
	}
	if share = ratio(w.ahead[row], w.late); row < 0 || share < byNumber {
		return profile.None, 0
	}
	return row, min(1, share)
}

// cause makes the cause of a section whose threads wait because its tasks are too few, or some too
// large, for the threads; false if that is not why. The threads' times are then such as the tasks leave
// them at least, and not what each did: nothing else can be looked for in them.
func (w *wholeTasks) cause(r *runner, sec *Section) bool {
	row, share := w.most()
	if row < 0 {
		return false
	}
	ev := &r.tab.Events[row]
	each := w.number[row] / max(1, w.with[row])
	number, exact := fmt.Sprintf("about %.1f tasks", each), each == float64(uint64(each))
	if exact {
		number = plural(uint64(each), "task")
	}
	c := Cause{Family: FamilyControl, Event: EventTask, Title: fmt.Sprintf("%s for %d threads", number, sec.ThreadsMax),
		Place: r.prog.eventPlace(ev), Score: share, Share: &share, Beta: share, R2: Interval{share, share, share},
		Nodes: []profile.NodeID{ev.Node}, key: causeKey{lineKey: frameKey(ev.Frames, ev.Addr)}, Summed: true}
	for _, t := range sec.Threads {
		c.Threads = append(c.Threads, ThreadCount{Thread: t.Thread, Name: t.Name, Count: w.threads[row][t.Thread], Time: t.Time, Wait: t.Wait})
	}
	c.Sentence = fmt.Sprintf("The work is dealt out in %s to %d threads, and a thread does one as a whole: however they are "+
		"dealt out, the last thread is %s later than the mean. More and smaller tasks would even it out.",
		number, sec.ThreadsMax, unit.Nanos(uint64(w.ahead[row]/max(1, w.with[row]))))
	sec.Causes = append(sec.Causes, c)
	r.sampledCauses(sec, &walker{})
	return true
}
