// The table of event kinds: what each is called, what it counts, what must happen first, and what
// it takes of a core's time. Collectors make a profile's kinds from it, analyses and reports look
// kinds up in it.

package profile

import (
	"slices"
	"strings"
)

// EventKind describes one kind of hardware or system event. The kinds of a profile stand in it,
// so that a kind that this lime does not know needs no change to readers.
type EventKind struct {
	Name     string // as in the table of kinds: "l1d-miss", "lock-wait", ...
	Title    string // for people: "L1 data miss"
	Superior string // Name of the superior kind at the same instruction; "" = the executions of the instruction
	Unit     string // of Count.N: UnitTimes or the clock unit
	Label    Label
}

// UnitTimes is the unit of kinds that count how often something happened.
const UnitTimes = "times"

// Family says what an event of a kind does to its thread's time.
type Family uint8

// The families.
const (
	FamilyNone      Family = iota // nothing is known of the kind
	FamilyFlow                    // control flow: other instructions are executed
	FamilyMemory                  // the thread runs, and the machine takes longer over the same instructions
	FamilyLock                    // it waits for a lock that another thread holds
	FamilyWait                    // it waits for what other threads have yet to do
	FamilyOffCore                 // it is off its core for a reason outside of the program's threads
	FamilyOverhead                // it runs code of a runtime that makes and hands out work
	FamilyWaste                   // memory work for nothing: counted, costs no time of its own
	FamilySamples                 // tells of the samples themselves
	FamilyElsewhere               // would have happened, had the program's pages been placed in another way
)

var familyNames = []string{
	FamilyNone: "", FamilyFlow: "control-flow", FamilyMemory: "memory", FamilyLock: "lock", FamilyWait: "wait",
	FamilyOffCore: "off-core", FamilyOverhead: "overhead", FamilyWaste: "waste", FamilySamples: "samples", FamilyElsewhere: "elsewhere",
}

// String returns "control-flow", "memory", "lock", "wait", "off-core", "overhead", "waste",
// "samples", "elsewhere" or "".
func (f Family) String() string { return name(familyNames, f) }

// Waits reports whether a thread stands still during the events of a family: no block's time holds
// theirs.
func (f Family) Waits() bool { return f == FamilyLock || f == FamilyWait || f == FamilyOffCore }

// Names of the kinds that collectors and analyses speak of by name.
const (
	KindLockWait   = "lock-wait"
	KindSpinWait   = "spin-wait"   // in a loop, for what another thread stores
	KindWorkWait   = "work-wait"   // asleep, until others have done something: a condition, a queue, a channel
	KindPermitWait = "permit-wait" // asleep, until one of those who take turns at the place gives back what it holds
	KindMispredict = "branch-miss" // of the machine's stalls the one that is none of memory's
	// Off the core. OffCPU is what is not told apart.
	KindSleep    = "sleep"
	KindIO       = "io"
	KindFault    = "fault"
	KindMap      = "memory-map" // in a call that changes what memory there is
	KindRunQueue = "run-queue"
	KindFutex    = "futex" // one that is no known lock
	KindOffCPU   = "off-cpu"
	// By these a sampling collector tells how far loops are from their ends, at the loops' tests:
	// KindLoopLeft / KindLoopSamples is the mean distance between the two sides of the test.
	KindLoopSamples = "loop-samples"
	KindLoopLeft    = "loop-left"
	// KindSpinSamples counts the samples of a part in which the thread spun. They were taken off
	// its time in proportion, so that time is an estimate.
	KindSpinSamples = "spin-samples"
	// KindCoreTime counts the ns that a part's thread was on a core; its address is the core's number.
	KindCoreTime = "core-time"
	// KindWholeTask counts the tasks that a part's thread did, at the call that makes them. Its cost is
	// the ns by which the longest part is ahead of the mean because a thread does a task as a whole.
	KindWholeTask = "whole-task"
)

// Kind is a row of the table.
type Kind struct {
	Name, Title, Unit, Superior string
	Family                      Family
}

const unitCycles = "cycles"

// kinds is the table. Control flow is counted by edges and is no event of a profile; its kinds are
// here for their names.
var kinds = [...]Kind{
	{"branch", "branch", UnitTimes, "", FamilyFlow},
	{"loop", "loop", UnitTimes, "", FamilyFlow},
	{"call", "call", UnitTimes, "", FamilyFlow},
	{"recursion", "recursion", UnitTimes, "", FamilyFlow},
	{"indirect-jump", "switch", UnitTimes, "", FamilyFlow},
	{"indirect-call", "indirect call", UnitTimes, "", FamilyFlow},
	{"jump", "jump", UnitTimes, "", FamilyFlow},
	{"exec", "execution", UnitTimes, "", FamilyFlow},

	{"l1d-miss", "L1 data miss", UnitTimes, "", FamilyMemory},
	{"l1i-miss", "L1 instruction miss", UnitTimes, "", FamilyMemory},
	{"l2-miss", "L2 miss", UnitTimes, "l1d-miss", FamilyMemory},
	{"llc-miss", "last-level miss", UnitTimes, "l2-miss", FamilyMemory},
	{"tlb-miss", "data TLB miss", UnitTimes, "", FamilyMemory},
	{"itlb-miss", "instruction TLB miss", UnitTimes, "", FamilyMemory},
	{KindMispredict, "branch mispredict", UnitTimes, "", FamilyMemory},
	{"coherence-miss", "coherence miss", UnitTimes, "l1d-miss", FamilyMemory},
	{"bus-wait", "wait for the shared bus", unitCycles, "l1d-miss", FamilyMemory},
	{"memory-wait", "wait for a memory channel", unitCycles, "llc-miss", FamilyMemory},
	{"page-fault", "page fault", UnitTimes, "", FamilyMemory},

	{KindLockWait, "lock wait", UnitTimes, "", FamilyLock},
	{KindPermitWait, "wait for a lock or semaphore that others hold", UnitTimes, "", FamilyLock},
	{KindSpinWait, "wait for another thread", UnitTimes, "", FamilyWait},
	{KindWorkWait, "wait for others' work", UnitTimes, "", FamilyWait},

	{KindSleep, "sleep", UnitTimes, "", FamilyOffCore},
	{KindIO, "wait for input or output", UnitTimes, "", FamilyOffCore},
	{KindFault, "wait for a page", UnitTimes, "", FamilyOffCore},
	{KindMap, "wait for a change of the memory map", UnitTimes, "", FamilyOffCore},
	{KindRunQueue, "wait for a free core", UnitTimes, "", FamilyOffCore},
	{KindFutex, "wait at a futex that is no known lock", UnitTimes, "", FamilyOffCore},
	{KindOffCPU, "time off the core", UnitTimes, "", FamilyOffCore},

	{"runtime", "runtime's own code", UnitTimes, "", FamilyOverhead},

	{"dead-store", "dead store", UnitTimes, "", FamilyWaste},
	{"silent-store", "silent store", UnitTimes, "", FamilyWaste},
	{"silent-load", "silent load", UnitTimes, "", FamilyWaste},
	{"false-sharing", "false sharing", UnitTimes, "", FamilyWaste},

	{"l2-miss-elsewhere-1", "L2 miss in another placement of pages", UnitTimes, "", FamilyElsewhere},
	{"l2-miss-elsewhere-2", "L2 miss in a second other placement of pages", UnitTimes, "", FamilyElsewhere},
	{"l2-miss-elsewhere-3", "L2 miss in a third other placement of pages", UnitTimes, "", FamilyElsewhere},
	{"llc-miss-elsewhere-1", "last-level miss in another placement of pages", UnitTimes, "", FamilyElsewhere},
	{"llc-miss-elsewhere-2", "last-level miss in a second other placement of pages", UnitTimes, "", FamilyElsewhere},
	{"llc-miss-elsewhere-3", "last-level miss in a third other placement of pages", UnitTimes, "", FamilyElsewhere},

	{KindLoopSamples, "samples that tell of a loop", UnitTimes, "", FamilySamples},
	{KindLoopLeft, "distance to a loop's end, summed over its samples", UnitTimes, "", FamilySamples},
	{KindSpinSamples, "samples in which a thread spun", UnitTimes, "", FamilySamples},
	{KindCoreTime, "time on one of the cores", "ns", "", FamilySamples},
	{KindWholeTask, "tasks that are done as a whole", UnitTimes, "", FamilySamples},
}

var kindIndex = func() map[string]*Kind {
	m := make(map[string]*Kind, len(kinds))
	for i := range kinds {
		m[kinds[i].Name] = &kinds[i]
	}
	return m
}()

// KindNamed looks a kind up.
func KindNamed(name string) (Kind, bool) {
	if k := kindIndex[name]; k != nil {
		return *k, true
	}
	return Kind{Name: name}, false
}

// FamilyOf is the family of the kind of that name.
func FamilyOf(name string) Family {
	if k := kindIndex[name]; k != nil {
		return k.Family
	}
	return FamilyNone
}

// KindTitle names a kind for people; one that the table does not hold keeps its name.
func KindTitle(name string) string {
	if k := kindIndex[name]; k != nil {
		return k.Title
	}
	return name
}

// NewKinds makes rows of a profile. The superior of a kind is the nearest one of the table that is
// among the names: a collector that cannot see misses in a level goes by those in the level above.
func NewKinds(label Label, names ...string) []EventKind {
	out := make([]EventKind, len(names))
	for i, n := range names {
		k, _ := KindNamed(n)
		out[i] = EventKind{Name: n, Title: KindTitle(n), Unit: k.Unit, Label: label}
		if out[i].Unit == "" {
			out[i].Unit = UnitTimes
		}
		for up := k.Superior; up != ""; up = kindIndex[up].Superior {
			if slices.Contains(names, up) {
				out[i].Superior = up
				break
			}
		}
	}
	return out
}

// NewKind makes a row of a kind that stands alone.
func NewKind(label Label, name string) EventKind { return NewKinds(label, name)[0] }

// Family is that of the kind's name.
func (k *EventKind) Family() Family { return FamilyOf(k.Name) }

// Auxiliary reports whether a kind tells of the samples themselves, or of what would have happened,
// and not of what happened in the program.
func (k *EventKind) Auxiliary() bool {
	return k.Family() == FamilySamples || k.Family() == FamilyElsewhere
}

// Elsewhere splits the name of a kind of events that would have happened in another placement of
// pages: of what kind they are, and in which placement, from 0.
func Elsewhere(name string) (kind string, placement int, ok bool) {
	kind, number, ok := strings.Cut(name, "-elsewhere-")
	if !ok || len(number) != 1 || number[0] < '1' || number[0] > '9' {
		return "", 0, false
	}
	return kind, int(number[0] - '1'), true
}
