package analysis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lime/internal/profile"
)

// tasksProfile is a recorded program whose threads do tasks in each instance: the last of them is ahead
// of the mean by so much, ns, of which tasks account for a part.
func tasksProfile(t *testing.T, threads, instances int, tasks, ahead, bytasks uint64) *profile.Profile {
	t.Helper()
	p, _ := noisyProfile(t, rand.New(rand.NewPCG(1, 1)), threads, 0, 0, noise{"none", func(*rand.Rand) float64 { return 0 }})
	kind := p.AddKind(profile.NewKind(profile.Measured, profile.KindWholeTask))
	row := int32(p.AddEvent(profile.Event{Kind: kind, Node: 0, Addr: 0x1008, Frames: []profile.Frame{{File: 0, Line: 7, Function: "make"}}}))
	const mean = 20_000_000
	now := uint64(0)
	for range instances {
		in, last := &profile.Instance{}, now+mean+ahead
		for i := range threads {
			long := mean - ahead/uint64(threads-1)
			if i == threads-1 {
				long = mean + ahead
			}
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Start: now, Arrive: now + long, Release: last,
				Entry: profile.None, Exit: profile.None})
		}
		for i := range tasks {
			in.Events = append(in.Events, profile.Count{Row: row, Part: int32(i) % int32(threads), N: 1})
		}
		in.Costs = append(in.Costs, profile.Count{Row: row, Part: int32(threads - 1), N: bytasks})
		now = last
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	p.Meta().RunTime = now
	return p
}

// Where tasks that are done as a whole account for most of what threads wait at an end, that is the
// cause, with the place where they are made; the wait is imbalance, though samples are too few for
// anything, and the account adds up. Where they do not, it is not told.
func TestTasksTooFew(t *testing.T) {
	for _, c := range []struct {
		threads, instances    int
		tasks, ahead, bytasks uint64
		want                  string
	}{
		{4, 1, 5, 12_000_000, 12_000_000, "5 tasks for 4 threads"}, {4, 3, 5, 12_000_000, 7_000_000, "5 tasks for 4 threads"},
		{8, 2, 3, 30_000_000, 30_000_000, "3 tasks for 8 threads"}, {2, 1, 1, 15_000_000, 15_000_000, "1 task for 2 threads"},
		{4, 1, 5, 12_000_000, 5_000_000, "5 tasks for 4 threads"}, // less than a task is lost
		{4, 1, 9, 12_000_000, 5_000_000, ""}, {4, 1, 5, 17_000_000, 5_000_000, ""}, {4, 1, 5, 12_000_000, 0, ""}, {4, 1, 40, 12_000_000, 0, ""},
	} {
		name := fmt.Sprintf("%+v", c)
		res, err := Run(tasksProfile(t, c.threads, c.instances, c.tasks, c.ahead, c.bytasks), Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, res.Loss)
		if len(res.Sections) != 1 {
			t.Fatalf("%s: %d sections", name, len(res.Sections))
		}
		causes := res.Sections[0].Causes
		if got := len(causes) > 0 && causes[0].Event == EventTask; got != (c.want != "") {
			t.Errorf("%s: causes %+v", name, causes)
			continue
		}
		if c.want == "" {
			continue
		}
		if x := &causes[0]; x.Title != c.want || x.Line != 7 || !x.Important || !strings.Contains(x.Sentence, "More and smaller tasks") {
			t.Errorf("%s: %q at line %d, important %v: %s", name, x.Title, x.Line, x.Important, x.Sentence)
		}
		if imbalance, unproved := res.Loss.Term(TermImbalance), res.Loss.Term(TermUnproved); imbalance.Time == 0 || unproved.Time > 0 {
			t.Errorf("%s: %v of imbalance, %v not proved", name, imbalance.Time, unproved.Time)
		}
	}
}
