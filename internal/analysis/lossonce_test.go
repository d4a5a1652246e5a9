package analysis

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// Each thread works for 40 ms; the first one is off its core besides, at one line. What the machine
// makes a thread wait for, and did so once, is lost and is no claim. That it did so again and again
// is one, or in several threads, and so is what only the program does, though once.
func TestOnceIsNoClaim(t *testing.T) {
	const threads, ms = 4, 1_000_000
	for _, c := range []struct {
		name, kind string
		waits      []uint64 // in ms, by thread
		times      uint64   // in each
		claimed    bool
	}{
		{"a start of a thread", profile.KindMap, []uint64{8}, 1, false},
		{"a page", profile.KindFault, []uint64{8}, 1, false},
		{"long once, and three times next to nothing", profile.KindMap, []uint64{800, 10, 10, 10}, 1, false},
		{"each thread's start", profile.KindMap, []uint64{8, 7, 6, 7}, 1, true},
		{"one thread's pages", profile.KindFault, []uint64{8}, 50, true},
		{"a sleep", profile.KindSleep, []uint64{8}, 1, true},
		{"a file", profile.KindIO, []uint64{8}, 1, true},
		{"others' work", profile.KindWorkWait, []uint64{8}, 1, true},
	} {
		p := profile.New(profile.Meta{Collector: "record", Model: "native", ClockUnit: "ns", ClockHz: 1e9, NodeTime: "stored",
			CountLabel: profile.Sampled, Cores: threads, Complete: true, EndState: "exited"})
		frames := []profile.Frame{{File: p.AddFile(profile.File{Path: "app.c"}), Line: 9, Function: "work"}}
		p.AddSection(profile.Section{Kind: profile.SectionJoin, EndNode: profile.None, Frames: frames})
		p.AddEvent(profile.Event{Kind: p.AddKind(profile.NewKind(profile.Measured, c.kind)), Node: profile.None, Addr: 1, Frames: frames})
		in, end, waited := &profile.Instance{}, uint64(0), uint64(0)
		for i := range threads {
			p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
			part := profile.Part{Thread: profile.ThreadID(i), Arrive: 40 * ms, Entry: profile.None, Exit: profile.None}
			if i < len(c.waits) {
				x := c.waits[i] * ms
				part.Arrive += x
				if profile.FamilyOf(c.kind) == profile.FamilyOffCore {
					part.OffCPU = x
				} else {
					part.LockWait = x
				}
				in.Events = append(in.Events, profile.Count{Part: int32(i), N: c.times})
				in.Costs = append(in.Costs, profile.Count{Part: int32(i), N: x})
				waited += x
			}
			end = max(end, part.Arrive)
			in.Parts = append(in.Parts, part)
		}
		for i := range in.Parts {
			in.Parts[i].Release = end
		}
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
		p.Meta().RunTime = end
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, res.Loss)
		most := res.Loss.Largest()
		if most != nil && most.Time < 1 { // ns: what rounding leaves
			most = nil
		}
		lost := res.Loss.CoreTime - res.Loss.Term(TermUseful).Time
		switch {
		case (most != nil) != c.claimed:
			t.Errorf("%s: claimed: %+v", c.name, most)
		case !c.claimed && math.Abs(res.Loss.Term(TermUnproved).Time-lost) > 1:
			t.Errorf("%s: of %v that are lost %v are not proved", c.name, lost, res.Loss.Term(TermUnproved).Time)
		case lost < float64(waited):
			t.Errorf("%s: %v are lost, %v were waited", c.name, lost, waited)
		}
	}
}
