package analysis

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

// contendedProfile has a section of two even threads that wait for a lock at a.c:5, and one in
// which one of two threads works longer.
func contendedProfile(t *testing.T, waited uint64) *profile.Profile {
	t.Helper()
	p := profile.New(profile.Meta{Collector: "simulate", RunTime: 3000, ClockUnit: "instructions", Complete: true, NodeTime: "instructions"})
	file := p.AddFile(profile.File{Path: "a.c"})
	p.AddKind(profile.EventKind{Name: "lock-wait", Title: "lock wait", Unit: "times"})
	frames := []profile.Frame{{File: file, Line: 5, Function: "f"}}
	p.AddNode(profile.Node{Frames: frames, Function: profile.None, Image: profile.None})
	p.AddEvent(profile.Event{Addr: 16, Frames: frames})
	even := p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	uneven := p.AddSection(profile.Section{Kind: profile.SectionJoin, EndNode: profile.None})
	p.AddThread(profile.Thread{})
	p.AddThread(profile.Thread{})
	part := func(thread profile.ThreadID, start, arrive, lock uint64) profile.Part {
		return profile.Part{Thread: thread, Start: start, Arrive: arrive, Release: arrive, LockWait: lock,
			Entry: profile.None, Exit: profile.None}
	}
	for _, in := range []*profile.Instance{
		{Section: even, Parts: []profile.Part{part(0, 0, 2000, waited), part(1, 0, 2000, waited/2)},
			Costs: []profile.Count{{Row: 0, Part: 0, N: waited}, {Row: 0, Part: 1, N: waited / 2}}},
		{Section: uneven, Parts: []profile.Part{part(0, 2000, 3000, 0), part(1, 2000, 2900, 0)}},
	} {
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// A lock for which all threads wait is a cause, though nothing is uneven, and its section comes
// before one that loses less.
func TestContention(t *testing.T) {
	res, err := Run(contendedProfile(t, 1600), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := res.Sections[0]
	if s.Kind != "barrier" || !s.Balanced || s.ContendedTime != 2400 || s.ContendedShare != 0.6 {
		t.Fatalf("%+v", s)
	}
	if len(s.Causes) != 1 {
		t.Fatalf("%+v", s.Causes)
	}
	c := s.Causes[0]
	if c.Event != "lock-wait" || c.Line != 5 || !c.Important || c.Rank != 1 || c.Share != nil || c.CostShare != 0.6 || c.TimeToWin != 800 {
		t.Errorf("%+v", c)
	}
	if want := "for 60.0 % of their time in this section: thread 0 for 1.60 k instructions, thread 1 for 800 " +
		"instructions."; !strings.Contains(c.Sentence, want) {
		t.Errorf("%q lacks %q", c.Sentence, want)
	}
	if res.Whole.ContendedShare != 2400.0/(2*3000) {
		t.Errorf("whole: %+v", res.Whole)
	}
}

// A lock for which threads wait a twentieth of their time is no cause.
func TestLittleContention(t *testing.T) {
	res, err := Run(contendedProfile(t, 130), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range res.Sections {
		if s.ContendedTime != 0 || s.Kind == "barrier" && len(s.Causes) > 0 {
			t.Errorf("%+v", s)
		}
	}
}

// What all threads pay at a line that is a cause of imbalance, too, is added to that cause.
func TestPays(t *testing.T) {
	about := Subject{Data: "counters"}
	c := Cause{Sentence: "Uneven." + about.words(), TimeToWin: 10, WinShare: 0.1}
	c.pays(&Cause{CostShare: 0.5, CostTime: 80, TimeToWin: 40, WinShare: 0.4, Sentence: "All wait.", Subject: about})
	if c.Sentence != "All wait. Uneven." || c.CostShare != 0.5 || c.CostTime != 80 || c.TimeToWin != 40 || c.WinShare != 0.4 || !c.Important {
		t.Errorf("%+v", c)
	}
}

// The waits that are told already are not told again, but what follows from them is.
func TestPaysSaysItOnce(t *testing.T) {
	for differ, want := range map[string]string{
		"Thread 5 waits here for 3 ms (lock wait), thread 1 2 ms; the longer it waits, the longer a thread " +
			"takes.": "All wait. The longer it waits, the longer a thread takes.",
		"Thread 5 waits here for 3 ms (lock wait), thread 1 2 ms.": "All wait.",
		"Thread 4 waits 593 k more for locks than thread 2.":       "All wait. Thread 4 waits 593 k more for locks than thread 2.",
	} {
		c := Cause{Sentence: differ, TimeToWin: 10}
		c.pays(&Cause{CostShare: 0.5, meanCost: 40, TimeToWin: 40, Sentence: "All wait."})
		if c.Sentence != want {
			t.Errorf("%q, want %q", c.Sentence, want)
		}
	}
}

// A lock that threads wait for comes before what makes them differ, if it costs more; a wait for
// others' work comes behind that: what those do is why.
func TestWaitsForWorkComeLater(t *testing.T) {
	for event, first := range map[string]bool{"lock-wait": true, "work-wait": false, "spin-wait": true} {
		wait, loop := Cause{Event: event, CostShare: 0.5, meanCost: 100}, Cause{Event: EventLoop, TimeToWin: 60, LedgerTime: 60}
		if got := wait.gain(true) > loop.gain(true); got != first {
			t.Errorf("%s: first %t, want %t", event, got, first)
		}
	}
}

// How a lock that is not free is waited for is told with the wait, at its line and no other.
func TestDecisionsOfAWaitAreItsOwn(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	at := func(line int) Place { return Place{File: "a.c", Line: line} }
	sec := Section{TimeToWin: 100, Causes: []Cause{
		{Event: EventBranch, Family: FamilyControl, Place: at(5), Share: share(0.4), LedgerTime: 40, TimeToWin: 40},
		{Event: "lock-wait", Family: FamilyHardware, Place: at(5), Share: share(0.3), LedgerTime: 30, CostShare: 0.5,
			meanCost: 35, evenWin: 30, TimeToWin: 60},
		{Event: EventLoop, Family: FamilyControl, Place: at(6), Share: share(0.2), LedgerTime: 20, TimeToWin: 20},
	}}
	sec.ofWaits()
	if len(sec.Causes) != 2 || sec.Causes[0].Event != "lock-wait" || sec.Causes[1].Line != 6 {
		t.Fatalf("%+v", sec.Causes)
	}
	if c := &sec.Causes[0]; *c.Share != 0.7 || c.LedgerTime != 70 || c.gain(true) != 70 || c.TimeToWin != 60 {
		t.Errorf("%+v: share %v, gain %v", c, *c.Share, c.gain(true))
	}
}

// Waits for one lock in several calls are one cause, with all of its calls, though each alone is
// little; those for two locks in two calls are two.
func TestOneLockIsOneCause(t *testing.T) {
	for _, c := range []struct {
		locks  [2]profile.LockID
		causes int
	}{{[2]profile.LockID{0, 0}, 1}, {[2]profile.LockID{0, 1}, 0}} {
		p := profile.New(profile.Meta{Collector: "simulate", RunTime: 1000, ClockUnit: "instructions", Complete: true,
			NodeTime: "instructions"})
		file := p.AddFile(profile.File{Path: "a.c"})
		p.AddKind(profile.EventKind{Name: profile.KindLockWait, Title: "lock wait", Unit: "times"})
		p.AddThread(profile.Thread{})
		p.AddThread(profile.Thread{})
		sec := p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
		in := &profile.Instance{Section: sec}
		for i := range 2 {
			p.AddLock(profile.Lock{Name: string(rune('m' + i)), Kind: "pthread_mutex_lock", Objects: 1})
			frames := []profile.Frame{{File: file, Line: int32(5 + i), Function: "f"}}
			p.AddNode(profile.Node{Frames: frames, Function: profile.None, Image: profile.None})
			p.AddEvent(profile.Event{Addr: uint64(16 + i), Frames: frames, Detail: "on m"})
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: 1000, Release: 1000, LockWait: 160,
				Entry: profile.None, Exit: profile.None})
		}
		for i := range 2 {
			e := &p.Tables().Events[i]
			at := profile.WasteSide{Path: profile.None, Node: profile.None, Addr: e.Addr, Frames: e.Frames}
			p.AddLockWait(profile.LockWait{Lock: c.locks[i], At: at, Count: 1, Time: 160, Longest: 160})
			in.Costs = append(in.Costs, profile.Count{Row: int32(i), Part: int32(i), N: 160 + uint64(i)})
		}
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		causes := res.Sections[0].Causes
		if len(causes) != c.causes {
			t.Fatalf("locks %v: %d causes: %+v", c.locks, len(causes), causes)
		}
		if c.causes == 0 {
			continue
		}
		x := &causes[0]
		if x.Line != 6 || x.CostTime != 321 || len(x.With) != 1 || x.With[0].Line != 5 {
			t.Errorf("%+v", x)
		}
		if want := "It is one lock, and of the waits are 50.2 % here, 49.8 % at a.c:5."; !strings.Contains(x.Sentence, want) {
			t.Errorf("%q lacks %q", x.Sentence, want)
		}
	}
}
