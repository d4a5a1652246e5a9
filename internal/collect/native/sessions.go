// What the kernel tells through: rings of samples, and of all else.

package native

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
)

// openPerf opens the best sampling clock that there is. What the kernel tells of threads, mappings
// and switches comes through rings of its own: samples are large and may be lost, but a lost switch
// would spoil the thread's time.
func (ev *events) openPerf(o perf.Options) {
	o.Frequency, o.Layout = ev.o.Frequency, perf.Layout{Stack: ev.o.StackBytes}
	if o.Pages == 0 {
		o.Pages = ringPages(ev.o.Frequency, ev.o.StackBytes)
	}
	tasks := perf.Options{PID: o.PID, TID: o.TID, Clock: perf.Tasks(), Period: 1, Leader: true,
		Pages: taskPages(lockedMemory(), runtime.NumCPU())}
	if o.TID == 0 {
		ev.openExecs(tasks)
	}
	leader, err := perf.Open(tasks)
	o.Leader = err != nil
	for _, c := range perf.Clocks() {
		o.Clock = c
		var s *perf.Session
		if s, err = perf.Open(o); err == nil {
			ev.session, ev.by, ev.switches = append(ev.session, s), c.Name, true
			ev.short.of, ev.short.clock = s, o
			ev.openEvents(s, o)
			break
		}
	}
	if leader != nil {
		ev.session, ev.switches = append(ev.session, leader), true
	}
	if err != nil {
		ev.notes.Add("no-samples", err.Error())
	}
	if !ev.o.NoLeavings {
		ev.openSwitches(tasks)
	}
}

// taskPages is the size of the rings without samples, each CPU's. A pipeline makes some hundred
// thousand switches a second, and lime may not get a CPU at once: where the samples need not go
// short for it, the rings of all CPUs hold 64 MB together, and each 4 MB at most.
func taskPages(unlimited bool, cpus int) int {
	const few, many, all = 32, 1024, 64 << 20 / 4096
	pages := few
	for unlimited && pages < many && 2*pages*cpus <= all {
		pages *= 2
	}
	return pages
}

// lockedMemory reports whether lime may lock as much memory as it likes (capabilities(7),
// CAP_IPC_LOCK).
func lockedMemory() bool {
	h, d := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	return unix.Capget(&h, &d[0]) == nil && d[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}

// ringPages is the size of a ring that holds the samples of several ticks: each CPU has one, and
// runs one thread at a time.
func ringPages(frequency uint64, stack uint32) int {
	const least, most, ticks, page = 64, 1024, 5, 4096
	bytes := frequency * uint64(stack+512) * ticks * uint64(tick) / uint64(time.Second)
	pages := least
	for pages < most && uint64(pages)*page < bytes {
		pages *= 2
	}
	return pages
}

// openExecs opens what tells at once that a process replaces itself by another program: that is to
// be hooked before it has done much.
func (ev *events) openExecs(o perf.Options) {
	o.Leader, o.Execs, o.Pages = false, true, 1
	if s, err := perf.Open(o); err == nil {
		ev.execs = s
	}
}

// sessions are all that the kernel tells through.
func (ev *events) sessions() []*perf.Session {
	if ev.execs == nil {
		return ev.session
	}
	return append([]*perf.Session{ev.execs}, ev.session...)
}

func (ev *events) enable() error {
	for _, s := range ev.sessions() {
		if err := s.Enable(); err != nil {
			return err
		}
	}
	return nil
}
