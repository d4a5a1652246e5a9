package analysis

import (
	"testing"

	"lime/internal/profile"
)

// Two threads pay the same for a line that they share; nothing is uneven, and the cost is told.
// What costs less than two per cent is not, nor what one thread pays alone.
func TestCosts(t *testing.T) {
	p := profile.New(profile.Meta{RunTime: 3000, ClockUnit: "cycles", Complete: true, NodeTime: "stored"})
	file := p.AddFile(profile.File{Path: "a.c"})
	p.AddKind(profile.EventKind{Name: "coherence-miss", Title: "coherence miss", Unit: "times"})
	at := func(line int32) []profile.Frame { return []profile.Frame{{File: file, Line: line, Function: "f"}} }
	p.AddNode(profile.Node{Frames: at(1), Function: profile.None, Image: profile.None})
	for _, e := range []profile.Event{
		{Addr: 16, Frames: at(5)}, {Addr: 20, Frames: at(5), Detail: "false sharing with a.c:6; on counters"},
		{Addr: 24, Frames: at(7)}, {Addr: 28, Frames: at(8)},
	} {
		p.AddEvent(e)
	}
	serial := p.AddSection(profile.Section{Kind: profile.SectionSerial, EndNode: profile.None})
	barrier := p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	p.AddThread(profile.Thread{})
	p.AddThread(profile.Thread{})
	write := func(in *profile.Instance) {
		t.Helper()
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	write(&profile.Instance{Section: serial, Parts: []profile.Part{{Thread: 0, Arrive: 2000, Exit: profile.None}},
		Costs: []profile.Count{{Row: 3, Part: 0, N: 1500}}})
	write(&profile.Instance{Section: barrier,
		Parts: []profile.Part{{Thread: 0, Start: 2000, Arrive: 3000, Exit: profile.None},
			{Thread: 1, Start: 2000, Arrive: 3000, Exit: profile.None}},
		Costs: []profile.Count{{Row: 0, Part: 0, N: 300}, {Row: 0, Part: 1, N: 300}, {Row: 1, Part: 0, N: 100},
			{Row: 1, Part: 1, N: 100}, {Row: 2, Part: 0, N: 30}}})
	res, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Costs) != 1 {
		t.Fatalf("%+v", res.Costs)
	}
	c := res.Costs[0]
	if c.Event != "coherence-miss" || c.Line != 5 || c.Time != 800 || c.Share != 0.4 ||
		c.Sharing != "false sharing with a.c:6" || c.Data != "counters" {
		t.Errorf("%+v", c)
	}
}
