// Tasks that are seen from their begin to their end: a thread does one as a whole. So no hand that
// deals them out, whoever comes first, can make the threads more even than the largest of them allow.

package native

import (
	"cmp"
	"slices"

	"lime/internal/profile"
	"lime/internal/section"
)

// slowTask is how many cycles a task takes that is recorded: a hundred times and more what the record
// takes itself, and less than any difference between threads that is told.
const slowTask = 50_000

// doneTask is a task that a thread has done.
type doneTask struct {
	thread   section.ThreadID
	from, to uint64
	function uint64
	cpu      uint64 // ns on a core; 0 if it may have waited for other tasks meanwhile
}

// doneTasks are those that belong to no instance yet, and where each function's tasks are made.
type doneTasks struct {
	list  []doneTask
	calls map[uint64]uint64
	makes map[uint64]bool // functions of tasks that have been seen to make tasks
	kind  int32
	rows  map[uint64]profile.EventID // by call
}

func newDoneTasks() doneTasks {
	return doneTasks{calls: map[uint64]uint64{}, makes: map[uint64]bool{}, kind: profile.None, rows: map[uint64]profile.EventID{}}
}

// add takes a task that has just ended, and answers how much of its time is known to be its own work.
// The tasks that the thread did in it, while it waited for some, are behind it in the list: their time
// is not its own. Of one that had such, or has made others, nothing is, as it may have gone round a loop
// to wait for them.
func (d *doneTasks) add(x doneTask) (own uint64) {
	waited := d.makes[x.function]
	for i := len(d.list) - 1; i >= 0 && !waited; i-- {
		if o := &d.list[i]; o.thread == x.thread {
			waited = o.from >= x.from
			break
		}
	}
	if waited {
		x.cpu = 0
	}
	d.list = append(d.list, x)
	return x.cpu
}

// take removes those of an instance: what its threads have done since their parts began.
func (d *doneTasks) take(in *section.Instance) (of []doneTask) {
	if len(d.list) == 0 {
		return nil
	}
	began := map[section.ThreadID]uint64{}
	for i := range in.Parts {
		if p := &in.Parts[i]; len(p.Spans) > 0 {
			began[p.Thread] = p.Spans[0].(*piece).from
		}
	}
	d.list = slices.DeleteFunc(d.list, func(x doneTask) bool {
		from, here := began[x.thread]
		if here = here && x.to >= from; here { // a part may begin where a sample met the task
			of = append(of, x)
		}
		return here
	})
	return of
}

// undivided is for how long each of the threads waits at least, which worked so long and did these
// tasks, however they are dealt out. Who is the last one is chance.
func undivided(cpu []uint64, of []doneTask) []uint64 {
	n, waits := uint64(len(cpu)), make([]uint64, len(cpu))
	var times []uint64
	for i := range of {
		if of[i].cpu > 0 { // else its own time is not known
			times = append(times, of[i].cpu)
		}
	}
	all := max(total(cpu), total(times))
	last := min(lastOf(n, times), lastOf(n, alike(times)))
	if n < 2 || last*n <= all {
		return waits
	}
	each := (last*n - all) / (n - 1)
	for i := range waits {
		waits[i] = each
	}
	waits[slices.Index(cpu, slices.Max(cpu))] = 0
	return waits
}

// lastOf is how long the last of n threads takes at least that do tasks of these lengths: as long as the
// longest, and as any k + 1 of kn + 1 tasks, of which some thread has so many.
func lastOf(n uint64, times []uint64) (last uint64) {
	times = slices.Clone(times)
	slices.SortFunc(times, func(a, b uint64) int { return cmp.Compare(b, a) })
	for k := uint64(0); k*n < uint64(len(times)); k++ {
		last = max(last, total(times[k*n-k:k*n+1]))
	}
	return last
}

// alikeTasks is how many times the median a task takes at least that is larger than the others: what
// the machine makes equal ones differ by is less, as of threads that take half of what the longest does.
const alikeTasks = 2

// alike makes tasks equal that may be so, and leaves those that are larger.
func alike(times []uint64) []uint64 {
	if len(times) == 0 {
		return nil
	}
	out := slices.Sorted(slices.Values(times))
	n, _ := slices.BinarySearch(out, alikeTasks*out[len(out)/2]+1)
	mean := total(out[:n]) / uint64(n)
	for i := range out[:n] {
		out[i] = mean
	}
	return out
}

// undivided tells of the tasks of an instance, and what the longest part is ahead of the mean by
// because they are done as a whole.
func (o *output) undivided(x *profile.Instance, of []doneTask, waits []uint64) {
	if len(of) == 0 || len(waits) < 2 {
		return
	}
	parts := map[profile.ThreadID]int32{}
	longest := 0
	for i := range x.Parts {
		parts[x.Parts[i].Thread] = int32(i)
		if x.Parts[i].Arrive > x.Parts[longest].Arrive {
			longest = i
		}
	}
	most := slices.MaxFunc(of, func(a, b doneTask) int { return cmp.Compare(a.cpu, b.cpu) })
	for i := range of {
		x.Events = addCount(x.Events, o.taskRow(of[i].function), parts[profile.ThreadID(of[i].thread)], 1)
	}
	if ahead := total(waits) / uint64(len(waits)); ahead > 0 {
		x.Costs = addCount(x.Costs, o.taskRow(most.function), int32(longest), ahead)
	}
}

// taskRow is the event of the tasks of a function, where they are made.
func (o *output) taskRow(function uint64) int32 {
	call := o.done.calls[function]
	id, ok := o.done.rows[call]
	if !ok {
		if o.done.kind == profile.None {
			o.done.kind = o.sink.AddKind(profile.NewKind(profile.Measured, profile.KindWholeTask))
		}
		e := profile.Event{Kind: o.done.kind, Node: profile.None, Addr: call}
		if call != 0 {
			e.Node = o.code.at(call).b.id
		}
		id = o.sink.AddEvent(e)
		o.done.rows[call] = id
	}
	return int32(id)
}

// asWhole divides the CPU time of an instance among its parts so that they wait as long as its tasks
// make them, if that is more than what threads were seen to wait for: even is what that leaves of each,
// nil if nothing is known of it. Where tasks are most of the work, it was handed out in any case.
func asWhole(cpu, even []uint64, of []doneTask, waits []uint64) []uint64 {
	known, sum := even, uint64(0)
	for i := range of {
		sum += of[i].cpu
	}
	if known == nil && 2*sum < total(cpu) {
		known = cpu
	}
	proved := total(waits)
	if proved == 0 || known != nil && proved <= slices.Max(known)*uint64(len(known))-total(known) {
		return even
	}
	return evenly(cpu, waits)
}
