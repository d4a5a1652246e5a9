package threads

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/section"
)

// The notation: one event of a lock a line,
//
//	THREAD WORD key=value ...
//
// waited time=N at=CALL path=N: it has waited for the lock, in a call;
// gave time=N made=N at=CALL path=N: it gave the lock back that it took in a call, and had it for so
// long, while others waited for it;
// join: what comes is about another lock that goes by the same name.
//
// What is known in the end prints as
//
//	wait THREAD@CALL N TIME LONGEST path PATH
//	hold THREAD@CALL N TIME LONGEST waited WAITED path PATH
func TestLockRows(t *testing.T) {
	for _, row := range []struct{ name, events, want string }{
		{"the longest wait names the path, the first of several", `
			1 waited time=30 at=10 path=7
			1 waited time=50 at=10 path=8
			1 waited time=50 at=10 path=9
			0 waited time=0 at=10 path=3`,
			"wait 0@10 1 0 0 path 3; wait 1@10 3 130 50 path 8"},
		{"a side is a thread in a call", `
			1 waited time=5 at=20 path=1
			1 waited time=6 at=10 path=2`,
			"wait 1@10 1 6 6 path 2; wait 1@20 1 5 5 path 1"},
		{"who made others wait longest names the path, however long it had the lock", `
			2 gave time=90 made=1 at=10 path=4
			2 gave time=20 made=8 at=10 path=5
			2 gave time=30 made=8 at=10 path=6`,
			"hold 2@10 3 140 90 waited 17 path 5"},
		{"locks of one name", `
			1 waited time=30 at=10 path=7
			2 gave time=40 made=30 at=20 path=1
			join
			1 waited time=40 at=10 path=8
			2 gave time=10 made=40 at=20 path=2
			3 gave time=10 made=0 at=20 path=3`,
			"wait 1@10 2 70 40 path 8; hold 2@20 2 50 40 waited 70 path 2; hold 3@20 1 10 10 waited 0 path 3"},
	} {
		l := NewLock[int]("")
		for _, part := range strings.Split(row.events, "join") {
			one := NewLock[int]("")
			for _, line := range strings.Split(strings.TrimSpace(part), "\n") {
				happens(t, one, line)
			}
			l.Join(one)
		}
		if got := printed(l); got != row.want {
			t.Errorf("%s:\n%s, want\n%s", row.name, got, row.want)
		}
	}
}

// A lock that is joined to nothing is as it was.
func TestJoinedAlone(t *testing.T) {
	one, all := NewLock[int](""), NewLock[int]("")
	for _, line := range []string{"1 waited time=0 at=10 path=7", "2 gave time=0 made=0 at=10 path=4", "2 gave time=3 made=2 at=10 path=5"} {
		happens(t, one, line)
	}
	if all.Join(one); printed(all) != printed(one) {
		t.Errorf("%s, want %s", printed(all), printed(one))
	}
}

// The recogniser hears of a wait when it is over, from its beginning on.
func TestLockWaitIsTold(t *testing.T) {
	var ops []section.Op
	LockWait{Thread: 3, Lock: 80, From: 70, To: 100}.Tell(func(op section.Op) { ops = append(ops, op) })
	if len(ops) != 2 || ops[0].Kind != section.OpLockBegin || ops[0].At != 70 || ops[1].Kind != section.OpLockEnd ||
		ops[1].At != 100 || ops[0].Object != 80 || ops[1].Object != 80 || ops[1].Thread != 3 || ops[0].Other != section.NoThread {
		t.Errorf("told %+v", ops)
	}
}

// happens takes an event in.
func happens(t *testing.T, l *Lock[int], line string) {
	t.Helper()
	f := strings.Fields(line)
	fields := map[string]uint64{}
	for _, kv := range f[2:] {
		k, v, _ := strings.Cut(kv, "=")
		fields[k] = number(t, v)
	}
	by := Side{section.ThreadID(number(t, f[0])), fields["at"]}
	path := func() int { return int(fields["path"]) }
	switch f[1] {
	case "waited":
		l.Waited(by, fields["time"], path)
	case "gave":
		l.Gave(by, fields["time"]).Made(fields["made"], path)
	default:
		t.Fatalf("%q: unknown word", line)
	}
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// printed is what is known of a lock, as it stands in the profile.
func printed(l *Lock[int]) string {
	p := profile.New(profile.Meta{})
	spot := func(call uint64, path int) profile.WasteSide {
		return profile.WasteSide{Path: profile.PathID(path), Addr: call}
	}
	rows := LockRows[int]{Sink: p, Waits: spot, Holds: spot,
		Thread: func(id section.ThreadID) profile.ThreadID { return profile.ThreadID(id) }}
	rows.Write(profile.Lock{}, l)
	var out []string
	for _, w := range p.Tables().LockWaits {
		out = append(out, fmt.Sprintf("wait %d@%d %d %d %d path %d", w.Thread, w.At.Addr, w.Count, w.Time, w.Longest, w.At.Path))
	}
	for _, h := range p.Tables().LockHolds {
		out = append(out, fmt.Sprintf("hold %d@%d %d %d %d waited %d path %d", h.Thread, h.At.Addr, h.Count, h.Time, h.Longest,
			h.Waited, h.At.Path))
	}
	return strings.Join(out, "; ")
}
