// Sections come in the order of the core time that they lose, whatever it is lost to.

package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// losers are ways to lose the time of cores. Each makes the parts of threads in a section that
// begins at start and takes span, and returns the events that cost time, and how much core time is
// lost.
var losers = []struct {
	name string
	make func(l *losing, start, span uint64) (in profile.Instance, lost float64)
}{
	{"imbalance", func(l *losing, start, span uint64) (in profile.Instance, lost float64) {
		for i := range l.cores {
			time := span
			if i > 0 {
				time = span/10 + l.r.Uint64N(span/2)
			}
			in.Parts = append(in.Parts, l.part(i, start, time, span))
			lost += float64(span - time)
		}
		return in, lost
	}},
	{"too few threads", func(l *losing, start, span uint64) (in profile.Instance, lost float64) {
		n := 2 + l.r.IntN(l.cores-3)
		for i := range n {
			in.Parts = append(in.Parts, l.part(i, start, span, span))
		}
		return in, float64(l.cores-n) * float64(span)
	}},
	{"lock", waiting(profile.KindLockWait)},
	{"others' work", waiting(profile.KindWorkWait)},
	{"sleep", waiting(profile.KindSleep)},
	{"a file", waiting(profile.KindIO)},
	{"pages", waiting(profile.KindFault)},
	{"the memory map", waiting(profile.KindMap)},
	{"no place known", waiting("")},
}

// waiting loses time in events of a kind.
func waiting(kind string) func(l *losing, start, span uint64) (profile.Instance, float64) {
	return func(l *losing, start, span uint64) (in profile.Instance, lost float64) {
		row := l.event(kind)
		for i := range l.cores {
			p, x := l.part(i, start, span, span), span/10+l.r.Uint64N(span/2)
			if profile.FamilyOf(kind) == profile.FamilyOffCore {
				p.OffCPU = x
			} else {
				p.LockWait = x
			}
			if row >= 0 {
				in.Events = append(in.Events, profile.Count{Row: row, Part: int32(i), N: 1})
				in.Costs = append(in.Costs, profile.Count{Row: row, Part: int32(i), N: x})
			}
			in.Parts, lost = append(in.Parts, p), lost+float64(x)
		}
		return in, lost
	}
}

// losing is a profile whose losses are known.
type losing struct {
	*profile.Profile
	r     *rand.Rand
	cores int
	line  int32
	kinds map[int32]string // of events, by line
}

func (l *losing) part(i int, start, time, span uint64) profile.Part {
	return profile.Part{Thread: profile.ThreadID(i), Start: start, Arrive: start + time, Release: start + span,
		Entry: profile.None, Exit: profile.None}
}

func (l *losing) frames() []profile.Frame {
	l.line++
	return []profile.Frame{{File: 0, Line: l.line, Function: "f"}}
}

// event adds a row for an event of the kind, -1 for none.
func (l *losing) event(kind string) int32 {
	if kind == "" {
		return -1
	}
	k := l.AddKind(profile.NewKind(profile.Measured, kind))
	l.AddEvent(profile.Event{Kind: k, Node: profile.None, Addr: uint64(1000 + l.line), Frames: l.frames()})
	l.kinds[l.line] = kind
	return int32(len(l.Events) - 1)
}

func TestSectionsComeByTheCoreTimeThatTheyLose(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		l := &losing{Profile: profile.New(profile.Meta{ClockUnit: "instructions", Complete: true, Cores: 64,
			TimeLabel: profile.Measured, CountLabel: profile.Measured}), r: r, cores: 4 + r.IntN(12)}
		l.AddFile(profile.File{Path: "main.c"})
		for range l.cores {
			l.AddThread(profile.Thread{})
		}
		// All cores are at work once: so many can be used.
		whole := l.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None, Frames: l.frames()})
		full := &profile.Instance{Section: whole}
		for i := range l.cores {
			full.Parts = append(full.Parts, l.part(i, 0, 1000, 1000))
		}
		must(t, l.WriteInstance(full))
		l.kinds = map[int32]string{}
		clock, lost := uint64(1000), map[profile.SectionID]float64{whole: 0}
		names, lines := map[profile.SectionID]string{whole: "even"}, map[profile.SectionID]int32{}
		for range 2 + r.IntN(5) {
			how := losers[r.IntN(len(losers))]
			id := l.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None, Frames: l.frames()})
			names[id] = how.name
			for range 1 + r.IntN(3) {
				span := uint64(100) << r.UintN(12)
				in, x := how.make(l, clock, span)
				in.Section, lines[id] = id, l.line
				must(t, l.WriteInstance(&in))
				clock, lost[id] = clock+span, lost[id]+x
			}
		}
		l.Meta().RunTime = clock
		res, err := Run(l, Options{})
		must(t, err)
		checkIdentity(t, res.Loss)
		if len(res.Sections) != len(lost) {
			t.Fatalf("seed %d: %d sections of %d", seed, len(res.Sections), len(lost))
		}
		for i := range res.Sections {
			s := &res.Sections[i]
			if want := lost[s.ID] / (float64(l.cores) * float64(clock)); math.Abs(s.AllLost-want) > 1e-9 {
				t.Errorf("seed %d: section %d (%s) loses %v, want %v", seed, s.ID, names[s.ID], s.AllLost, want)
			}
			if s.Matters != (s.AllLost >= worthwhile) && !s.Matters {
				t.Errorf("seed %d: section %d (%s) loses %v and does not matter", seed, s.ID, names[s.ID], s.AllLost)
			}
		}
		for i := range res.Sections { // who waits is told by the line where it does
			s := &res.Sections[i]
			kind := l.kinds[lines[s.ID]]
			if s.InstanceCount > 1 || kind == "" {
				continue
			}
			if len(s.Causes) == 0 || s.Causes[0].Event != kind || s.Causes[0].Line != int(lines[s.ID]) ||
				!strings.Contains(s.Causes[0].Sentence, " times, ") {
				t.Errorf("seed %d: section %d (%s, line %d): %+v", seed, s.ID, names[s.ID], lines[s.ID], s.Causes)
			}
		}
		if !slices.IsSortedFunc(res.Sections, func(a, b Section) int { return int(lost[b.ID]) - int(lost[a.ID]) }) {
			t.Errorf("seed %d: %v", seed, fmt.Sprint(lost))
		}
		if t.Failed() {
			return
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
