package native

import (
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
	"lime/internal/profile"
)

// countersAt is a machine with some of the counters.
type countersAt struct {
	has  []string
	asks []perf.Options
}

func (c *countersAt) Add(o perf.Options) error {
	c.asks = append(c.asks, o)
	for _, n := range c.has {
		if n == o.Clock.Name {
			return nil
		}
	}
	return &perf.UnsupportedError{Event: o.Clock.Name, Err: unix.ENOENT, Hint: "no such counter"}
}

// recording is a run that is fed by the test, over the images of the test itself.
func recording(t *testing.T, o Options) (*run, *profile.Profile) {
	t.Helper()
	p := profile.New(profile.Meta{})
	o.Out = p
	r := newRun(o.withDefaults())
	r.main.program.pid, r.events.by, r.events.switches = int32(os.Getpid()), "cycles", true
	if err := r.main.look(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.main.program.images.close)
	r.main.clocks.started = 1000
	r.main.lives.startThread(r.main.program.pid, nil, r.main.clocks.started)
	return r, p
}

func TestEventsOfAMachineWithCounters(t *testing.T) {
	r, p := recording(t, Options{})
	machine := &countersAt{has: []string{"llc-miss", "page-fault"}}
	r.events.openEvents(machine, perf.Options{PID: 5, Frequency: 499, Leader: true, Layout: perf.Layout{Stack: 24576}})
	if want := map[string]bool{"llc-miss": true, "page-fault": true}; !reflect.DeepEqual(r.events.kinds, want) ||
		len(machine.asks) != len(perf.Events()) {
		t.Fatalf("opened %v after %d questions", r.events.kinds, len(machine.asks))
	}
	for _, o := range machine.asks {
		if o.Leader || o.Layout.Stack != eventStack || (o.Clock.Name == "page-fault") != (o.Period > 0) ||
			o.Frequency*uint64(len(perf.HardwareEvents())) > 499 {
			t.Errorf("asked for %+v", o)
		}
	}
	if len(r.notes) != 0 {
		t.Errorf("notes %v: nobody asked for the others", r.notes)
	}
	const second, stub = 77, 16
	r.main.program.sampler.stubs = func(pc uint64) bool { return pc == stub }
	r.events.eventIDs[1], r.events.eventIDs[2] = "llc-miss", "page-fault"
	pc := uint64(reflect.ValueOf(TestEventsOfAMachineWithCounters).Pointer())
	at := uint64(2000)
	feed := func(x perf.Record) {
		x.PID, x.Time = r.main.program.pid, at
		at += 1000
		r.record(&x)
	}
	feed(perf.Record{Type: perf.TypeFork, TID: second, Parent: r.main.program.pid, ParentTID: r.main.program.pid})
	feed(perf.Record{Type: perf.TypeSwitch, TID: second})
	feed(perf.Record{Type: perf.TypeSample, TID: r.main.program.pid, Event: 1, IP: pc, Period: 1000})
	for range 3 {
		feed(perf.Record{Type: perf.TypeSample, TID: second, Event: 1, IP: pc, Period: 1000})
		feed(perf.Record{Type: perf.TypeSample, TID: second, Event: 2, IP: pc, Period: faultPeriod})
		feed(perf.Record{Type: perf.TypeSample, TID: second, Event: 2, IP: stub, Period: faultPeriod}) // in lime's own code
	}
	r.drain(0)
	if _, err := r.finish(nil, false); err != nil {
		t.Fatal(err)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for id := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Events {
				e := p.Tables().Events[c.Row]
				kind := p.Tables().Kinds[e.Kind]
				if kind.Name == profile.KindCoreTime { // of the switch, not of a counter
					continue
				}
				if e.Addr != pc || kind.Label != profile.Sampled || kind.Title == "" {
					t.Errorf("event %+v of kind %+v", e, kind)
				}
				got[kind.Name] += c.N
			}
		}
	}
	if got["llc-miss"] != 4000 || got["page-fault"] != 3*faultPeriod {
		t.Errorf("events %v; want 4,000 misses and %d page faults", got, 3*faultPeriod)
	}
}

func TestAskedForEvents(t *testing.T) {
	r, _ := recording(t, Options{Events: []string{"branch-miss"}})
	r.events.openEvents(&countersAt{}, perf.Options{})
	if notes := r.notes.List(); len(notes) != 1 || notes[0].Code != "no-event" || !strings.Contains(notes[0].Text, "branch-miss") {
		t.Errorf("notes %v", notes)
	}
	if err := CheckEvents([]string{"page-fault", "none"}); err != nil {
		t.Error(err)
	}
	if err := CheckEvents([]string{"page-fualt"}); err == nil || !strings.Contains(err.Error(), "page-fault") {
		t.Errorf("a wrong name: %v", err)
	}
}

func TestEveryEventIsAKind(t *testing.T) {
	for _, e := range perf.Events() {
		if profile.FamilyOf(e.Name) != profile.FamilyMemory {
			t.Errorf("%s: the table of kinds does not have it as one of the machine's", e.Name)
		}
	}
}

const faults = `
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
static pthread_barrier_t b;
static void *work(void *a) {
	pthread_barrier_wait(&b);
	if (a) {
		char *p = mmap(0, 32 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(p, 32 << 20, MADV_NOHUGEPAGE);
		for (long i = 0; i < 32 << 20; i += 4096) p[i] = 1;
	}
	pthread_barrier_wait(&b);
	return 0;
}
`

// One of two threads touches 8,192 new pages: its page faults are counted to within a few samples,
// at the instruction that stores.
func TestPageFaults(t *testing.T) {
	needs(t, needSamples, needTracing)
	p, _ := record(t, Options{Command: []string{build(t, faults+team(2, "pthread_barrier_init(&b, 0, 2);", ""))}})
	if !hasSamples(p) {
		t.Fatal("no samples")
	}
	const pages = 32 << 20 / 4096
	var all, most uint64
	for id := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Events {
				if p.Tables().Kinds[p.Tables().Events[c.Row].Kind].Name == "page-fault" {
					all, most = all+c.N, max(most, c.N)
				}
			}
		}
	}
	if !noted(p, "lost-samples") && (most < pages*9/10 || most > pages*11/10 || all > pages*12/10) {
		t.Errorf("%d page faults, %d of them at one instruction; want %d there", all, most, pages)
	}
}

// However the samples of events are mixed, each instruction gets its own in a part.
func TestEventsAddUp(t *testing.T) {
	var p piece
	want := map[eventKey]uint64{}
	for i := range uint64(100) {
		e := eventCount{eventKey{"page-fault", i % 20 * (i % 3)}, i}
		want[e.eventKey] += i
		p.addEvent(&e)
	}
	var s partSum
	if s.add(&p); !maps.Equal(s.events, want) {
		t.Errorf("%v, want %v", s.events, want)
	}
}
