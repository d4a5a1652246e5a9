package native

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"lime/internal/profile"
	"lime/internal/section"
)

const loops = `
#include <stdio.h>
static volatile double out[4096];
static double work(long n) { double x = 1; for (long i = 0; i < n; i++) x = x * 0.999 + i; return x; }
int main(void) {
	for (int r = 0; r < 8; r++) {
		#pragma omp parallel for schedule(%s) num_threads(%d)
		for (int i = 0; i < 1024; i++) out[i] = work(%s);
	}
	return 0;
}
`

// Of a loop whose pieces go to whoever comes first no imbalance is told on fewer cores than
// threads; one that is dealt out unevenly keeps its own.
func TestHandedOut(t *testing.T) {
	needs(t, needSamples, needTracing)
	const each = 4 // threads to a core
	for _, row := range []struct {
		schedule, work string
		dealt          bool
	}{
		{"dynamic, 4", "20000", true}, {"static", "i < 512 ? 40000 : 4000", false}, {"static", "i < 128 ? 80000 : 8000", false},
	} {
		p, _ := record(t, Options{Command: []string{build(t, fmt.Sprintf(loops, row.schedule, each*cores(), row.work), "-fopenmp")}})
		if got := noted(p, profile.NoteHandedOut); got != row.dealt {
			t.Errorf("schedule(%s), work %s: told that whoever came first got the work: %t; want %t", row.schedule, row.work, got, row.dealt)
		}
	}
}

const bag = `
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int next, here;
static volatile double out[64 * 8];
static double some(long n) { double x = 1; for (long i = 0; i < n; i++) x = x * 0.999 + i; return x; }
static void *work(void *a) {
	long me = (long)a, all = %[1]d, n = 0;
	for (atomic_fetch_add(&here, 1); atomic_load(&here) < all;) usleep(100); /* nobody has done before all are there */
	for (long k; (k = %[2]s) < 4096; n++) out[8 * me] += some(%[3]s);
	return 0;
}
`

// fewPieces is what threads that share a counter may still differ by, of the mean: what any of them
// had left when the first was done is a piece, and they differ by four of those at most where it is
// more than a quarter; each takes some 500. Threads with work of their own differ by more than ownWork.
const (
	fewPieces = 0.02
	ownWork   = 0.1
)

// The same of threads that are joined: those that share a counter are even, whoever had a core.
func TestHandedOutToThreads(t *testing.T) {
	needs(t, needSamples, needTracing)
	n := 4 * cores()
	for _, row := range []struct {
		next, work string
		dealt      bool
	}{
		{"atomic_fetch_add(&next, 1)", "20000", true},
		{"me + n * all", "me ? 8000 : 80000", false},
	} {
		p, _ := record(t, Options{Command: []string{build(t, fmt.Sprintf(bag, n, row.next, row.work)+team(n, "", ""))}})
		for id, s := range p.Tables().Sections {
			for in := range p.Instances(profile.SectionID(id)) {
				most, mean := longest(in)
				if s.Kind == profile.SectionJoin && (row.dealt && most >= (1+fewPieces)*mean || !row.dealt && most < (1+ownWork)*mean) {
					t.Errorf("%s: the longest part has %.0f ns, the mean is %.0f", row.next, most, mean)
				}
			}
		}
	}
}

// longest is the longest part's time, but for waits, and the mean of all.
func longest(in *profile.Instance) (most, mean float64) {
	for i := range in.Parts {
		x := float64(in.Parts[i].Time() - in.Parts[i].OffCPU - in.Parts[i].LockWait)
		most, mean = max(most, x), mean+x/float64(len(in.Parts))
	}
	return most, mean
}

// What any thread had left when the first one was done tells whose work went to whoever came first,
// if most instances of the section say so.
func TestLeftWhenTheFirstIsDone(t *testing.T) {
	type part struct{ cpu, after, queued, waited, late uint64 }
	dynamic := []part{{cpu: 9000, after: 0}, {cpu: 5000, after: 90}, {cpu: 1000, after: 40}, {cpu: 1000, after: 10}}
	static := []part{{cpu: 1000, after: 0}, {cpu: 9000, after: 8000}, {cpu: 1000, after: 40}, {cpu: 5000, after: 4000}}
	taken := []part{{cpu: 20000, after: 0}, {cpu: 100, after: 100}, {cpu: 100, after: 100}, {cpu: 100, after: 100}, {cpu: 100, after: 100}, {cpu: 100, after: 100}, {cpu: 100, after: 100}, {cpu: 100, after: 100}}
	late := []part{{cpu: 20000, after: 0}, {cpu: 3000, after: 3000}, {cpu: 3000, after: 3000}, {cpu: 3000, after: 3100}, {cpu: 3000, after: 3000}, {cpu: 3000, after: 3000}, {cpu: 3000, after: 3000}, {cpu: 3000, after: 3000}}
	even := []part{{cpu: 1000, after: 0}, {cpu: 1010, after: 10}, {cpu: 1000, after: 5}, {cpu: 1005, after: 4}}
	slight := []part{{cpu: 1080, after: 0}, {cpu: 1000, after: 2}, {cpu: 1000, after: 3}, {cpu: 1000, after: 1}}
	nearly := []part{{cpu: 1000, after: 0}, {cpu: 1002, after: 2}, {cpu: 1000, after: 1}, {cpu: 1001, after: 1}}
	longer := []part{{cpu: 1000, after: 0}, {cpu: 1080, after: 80}, {cpu: 1000, after: 3}, {cpu: 1000, after: 1}}
	shared := []part{{cpu: 9000}, {cpu: 1000, after: 40, queued: 7900}}
	begun := []part{{cpu: 9000}, {cpu: 1000, after: 40, queued: 3000, late: 4900}}
	chosen := []part{{cpu: 9000}, {cpu: 1000, after: 40}}
	stages := []part{{cpu: 9000}, {cpu: 1000, after: 40, waited: 6000}, {cpu: 1000, after: 10, waited: 7000}, {cpu: 1000, waited: 7000}}
	for _, c := range []struct {
		name      string
		instances [][]part
		want      bool // of the last one
	}{
		{"dynamic", [][]part{dynamic}, true}, {"static", [][]part{static}, false}, {"even", [][]part{even}, false},
		{"a little more than others", [][]part{slight}, true}, {"a little more to do", [][]part{longer}, false},
		{"others even", [][]part{nearly, nearly, nearly, nearly, slight}, true},
		{"a little, mostly of their own", [][]part{longer, longer, slight}, false},
		{"all taken before others begin", [][]part{taken}, true}, {"own work begun late", [][]part{late}, false},
		{"mostly dynamic", [][]part{dynamic, dynamic, dynamic, static, dynamic}, true},
		{"once, by chance", [][]part{static, static, dynamic}, false},
		{"one of two had no core, though there are two", [][]part{shared}, true},
		{"nor when the other one began", [][]part{begun}, true},
		{"both had a core", [][]part{chosen}, false},
		{"the others waited for one", [][]part{stages}, false},
	} {
		o := &output{handouts: handouts{}, idle: newIdling(2)}
		got := false
		for _, parts := range c.instances {
			in := section.Instance{Kind: section.Region}
			var cpu []uint64
			e := &episode{}
			for _, p := range parts {
				in.Parts = append(in.Parts, section.Part{Spans: []any{&piece{after: p.after, to: 20000 + p.after, met: e, queued: p.queued, from: p.late,
					off: []offWait{{kind: kindWork, n: 1, wait: p.waited}}}}})
				cpu = append(cpu, p.cpu)
			}
			got = o.handedOut(&in, 0, cpu) != nil
		}
		if got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

// Who has made all others and joins them is no taker of what they share, whether it comes to its end
// before or behind them, unless it ran the same code: its own time stays.
func TestWhoOnlyKeepsTakesNothing(t *testing.T) {
	const ms = 1_000_000
	for _, comes := range []uint64{10 * ms, 60 * ms} {
		main := &thread{}
		in, cpu := section.Instance{Kind: section.Join}, []uint64{ms, 6 * ms, 18 * ms, 18 * ms, 18 * ms}
		e := &episode{cpu: map[*thread]uint64{}}
		for i := range cpu {
			p := &piece{to: 40 * ms, met: e, thread: &thread{parent: main}, queued: 40 * ms}
			if i == 0 {
				p.to, p.thread, p.awaits = comes, main, true
			}
			in.Parts = append(in.Parts, section.Part{Thread: section.ThreadID(i), Spans: []any{p}})
		}
		o := &output{handouts: handouts{}, idle: newIdling(2), code: &code{}}
		got := o.handedOut(&in, 0, cpu)
		if got == nil || got[0] != ms || slices.Max(got[1:])-slices.Min(got[1:]) > ms {
			t.Errorf("main comes at %d ms: %v", comes/ms, got)
		}
	}
}

// A goroutine that counted down and lost its core there has not come to the end: the others do what it
// would have come for. One that found nothing more to do has, and so have those that have ended.
func TestGoroutinesThatLoseTheirCoreGoOn(t *testing.T) {
	const ms = 1_000_000
	for _, row := range []struct {
		name   string
		idleAt uint64
		even   bool
	}{{"no core since then", 0, true}, {"none until the others were done", 39 * ms, true}, {"nothing to do", 10 * ms, false}} {
		in, cpu := section.Instance{Kind: section.Join}, []uint64{6 * ms, 18 * ms, 18 * ms, 18 * ms}
		for i := range cpu {
			p := &piece{to: 40 * ms, counts: true, idleAt: 40 * ms, thread: &thread{goroutine: &goroutine{}}}
			if i == 0 {
				p.to, p.idleAt = 10*ms, row.idleAt
			}
			in.Parts = append(in.Parts, section.Part{Thread: goroutineBase + section.ThreadID(i), Spans: []any{p}})
		}
		o := &output{handouts: handouts{}, idle: newIdling(2)}
		got := o.handedOut(&in, 0, cpu)
		if got == nil {
			got = cpu
		}
		if even := slices.Max(got)-slices.Min(got) < ms+ms/10; even != row.even {
			t.Errorf("%s: %v; even %t, want %t", row.name, got, even, row.even)
		}
	}
}

// Threads that meet again and again with uneven work of their own, in passages so short that one
// comes to the next before another has left the last.
func TestUnevenPassagesAreNotHandedOut(t *testing.T) {
	needs(t, needSamples, needTracing)
	const source = `
#include <pthread.h>
static pthread_barrier_t b;
static volatile long sink[64 * 8];
static void *work(void *a) {
	long me = (long)a;
	for (int r = 0; r < 2000; r++) {
		for (long i = 0; i < (me ? 4000 : 20000); i++) sink[8 * me] += i;
		pthread_barrier_wait(&b);
	}
	return 0;
}
`
	n := 4 * cores()
	p, _ := record(t, Options{Command: []string{build(t, source+team(n, fmt.Sprintf("pthread_barrier_init(&b, 0, %d);", n), ""))}})
	for _, x := range p.Meta().Notes {
		if x.Code == profile.NoteHandedOut {
			t.Error(x.Text)
		}
	}
	if found := sections(p)[profile.SectionBarrier]; found[0] != 2000 {
		t.Errorf("%d passages, want 2000", found[0])
	}
}

const taskLoops = `
static volatile double out[1 << 10];
static void some(long n, int k) { double x = 1; for (long i = 0; i < n; i++) x = x * 0.999 + i; out[k] = x; }
int main(void) {
	for (int r = 0; r < 8; r++) {
		#pragma omp parallel num_threads(%[1]d)
		#pragma omp single
		for (int k = 0; k < 512; k++) {
			#pragma omp task
			some(%[2]s, k);
		}
	}
	return 0;
}
`

// Tasks go to whoever comes first: threads that always had one, or wanted a core for it, lose nothing,
// however their times differ. Of one long task the others wait for the end.
func TestTasksAreHandedOut(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, row := range []struct {
		work string
		even bool
	}{{"60000", true}, {"k == 511 ? 20000000 : 5000", false}} {
		p, _ := record(t, Options{Command: []string{build(t, fmt.Sprintf(taskLoops, min(16, 4*cores()), row.work), "-fopenmp")}})
		lost, all := 0.0, 0.0
		for id, s := range p.Tables().Sections {
			for in := range p.Instances(profile.SectionID(id)) {
				if s.Kind == profile.SectionRegion {
					most, mean := longest(in)
					lost, all = lost+most-mean, all+most
				}
			}
		}
		if row.even != (lost < 0.25*all) || all == 0 {
			t.Errorf("work %s: %.0f of %.0f ns are lost", row.work, lost, all)
		}
	}
}

const scope = `
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
fn some(n: u64) -> f64 { let mut x = 1.0; for i in 0..n { x = std::hint::black_box(x * 0.999 + i as f64); } x }
fn work(me: usize, all: usize, next: &AtomicUsize) -> f64 {
	let (mut sum, mut n) = (0.0, 0usize);
	loop {
		let k = %[2]s;
		if k >= 2048 { return sum; }
		sum += some(%[3]s);
		n += 1; let _ = (me, all, n);
	}
}
fn main() {
	let all = %[1]d;
	for _ in 0..8 {
		let next = Arc::new(AtomicUsize::new(0));
		%[4]s
	}
	let _ = (Mutex::new(0), Condvar::new());
}
`

// The same of Rust's threads, by whatever their creator waits for them: again and again, each time for
// others. Threads that are still on their way out when it makes the next ones may leave an end unknown.
func TestHandedOutToRustThreads(t *testing.T) {
	n := 4 * cores()
	for by, wait := range map[string]string{
		"a scope": "let next = &next; std::thread::scope(|s| for me in 0..all { s.spawn(move || std::hint::black_box(work(me, all, next))); });",
		"joins": "let hs: Vec<_> = (0..all).map(|me| { let next = next.clone(); std::thread::spawn(move || work(me, all, &next)) }).collect();\n" +
			"for h in hs { std::hint::black_box(h.join().unwrap()); }",
	} {
		for _, row := range []struct {
			next, work string
			dealt      bool
		}{
			{"next.fetch_add(1, Relaxed)", "20000", true},
			{"me + n * all", "if me > 0 { 8000 } else { 80000 }", false},
		} {
			prog := rustOf(t, fmt.Sprintf(scope, n, row.next, row.work, wait))
			p, _ := record(t, Options{Command: []string{prog}})
			told, right := 0, 0
			for id, s := range p.Tables().Sections {
				for in := range p.Instances(profile.SectionID(id)) {
					if s.Kind != profile.SectionJoin || len(in.Parts) < n {
						continue
					}
					told++
					if most, mean := longest(in); row.dealt && most < (1+fewPieces)*mean || !row.dealt && most >= (1+ownWork)*mean {
						right++
					}
				}
			}
			if 2*right <= told {
				t.Errorf("%s, %s: %d of %d ends are right", by, row.next, right, told)
			}
		}
	}
}

// Who made the others and comes first may have worked with them: then it shares what they share,
// however much of it it got. What it does beside them is its own.
func TestKeeperThatWorksAlong(t *testing.T) {
	const ms = 1_000_000
	along, apart := &block{addr: 1}, &block{addr: 2}
	for _, row := range []struct {
		name  string
		cpu   uint64
		runs  *block
		left  uint64 // to the others when it came
		whole bool   // all parts are even, and not only those of the others
	}{
		{"took most of their work", 170 * ms, along, ms, true},
		{"took some of it", 20 * ms, along, ms, true},
		{"other work", 170 * ms, apart, ms, false},
		{"had done when they began", ms, along, 30 * ms, false},
	} {
		maker := &thread{}
		e, in, cpu := &episode{}, section.Instance{Kind: section.Join}, []uint64{row.cpu, 46 * ms, 38 * ms, 30 * ms}
		for i, c := range cpu {
			p := &piece{to: 400 * ms, cpu: c, met: e, thread: &thread{parent: maker}, samples: []workSample{{b: along}}}
			if i == 0 {
				p.to, p.thread, p.samples[0].b = 399*ms, maker, row.runs
			} else {
				p.after = min(c, row.left)
			}
			in.Parts = append(in.Parts, section.Part{Thread: section.ThreadID(i), Spans: []any{p}})
		}
		o := &output{handouts: handouts{}, idle: newIdling(2), code: &code{places: map[uint64]place{
			1: {fn: &function{entry: 1}}, 2: {fn: &function{entry: 2}}}}}
		got := o.handedOut(&in, 0, cpu)
		if got == nil {
			got = cpu
		}
		if whole := slices.Max(got)-slices.Min(got) < 2*ms; whole != row.whole {
			t.Errorf("%s: %v; all even %t, want %t", row.name, got, whole, row.whole)
		}
	}
}

// Who is let go while it spins has come before: its piece ends when all have come, and that is no sign
// that the work went to whoever came first. How much of its time it spun nobody knows: if it is the
// longest, other passages tell.
func TestComesSpinning(t *testing.T) {
	const ms = 1_000_000
	const last, spins = 0, 1 // who has most to do
	for _, row := range []struct {
		name string
		who  []int
		even bool
	}{
		{"the last had more to do", []int{last}, false},
		{"somebody who spins has a longer time", []int{spins}, true},
		{"the last had more to do before", []int{last, spins}, false},
	} {
		o, got := &output{handouts: handouts{}, idle: newIdling(2)}, []uint64(nil)
		for _, who := range row.who {
			in, cpu := section.Instance{Kind: section.Built}, []uint64{ms, ms, ms, ms}
			cpu[who] = 11 * ms
			for i, c := range cpu {
				p := &piece{to: 20 * ms, cpu: c, spunFrom: 3 * ms, cameUnseen: true, thread: &thread{}}
				p.thread.cpu.known = true
				if i == last {
					p.spunFrom, p.cameUnseen = 0, false
					p.thread.start = 20*ms - min(c, 10*ms) // it has a core from then on
				}
				in.Parts = append(in.Parts, section.Part{Spans: []any{p}})
			}
			got = o.handedOut(&in, 0, cpu)
		}
		if even := got != nil; even != row.even {
			t.Errorf("%s: even %t, want %t", row.name, even, row.even)
		}
	}
}

// Teams take of the same work: those that began in one function, whatever they did since, those that run the
// same code, whatever they began in, and those of whom too little is known.
func TestTeamsTakeOfTheSameWork(t *testing.T) {
	p := profile.New(profile.Meta{})
	c := newCode(&images{}, p)
	fns := map[string]*block{}
	in := func(name string) *block {
		if fns[name] == nil {
			b := &block{addr: uint64(0x1000 * (len(fns) + 1))}
			c.places[b.addr] = place{&function{name: name}, b}
			fns[name] = b
		}
		return fns[name]
	}
	part := func(root string, at ...string) section.Part {
		x := &piece{}
		for _, name := range at {
			w := workSample{b: in(name)}
			if root != "" {
				w.root = c.look(in(root).addr).fn
			}
			x.samples = append(x.samples, w)
		}
		return section.Part{Spans: []any{x}}
	}
	for _, test := range []struct {
		name  string
		parts []section.Part
		want  [][]int
	}{
		{"a pool", []section.Part{part("worker", "f"), part("worker", "g"), part("worker", "h")}, nil},
		{"a pipeline", []section.Part{part("load", "f"), part("rank", "g"), part("rank", "g", "h")}, [][]int{{0}, {1, 2}}},
		{"stages", []section.Part{part("a", "f"), part("b", "g"), part("c", "h")}, [][]int{{0}, {1}, {2}}},
		{"main works, too", []section.Part{part("main", "f", "f", "main"), part("worker", "f"), part("worker", "f", "g")}, [][]int{{0, 1, 2}}},
		{"main does something else", []section.Part{part("main", "main", "main"), part("worker", "f"), part("worker", "g", "f", "g")}, [][]int{{0}, {1, 2}}},
		{"no samples", []section.Part{part("load", "f"), part("rank"), part("rank", "g")}, [][]int{{0, 1, 2}}},
		{"cut stacks", []section.Part{part("", "f"), part("rank", "g")}, nil},
		{"both kinds in turn", []section.Part{part("a", "f"), part("b", "g"), part("a", "f"), part("b", "g")}, [][]int{{0, 2}, {1, 3}}},
	} {
		if got := teams(c, test.parts); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
