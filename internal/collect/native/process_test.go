package native

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lime/internal/profile"
	"lime/internal/section"
)

// untilSections ends a recording when so many sections have been passed often enough.
type untilSections struct {
	*profile.Profile
	times  map[profile.SectionID]int
	want   int
	enough func()
}

func (u *untilSections) WriteInstance(in *profile.Instance) error {
	const times = 3
	if u.times[in.Section]++; u.times[in.Section] == times {
		if u.want--; u.want == 0 {
			u.enough()
		}
	}
	return u.Profile.WriteInstance(in)
}

// recordUntil records a command, whose input ends when so many sections have been seen; untilTold
// has two.
func recordUntil(t *testing.T, want int, command ...string) (*profile.Profile, Result) {
	t.Helper()
	stdin, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	end := sync.OnceFunc(func() { feed.Close() })
	defer end()
	defer time.AfterFunc(time.Minute, end).Stop() // if they are not seen
	p := profile.New(profile.Meta{})
	res, err := Run(t.Context(), Options{Command: command, Stdin: stdin, Out: &untilSections{p, map[profile.SectionID]int{}, want, end}})
	if err != nil {
		t.Fatal(err)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p, res
}

// Programs that a shell starts have their sections seen, each its own.
func TestChildrenAreWatched(t *testing.T) {
	needs(t, needSamples, needTracing)
	program, static := build(t, untilTold), build(t, untilTold, "-static")
	for _, c := range []struct {
		script    string
		processes int
	}{
		{"P; exit $?", 1},
		{"S; exit $?", 1},
		{"exec 3<&0; P <&3 & P; s=$?; wait; exit $s", 2},
	} {
		p, res := recordUntil(t, 2*c.processes-1, "/bin/sh", "-c", strings.NewReplacer("P", program, "S", static).Replace(c.script))
		if res.Status != 7 || res.Threads != 1+7*c.processes {
			t.Errorf("%s: status %d, %d threads; want 7, %d; notes %v", c.script, res.Status, res.Threads, 1+7*c.processes, p.Meta().Notes)
		}
		if noted(p, "no-hooks") || !noted(p, "watched-process") {
			t.Errorf("%s: notes %v", c.script, p.Meta().Notes)
		}
		teams := map[profile.ThreadID]int{} // the most threads of a process at a barrier, by its main thread
		for id, s := range p.Tables().Sections {
			if s.Kind != profile.SectionBarrier {
				continue
			}
			for in := range p.Instances(profile.SectionID(id)) {
				main := p.Tables().Threads[in.Parts[0].Thread].Parent
				teams[main] = max(teams[main], len(in.Parts))
				for _, part := range in.Parts {
					if up := p.Tables().Threads[part.Thread].Parent; up != main {
						t.Errorf("%s: threads of processes %d and %d meet", c.script, up, main)
					}
				}
			}
		}
		if len(teams) != c.processes {
			t.Errorf("%s: barriers in %d processes, want %d", c.script, len(teams), c.processes)
		}
		for main, n := range teams {
			if n != 6 || main == 0 {
				t.Errorf("%s: a barrier of %d threads of process %d; want 6, of a child", c.script, n, main)
			}
		}
	}
}

// The instances of processes stand one after the other on the time line, those of threads of one
// process side by side.
func TestProcessesFollow(t *testing.T) {
	common := lines{}
	first, second := newOutput(nil, nil), newOutput(nil, nil)
	first.lines, second.lines = common, common
	var spans [][2]uint64
	for _, step := range []struct {
		o      *output
		thread profile.ThreadID
		length uint64
	}{{first, 1, 30}, {first, 2, 20}, {second, 3, 10}, {first, 1, 5}, {second, 3, 1}} {
		x := &profile.Instance{Parts: []profile.Part{{Thread: step.thread, Arrive: step.length}}}
		step.o.place(x, "", make([]bool, len(x.Parts)))
		spans = append(spans, [2]uint64{x.Parts[0].Start, x.Parts[0].Release})
	}
	if want := [][2]uint64{{0, 30}, {0, 20}, {30, 40}, {40, 45}, {45, 46}}; !slices.Equal(spans, want) {
		t.Errorf("instances at %v, want %v", spans, want)
	}
	r := &run{shared: &shared{watched: []*process{{out: second}}}, main: &process{out: first}}
	var m profile.Meta
	if r.measured(&m); m.RunTime != 46 {
		t.Errorf("they took %d, want 46", m.RunTime)
	}
}

// How many threads there are does not depend on which of the processes asks.
func TestThreadsOfAllProcesses(t *testing.T) {
	r, _ := recording(t, Options{})
	child := newProcess(r.shared)
	r.watched = append(r.watched, child)
	child.roster.threads = []*thread{{}, {}, {ended: true}}
	if asked, other := r.running(), child.shared.running(); asked != 3 || other != 3 {
		t.Errorf("%d and %d threads, want 3", asked, other)
	}
}

// A thread that had ended before another one of the section began did not meet it.
func TestGone(t *testing.T) {
	part := func(from, end uint64, ended bool) section.Part {
		return section.Part{Spans: []any{&piece{from: from, thread: &thread{ended: ended, end: end}}}}
	}
	in := &section.Instance{Parts: []section.Part{part(0, 10, true), part(5, 30, true), part(20, 40, true), part(0, 0, false), {}}}
	if got, want := gone(in), []bool{true, false, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("gone: %v, want %v", got, want)
	}
}
