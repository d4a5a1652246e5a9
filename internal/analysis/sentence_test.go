package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lime/internal/profile"
)

func TestSentences(t *testing.T) {
	threads := []ThreadCount{{Thread: 2, Count: 1, Time: 100}, {Thread: 16, Count: 15, Time: 320}, {Thread: 5, Count: 0, Time: 90}}
	r := &runner{meta: &profile.Meta{ClockUnit: "cycles"}}
	for _, tt := range []struct {
		cause Cause
		f     finding
		want  string
	}{
		{Cause{Event: EventBranch, Family: FamilyControl}, finding{},
			"Thread 16 takes this branch 15 times, thread 5 never; threads that do so more often take longer: " +
				"thread 16 takes 3.56 times as long as thread 5."},
		{Cause{Event: EventLoop, Family: FamilyControl}, finding{}, "Thread 16 runs this loop for 15 iterations, thread 5 never; "},
		{Cause{Event: EventCall, Family: FamilyControl, Callee: "walk", Recursive: true}, finding{},
			"Thread 16 makes this call 15 times, thread 5 never (of walk, a recursion); "},
		{Cause{Event: EventReturn, Family: FamilyControl}, finding{}, "Thread 16 returns here 15 times, "},
		{Cause{Event: EventJump, Family: FamilyControl}, finding{}, "Thread 16 passes here 15 times, "},
		{Cause{Event: EventVisit, Family: FamilyControl}, finding{}, "Thread 16 is seen here 15 times, "},
		{Cause{Event: "l1d-miss", Title: "L1 data miss", Family: FamilyHardware}, finding{},
			`Thread 16 has the event "L1 data miss" here 15 times, thread 5 never; `},
		{Cause{Event: "lock-wait", Title: "lock wait", Family: FamilyHardware}, finding{timed: true},
			"Thread 16 waits here for 15 cycles (lock wait), thread 5 never; threads that wait longer here take longer"},
		{Cause{Event: EventBranch, Family: FamilyControl,
			Threads: []ThreadCount{{Thread: 1, Time: 420}, {Thread: 2, Count: 1, Time: 21}, {Thread: 3, Count: 1, Time: 20}}}, finding{},
			"Thread 2 takes this branch once, thread 1 never; threads that do so less often take longer: " +
				"thread 1 takes 20.00 times as long as thread 2."},
		{Cause{Event: EventLoop, Family: FamilyControl,
			Threads: []ThreadCount{{Thread: 1, Count: 90, Time: 300, instances: 3}, {Thread: 2, Count: 60, Time: 200, instances: 2},
				{Thread: 3, Count: 88, Time: 290, instances: 3}}}, finding{}, "Thread 1 runs this loop for 90 iterations, thread 3 88 iterations; "},
		{Cause{Event: EventLoop, Family: FamilyControl,
			Threads: []ThreadCount{{Thread: 1, Count: 90, Time: 300, instances: 3}, {Thread: 2, Count: 60, Time: 200, instances: 2}}}, finding{},
			"Thread 1 runs this loop for 90 iterations."},
		{Cause{Event: EventCall, Family: FamilyControl, Callee: "find",
			Threads: []ThreadCount{{Thread: 1, Count: 7, Time: 10}, {Thread: 2, Count: 7, Time: 40}, {Thread: 3, Count: 7, Time: 11}}}, finding{},
			"Every thread makes this call 7 times (of find): how often is not what differs, but thread 2 takes 4.00 times as long as thread 1."},
	} {
		if tt.cause.Threads == nil {
			tt.cause.Threads = threads
		}
		if got := r.sentence(&tt.cause, tt.f, 1); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.cause.Event, got, tt.want)
		}
	}
	several := Cause{Event: EventReturn, Family: FamilyControl, Threads: threads, Seq: 1}
	one, of := r.sentence(&several, finding{}, 1), r.sentence(&several, finding{}, 3)
	several.Summed = true
	if over := r.sentence(&several, finding{}, 3); one[0] != 'T' || of != "In instance 2 t"+one[1:] || over != "Over all instances t"+one[1:] {
		t.Errorf("%q, %q, %q", one, of, over)
	}
	for n, want := range map[uint64]string{0: "0 times", 1: "once", 2: "2 times"} {
		if got := plural(n, "time"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// A sentence does not contradict the threads that it names: who has more of what makes threads take
// longer takes longer.
func TestSentencesAgreeWithTheirCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	r := &runner{meta: &profile.Meta{ClockUnit: "cycles"}}
	for range 5000 {
		c := Cause{Event: EventBranch, Family: FamilyControl, Correlation: rng.Float64()*2 - 1}
		for i := range 2 + rng.IntN(5) {
			c.Threads = append(c.Threads, ThreadCount{Thread: profile.ThreadID(i), Count: rng.Uint64N(4), Time: float64(1 + rng.IntN(5))})
		}
		got := r.sentence(&c, finding{}, 1)
		hi, lo, _ := extremes(c.Threads)
		more, less := strings.Contains(got, "more often take longer"), strings.Contains(got, "less often take longer")
		if hi.Count == lo.Count && (more || less) || more && hi.Time < lo.Time || less && hi.Time > lo.Time {
			t.Errorf("%+v: %s", c.Threads, got)
		}
	}
}

// A lock wait is measured by the time waited, where that is known.
func TestLockWaitCountsTime(t *testing.T) {
	b := hardwareProfile(12)
	lock := b.event(b.p.AddKind(profile.EventKind{Name: "lock-wait", Title: "lock wait", Unit: "times"}), 3)
	for in := range b.p.Instances(0) {
		in.Events = nil
		for i := range in.Parts {
			waited := uint64(100 + i*i*7919%997)
			in.Parts[i].Arrive, in.Parts[i].LockWait = 5000+waited, waited
			in.Events = append(in.Events, profile.Count{Row: int32(lock), Part: int32(i), N: uint64(1 + i%2)})
			in.Costs = append(in.Costs, profile.Count{Row: int32(lock), Part: int32(i), N: waited})
		}
	}
	res, err := Run(b.p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cs := res.Sections[0].Causes
	if len(cs) != 1 || cs[0].Event != "lock-wait" || cs[0].Line != 13 || cs[0].Score < 0.999 ||
		!strings.Contains(cs[0].Sentence, "waits here for") {
		t.Errorf("causes %+v, candidates %+v", cs, res.Sections[0].Candidates)
	}
}

func TestTimesWords(t *testing.T) {
	for ratio, want := range map[float64]string{1.5: "1.50 times", 123.4: "123 times", 344539.56: "more than 1,000 times"} {
		if got := timesWords(ratio); got != want {
			t.Errorf("%v: %q, want %q", ratio, got, want)
		}
	}
}

// TestThreadsHaveNamesOfTheirOwn: a name that all have is the program's, and says nothing.
func TestThreadsHaveNamesOfTheirOwn(t *testing.T) {
	io, net, none := ThreadCount{Thread: 3, Name: "io"}, ThreadCount{Thread: 5, Name: "net"}, ThreadCount{Thread: 6}
	for _, c := range []struct {
		of    ThreadCount
		among []ThreadCount
		want  string
	}{
		{io, []ThreadCount{io, net}, "3 (io)"},
		{io, []ThreadCount{io, io}, "3"},
		{none, []ThreadCount{io, none}, "6"},
	} {
		if got := numbered(c.of, c.among); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
}
