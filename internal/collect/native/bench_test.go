package native

import (
	"os"
	"runtime"
	"testing"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/profile"
)

// forgetting is a profile that keeps no instances.
type forgetting struct{ *profile.Profile }

func (forgetting) WriteInstance(*profile.Instance) error { return nil }

// BenchmarkBarrier is what the passage of a barrier by eight threads costs, each of which goes off
// its CPU there.
func BenchmarkBarrier(b *testing.B) {
	const threads, rounds = 8, 100
	r := newRun(Options{Out: forgetting{profile.New(profile.Meta{})}}.withDefaults())
	r.main.program.pid, r.events.switches = int32(os.Getpid()), true
	if err := r.main.look(); err != nil {
		b.Fatal(err)
	}
	barrier := -1
	for i, f := range r.main.program.table {
		if f.Role == known.Barrier {
			barrier = i
		}
	}
	at := uint64(1000)
	here, _, _, _ := runtime.Caller(0)
	for t := range int32(threads) {
		r.main.lives.startThread(r.main.program.pid+t, r.main.roster.main(), at)
	}
	var calls []hook.Record
	r.main.stream.hooks = func(number uint64) hook.Record { return calls[number] }
	call := func(t int32, phase hook.Phase) {
		at += 100
		h := hook.Record{TID: r.main.program.pid + t, Func: barrier, Phase: phase, Arg0: 1 << 20, Caller: uint64(here),
			SP: 1<<22 + uint64(t)<<12, Words: hook.StackWords, Stack: [hook.StackWords]uint64{at}}
		r.main.stream.addHook(at, uint64(len(calls)))
		calls = append(calls, h)
	}
	n := 0
	for b.Loop() {
		from := at
		calls = calls[:0]
		for range rounds { // the rings are read one after the other
			for t := range int32(threads) {
				at += 200
				r.main.stream.add(item{at: at, typ: perf.TypeSwitch, tid: r.main.program.pid + t, out: true})
			}
			for t := range int32(threads) {
				at += 200
				r.main.stream.add(item{at: at, typ: perf.TypeSwitch, tid: r.main.program.pid + t})
			}
		}
		at = from
		for range rounds {
			for t := range int32(threads) {
				call(t, hook.Enter)
			}
			at += 200 * threads
			for t := range int32(threads) {
				call(t, hook.Return)
			}
		}
		r.main.stream.take(at, r.main.dispatcher.apply)
		n += rounds
	}
	if r.main.out.instances < n/2 || r.main.out.instances > n {
		b.Fatalf("%d instances in %d rounds", r.main.out.instances, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/barrier")
}
