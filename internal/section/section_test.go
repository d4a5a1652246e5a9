package section

import (
	"fmt"
	"strings"
	"testing"
)

func TestRecognise(t *testing.T) {
	for _, c := range []struct{ name, ops, want string }{
		{"barrier, first and second passage, early re-arrival", `
			0 0 start
			0 1 start of=0
			10 0 arrive obj=7 at=1:100
			30 1 arrive obj=7 at=1:100
			31 1 leave obj=7
			32 1 arrive obj=7 at=1:100   # before thread 0 has left
			33 0 leave obj=7
			50 0 arrive obj=7 at=1:100
			51 0 leave obj=7
			52 1 leave obj=7`, `
			barrier @100 0[0-10>33] 1[0-30>31]
			barrier @100 0[33-50>51] 1[31-32>52]
			exit @0 `},
		{"barrier with fewer parties than threads", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 1 arrive obj=7 at=1:100
			20 2 arrive obj=7 at=1:100
			20 2 leave obj=7
			20 1 leave obj=7
			60 0 exit at=1:9
			60 1 exit at=1:9
			60 2 exit at=1:9`, `
			barrier @100 1[0-10>20] 2[0-20>20]
			exit @9 0[0-60>60] 1[20-60>60] 2[20-60>60]`},
		{"create and join in a loop: one section, the main thread only waits", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			11 0 create of=2 at=1:100
			11 2 start of=0
			12 0 join of=1 at=1:200
			40 2 exit at=5:1
			50 1 exit at=5:1
			51 0 joined of=1
			52 0 join of=2 at=1:200
			53 0 joined of=2
			60 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			join @200 1[10-50>51] 2[11-40>53]
			exit @300 0[53-60>60]`},
		{"a WaitGroup: made by one, counted down by each, awaited by one", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			11 0 create of=2 at=1:100
			11 2 start of=0
			12 0 await obj=7 at=1:200
			40 2 count obj=7 at=2:1
			41 2 exit at=2:2
			50 1 count obj=7 at=2:1
			51 0 awaited obj=7
			60 0 exit at=1:300
			90 1 exit at=2:2`, `
			serial @100 0[0-10>10]
			join @200 1[10-50>51] 2[11-41>51]
			exit @2 0[51-60>90] 1[50-90>90]`},
		{"a WaitGroup and workers that stay: what they wait for work is none of theirs, what the main thread does between is serial", `
			0 0 start
			0 1 start
			0 2 start
			5 1 wait obj=1 at=2:1
			5 2 wait obj=2 at=2:1
			10 0 countup obj=7 at=1:100
			12 1 go-idle
			13 2 go-idle
			14 0 await obj=7 at=1:200
			30 1 count obj=7 at=2:2
			31 1 wait obj=1 at=2:1
			60 2 count obj=7 at=2:2
			60 0 awaited obj=7
			61 2 wait obj=2 at=2:1
			80 0 countup obj=7 at=1:100
			82 1 go-idle
			83 2 go-idle
			84 0 await obj=7 at=1:200
			100 1 count obj=7 at=2:2
			101 1 wait obj=1 at=2:1
			130 2 count obj=7 at=2:2
			131 0 awaited obj=7
			131 2 wait obj=2 at=2:1`, `
			join @200 0[0-14>60] 1[0-23>60] 2[0-52>60]
			serial @100 0[60-80>80]
			join @200 1[30-49>131] 2[60-108>131]
			exit @1 1[100-101>131] 2[130-131>131]`},
		{"nobody has anything to do for whom a thread waits", `
			0 0 start
			10 0 await obj=7 at=1:200
			11 0 awaited obj=7
			20 0 exit at=1:300`, `
			serial @200 0[0-10>11]
			exit @300 0[11-20>20]`},
		{"the main thread creates the others and then works too: its part starts when all are there", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			14 0 created at=1:100
			15 0 create of=2 at=1:100
			15 2 start of=0
			19 0 created at=1:100
			49 0 arrive obj=7 at=1:150
			40 1 arrive obj=7 at=1:150
			45 2 arrive obj=7 at=1:150
			49 2 leave obj=7
			49 1 leave obj=7
			49 0 leave obj=7`, `
			serial @100 0[0-10>10]
			serial @100 0[10-14>14]
			serial @100 0[14-19>19]
			barrier @150 0[19-49>49] 1[10-40>49] 2[15-45>49]`},
		{"waiting in a join is no time of the part that goes on behind it", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			11 0 create of=2 at=1:100
			11 2 start of=0
			12 2 wait obj=8 at=9:90
			13 0 join of=1 at=1:200
			50 1 exit at=5:1
			51 0 joined of=1
			55 0 release obj=8 woken=2 at=1:250
			56 2 go-idle
			60 2 exit at=9:91
			61 0 join of=2 at=1:200
			61 0 joined of=2
			70 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			built-barrier @90 0[13-17>55] 2[11-12>17]
			serial @200 0[10-13>13]
			join @200 1[10-50>60] 2[56-60>61]
			exit @300 0[61-70>70]`},
		{"fork and join within one: the part around it begins where it began, without the wait", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			15 1 create of=2 at=1:100
			15 2 start of=1
			20 0 join of=1 at=1:200
			25 1 join of=2 at=1:200
			55 2 exit at=5:1
			56 1 joined of=2
			60 1 exit at=5:1
			61 0 joined of=1
			70 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			join @200 1[15-25>55] 2[15-55>56]
			join @200 0[10-20>29] 1[10-29>61]
			exit @300 0[61-70>70]`},
		{"fork and join where the main thread works too", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			45 0 join of=1 at=1:200
			50 1 exit at=5:1
			51 0 joined of=1
			60 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			join @200 0[10-45>50] 1[10-50>51]
			exit @300 0[51-60>60]`},
		{"fork and join where the main thread loses its core before it waits", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			11 0 create of=2 at=1:100
			11 2 start of=0
			44 0 off n=32
			45 0 join of=1 at=1:200
			50 1 exit at=5:1
			51 0 joined of=1
			52 0 join of=2 at=1:200
			53 2 exit at=5:1
			54 0 joined of=2
			60 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			join @200 1[10-50>53] 2[11-53>54]
			exit @300 0[54-60>60]`},
		{"the threads meet at barriers without the main thread, which joins them long after its own work", `
			0 0 start
			10 0 create of=1 at=1:100
			10 1 start of=0
			11 0 create of=2 at=1:100
			11 2 start of=0
			19 0 join of=1 at=1:200
			90 1 arrive obj=7 at=2:100
			95 2 arrive obj=7 at=2:100
			95 2 leave obj=7
			95 1 leave obj=7
			96 1 exit at=5:1
			96 2 exit at=5:1
			96 0 joined of=1
			96 0 join of=2 at=1:200
			96 0 joined of=2`, `
			serial @100 0[0-10>10]
			barrier @100 1[10-90>95] 2[11-95>95]
			join @200 1[95-96>96] 2[95-96>96]`},
		{"joins at several places: the most waited one names the section", `
			0 0 start
			0 0 create of=1 at=1:100
			0 1 start of=0
			1 0 create of=2 at=1:101
			1 2 start of=0
			2 0 join of=1 at=1:200
			5 1 exit
			5 0 joined of=1
			6 0 join of=2 at=1:201
			50 2 exit
			50 0 joined of=2`, `
			join @201 1[0-5>50] 2[1-50>50]`},
		{"main takes part in barriers with its threads, then joins them", `
			0 0 start
			0 0 create of=1 at=1:100
			0 1 start of=0
			10 0 arrive obj=7 at=1:150
			20 1 arrive obj=7 at=1:150
			20 1 leave obj=7
			20 0 leave obj=7
			21 0 join of=1 at=1:200
			90 1 exit
			90 0 joined of=1`, `
			barrier @150 0[0-10>20] 1[0-20>20]
			join @200 0[20-21>90] 1[20-90>90]`},
		{"threads that come and go: a new group after a join", `
			0 0 start
			0 0 create of=1 at=1:100
			0 1 start of=0
			0 0 join of=1 at=1:200
			10 1 exit
			10 0 joined of=1
			20 0 create of=2 at=1:100
			20 2 start of=0
			21 0 join of=2 at=1:200
			40 2 exit
			40 0 joined of=2`, `
			serial @200 1[0-10>10]
			serial @100 0[10-20>20]
			serial @200 2[20-40>40]`},
		{"parallel region with a pool, twice", `
			0 0 start
			10 0 fork obj=1 at=1:100
			10 0 member obj=1
			10 1 start of=0
			10 1 idle
			11 1 member obj=1
			20 0 memberend obj=1
			50 1 memberend obj=1
			50 0 regionend obj=1
			60 0 fork obj=2 at=1:110
			60 0 member obj=2
			61 1 member obj=2
			70 1 memberend obj=2
			80 0 memberend obj=2
			81 0 regionend obj=2
			90 0 exit at=1:9
			90 1 exit`, `
			serial @100 0[0-10>10]
			region-end @100 0[10-20>50] 1[11-50>50]
			serial @110 0[50-60>60]
			region-end @110 0[60-80>81] 1[61-70>81]
			exit @9 0[81-90>90]`},
		{"nested regions: the inner one counts for the outer one too", `
			0 0 start
			0 0 fork obj=1 at=1:100
			0 0 member obj=1
			0 1 start
			0 1 member obj=1
			10 1 fork obj=2 at=2:200
			10 1 member obj=2
			10 2 start of=1
			10 2 member obj=2
			20 2 memberend obj=2
			30 1 memberend obj=2
			30 1 regionend obj=2
			40 1 memberend obj=1
			45 0 memberend obj=1
			45 0 regionend obj=1`, `
			region-end @200 1[10-30>30] 2[10-20>30]
			region-end @100 0[0-45>45] 1[0-40>45]`},
		{"declared ends", `
			0 0 start
			0 1 start
			10 0 cut obj=5 at=1:100
			20 0 cut obj=5 at=1:100
			30 1 cut obj=5 at=1:100
			35 1 cut obj=5 at=1:100
			36 0 exit
			37 1 exit`, `
			custom @100 0[0-10>30] 1[0-30>30]
			custom @100 0[10-20>35] 1[30-35>35]
			exit @0 0[20-36>37] 1[35-37>37]`},
		{"lock waits and time off the core stay inside the part", `
			0 0 start
			0 1 start
			5 0 lock obj=1
			9 0 locked obj=1
			9 0 off n=7
			20 0 arrive obj=7 at=1:100
			20 1 arrive obj=7 at=1:100
			20 0 leave obj=7
			20 1 leave obj=7`, `
			barrier @100 0[0-20>20 lock=4 off=7] 1[0-20>20]`},
	} {
		t.Run(c.name, func(t *testing.T) { recognises(t, c.ops, c.want) })
	}
}

// recognises holds the instances that operations make to those that are wanted; lines of want
// without a part are remarks.
func recognises(t *testing.T, ops, wanted string) {
	t.Helper()
	var got, want []string
	for _, in := range recognise(t, ops) {
		got = append(got, printInstance(in))
	}
	for _, l := range lines(wanted) {
		if strings.Contains(l, "[") {
			want = append(want, l)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// poolOfTwo is a thread and one that a runtime has made for regions.
const poolOfTwo = `
			0 0 start
			0 1 start of=0
			0 1 idle`

// TestRegionEndsBeforeATaskReturns has a thread go on from the end of a region while another one has
// done its task, as is known, and has not returned from it: the first is alone by then, and what the
// other one did belongs to the region.
func TestRegionEndsBeforeATaskReturns(t *testing.T) {
	recognises(t, poolOfTwo+`
			10 0 fork obj=1 at=1:100
			10 0 member obj=1
			10 0 memberend obj=1
			10 1 member obj=1
			10 1 memberend obj=1
			11 1 task
			15 0 task
			20 0 taskend
			30 0 regionend obj=1
			40 0 fork obj=2 at=1:110
			40 0 member obj=2
			42 1 taskend
			44 0 memberend obj=2
			44 1 member obj=2
			44 1 memberend obj=2
			45 1 task
			50 0 regionend obj=2
			60 0 exit at=1:9`, `
			serial @100 0[0-10>10]
			serial @110 0[30-40>40]
			region-end @100 0[10-15>41] 1[10-41>41]
			region-end @110 0[40-44>50] 1[44-44>50]
			exit @9 0[50-60>60]`)
}

// What a thread waits for while a runtime opens a region, or ends one, is in no part.
func TestWaitsOfTheRuntime(t *testing.T) {
	recognises(t, poolOfTwo+`
			10 0 fork obj=5 at=1:100
			30 0 off n=20
			31 0 member obj=5
			31 1 member obj=5
			40 0 memberend obj=5 at=2:1
			45 1 memberend obj=5 at=2:1
			50 0 off n=8
			51 0 regionend obj=5
			60 0 exit at=1:300`, `
			serial @100 0[0-10>10]
			region-end @100 0[31-40>51] 1[31-45>51]
			exit @300 0[51-60>60]`)
}

// Every piece before the last section must be in exactly one instance when
// nothing nests, and in order.
func TestPieces(t *testing.T) {
	ins := recognise(t, `
		0 0 start
		0 1 start
		5 0 wait obj=1 at=1:1
		6 1 release obj=1 woken=0 untyped at=2:2
		7 0 go
		10 0 arrive obj=7 at=1:100
		30 1 arrive obj=7 at=1:100
		30 1 leave obj=7
		30 0 leave obj=7
		40 0 exit
		40 1 exit`)
	seen := map[any]int{}
	for _, in := range ins {
		for _, p := range in.Parts {
			for _, s := range p.Spans {
				seen[s]++
			}
		}
	}
	for _, want := range []string{"0@5", "1@6", "0@10", "1@30", "0@40", "1@40"} {
		if seen[want] != 1 {
			t.Errorf("piece %s is in %d instances, want 1 (%v)", want, seen[want], seen)
		}
	}
}

// Threads that nobody asks for are let go before the run ends, however many there are.
func TestLooseThreads(t *testing.T) {
	parts := 0
	r := New(func(in Instance) { parts += len(in.Parts) })
	_ = r.Feed(Op{Kind: OpStart})
	for i := 1; i <= 5*mostLoose; i++ {
		at, id := unitCycles(10*i), ThreadID(i)
		_ = r.Feed(Op{Kind: OpCreate, Other: id, At: at, Span: i})
		_ = r.Feed(Op{Kind: OpStart, Thread: id, At: at})
		_ = r.Feed(Op{Kind: OpExit, Thread: id, At: at + 5, Span: i, Loose: true})
		if n := len(r.order); n > mostLoose+1 {
			t.Fatalf("%d threads are kept", n)
		}
	}
	r.Close(unitCycles(100 * mostLoose))
	if parts < 5*mostLoose {
		t.Errorf("%d parts of %d threads", parts, 5*mostLoose)
	}
}

func TestEveryKindHasAHandler(t *testing.T) {
	for k, h := range handlers() {
		if h == nil {
			t.Errorf("operation %d has no handler", k)
		}
	}
	if len(words) != int(opKinds) {
		t.Errorf("the notation knows %d of %d operations", len(words), opKinds)
	}
}

func TestBadOps(t *testing.T) {
	r := New(func(Instance) {})
	if r.Feed(Op{Kind: opKinds}) == nil {
		t.Error("an unknown kind was taken")
	}
	if r.Feed(Op{Kind: OpArrive, Thread: 3}) == nil {
		t.Error("a thread that never started was taken")
	}
	_ = r.Feed(Op{Kind: OpStart, Thread: 3})
	for k := OpKind(0); k < opKinds; k++ { // in no sensible order: must not panic
		_ = r.Feed(Op{Kind: k, Thread: 3, Object: 1, Other: 9})
	}
	if r.Feed(Op{Kind: OpExit, Thread: 3}) == nil {
		t.Error("a dead thread was taken")
	}
}

// No stream of operations, however senseless, may panic, and no part may end
// before it starts.
func FuzzFeed(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, 1, 7, 6, 1, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := New(func(in Instance) {
			for _, p := range in.Parts {
				if p.Arrive < p.Start || p.Release < p.Arrive {
					t.Fatalf("bad part %+v", p)
				}
			}
		})
		at := 0
		for ; len(data) >= 3; data = data[3:] {
			at += int(data[2] >> 4)
			op := Op{Kind: OpKind(data[0]) % opKinds, Thread: ThreadID(data[1] & 3), Other: ThreadID(data[1] >> 2 & 3), Object: uint64(data[2] & 3)}
			op.At = unitCycles(at)
			op.Woken = []ThreadID{ThreadID(data[1] >> 4 & 3), ThreadID(data[1] >> 6 & 3)}
			op.Site.Stack = []Frame{{1, 1}, {2, 2}}
			op.Span = at
			_ = r.Feed(op)
		}
		r.Close(unitCycles(at))
	})
}
