package sim_test

import (
	"fmt"
	"math"
	"testing"

	"lime/internal/profile"
)

// serverKinds are the locks of testdata/server.c.
var serverKinds = []struct{ name, define, kind, lock string }{
	{"mutex", "-DMUTEX", "pthread_mutex_lock", "hot"},
	{"writes", "-DRW", "pthread_rwlock_wrlock", "hot"},
	{"recursive", "-DRECURSIVE", "pthread_mutex_lock", "hot"},
	{"critical", "-DCRITICAL -fopenmp", "GOMP_critical_start", "the one taken first at server.c:30"},
}

// What is known of a lock, held to a queue with one server, of which everything can be reckoned:
// all others stand in the queue while a thread is served.
func TestLockTable(t *testing.T) {
	const passages, held, thought = 50, 4000.0, 100
	const call = 250.0 // what taking a lock and giving it back takes at most, with its system calls
	for _, k := range serverKinds {
		bin := compile(t, "server.c", "gcc -O1 -g -pthread "+k.define+" -o OUT SRC")
		for _, c := range []struct{ threads, factor float64 }{{1, 1}, {2, 1}, {8, 1}, {8, 5}} {
			t.Run(fmt.Sprintf("%s/%vx%v", k.name, c.threads, c.factor), func(t *testing.T) {
				n, others := c.threads, c.threads-1
				path, status, said := simulate(t, 16, bin, fmt.Sprint(n), fmt.Sprint(passages), fmt.Sprint(held),
					fmt.Sprint(thought), fmt.Sprint(c.factor))
				if status != 0 {
					t.Fatalf("status %d: %s", status, said)
				}
				l := lockOf(t, path, k.lock)
				if l.Kind != k.kind || l.Objects != 1 || l.Taken != profile.Measured {
					t.Errorf("%+v", l.Lock)
				}
				all := n * passages
				within(t, "times taken", float64(l.taken), all, all)
				within(t, "waits", float64(l.waits), others/max(n, 1)*(all-n), all*min(others, 1))
				once := others*held + c.factor*held // everybody once
				within(t, "held", l.held, passages*once, passages*(once+n*call))
				within(t, "held by the first", l.byHolder[1], passages*c.factor*held, passages*(c.factor*held+call))
				// the first time nobody may wait yet
				within(t, "waited", l.waited, (passages-2)*others*(once-held), passages*others*(once+n*call))
				within(t, "waited for the first", l.forHolder[1], (passages-1)*others*(c.factor*held-thought-call),
					passages*others*(c.factor*held+call))
				if l.waited != l.cost || l.waited != l.charged {
					t.Errorf("threads waited %v, the account has %v, who held the lock answer for %v", l.waited, l.cost, l.charged)
				}
			})
		}
	}
}

// lockFigures is what a profile says of a lock.
type lockFigures struct {
	profile.Lock
	taken, waits                uint64
	held, waited, charged, cost float64
	byHolder, forHolder         map[profile.ThreadID]float64 // for how long it was held, and others waited meanwhile
}

func lockOf(t *testing.T, path, name string) lockFigures {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	tab := p.Tables()
	f := lockFigures{byHolder: map[profile.ThreadID]float64{}, forHolder: map[profile.ThreadID]float64{}}
	id := profile.LockID(-1)
	for i := range tab.Locks {
		if tab.Locks[i].Name == name {
			id, f.Lock = profile.LockID(i), tab.Locks[i]
		}
	}
	if id < 0 {
		t.Fatalf("no lock %q in %+v", name, tab.Locks)
	}
	for _, w := range tab.LockWaits {
		if w.Lock == id {
			f.waits, f.waited = f.waits+w.Count, f.waited+float64(w.Time)
		}
	}
	for _, h := range tab.LockHolds {
		if h.Lock == id {
			f.taken, f.held, f.charged = f.taken+h.Count, f.held+float64(h.Time), f.charged+float64(h.Waited)
			f.byHolder[h.Thread] += float64(h.Time)
			f.forHolder[h.Thread] += float64(h.Waited)
		}
	}
	f.cost = lockCosts(t, p)
	return f
}

// lockCosts is what the events of waiting for locks cost.
func lockCosts(t *testing.T, p profile.Source) (sum float64) {
	t.Helper()
	tab := p.Tables()
	for id := range tab.Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range in.Costs {
				if tab.Kinds[tab.Events[c.Row].Kind].Name == profile.KindLockWait {
					sum += float64(c.N)
				}
			}
		}
	}
	return sum
}

func within(t *testing.T, what string, got, lo, hi float64) {
	t.Helper()
	if got < math.Floor(lo) || got > math.Ceil(hi) {
		t.Errorf("%s: %v, reckoned %v to %v", what, got, lo, hi)
	}
}

// A mutex of Go's lets one goroutine in at a time in simulated time, too: eight that hold it for
// most of their work take eight times as long as one holds it, and wait for the rest.
func TestGoMutexIsAServer(t *testing.T) {
	bin := compile(t, "goserver.go", "go build -o OUT SRC")
	run := func(goroutines int) (p *profile.Reader, path string) {
		path, status, said := simulate(t, 8, bin, fmt.Sprint(goroutines), "60", "50000", "10000") // eight holds take longer than a mutex of Go's lets one wait before it becomes fair (1 ms)
		if status != 0 || said != "" {
			t.Fatalf("status %d: %s", status, said)
		}
		p, err := profile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p, path
	}
	const n, held, worked = 8, 50000.0 / 60000, 0.02 // worked: what switching goroutines may add, as a share
	one, _ := run(1)
	all, path := run(n)
	alone := float64(one.Meta().RunTime)
	took := float64(all.Meta().RunTime)
	within(t, "run time", took, n*held*alone*(1-worked), n*alone*(1+worked))
	l := lockOf(t, path, "main.hot")
	within(t, "waited", l.waited, n*(took-alone)*(1-worked), n*(took-alone)*(1+worked))
	if l.waited != l.cost || l.waited != l.charged || l.Taken != profile.Unavailable {
		t.Errorf("%+v: threads waited %v, the account has %v, who held the lock answers for %v", l.Lock, l.waited, l.cost, l.charged)
	}
}

// TestGoHeapIsNoStack: the stacks of goroutines lie in Go's heap, and with them the stack pointers of
// threads. What else is there is on nobody's stack, and a lock there is told by the program's own call.
func TestGoHeapIsNoStack(t *testing.T) {
	const line = 25 // TAKEN
	for _, how := range []string{"go build -o OUT SRC", "go build -ldflags=-s -o OUT SRC", "go build -gcflags=-l -o OUT SRC"} {
		bin := compile(t, "goheap.go", how)
		for _, args := range [][]string{nil, {"rw"}} {
			path, status, said := simulate(t, 4, append([]string{bin}, args...)...)
			if status != 0 || said != "" {
				t.Fatalf("status %d: %s", status, said)
			}
			if l := lockOf(t, path, fmt.Sprintf("the one taken first at goheap.go:%d", line)); l.waited == 0 {
				t.Errorf("%s, %v: nobody waits for %+v", how, args, l.Lock)
			}
		}
	}
}
