package futex

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestExclusion has many threads count behind the lock: no count is lost.
func TestExclusion(t *testing.T) {
	const threads, rounds = 16, 20_000
	var m Mutex
	var all sync.WaitGroup
	n := 0
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			for range rounds {
				m.Lock()
				n++
				m.Unlock()
			}
		})
	}
	all.Wait()
	if n != threads*rounds {
		t.Errorf("%d, want %d", n, threads*rounds)
	}
}

// TestTurns has threads go on one after another, each woken by the one before it: no wake-up is
// lost.
func TestTurns(t *testing.T) {
	const threads, rounds = 8, 500
	var m Mutex
	var all sync.WaitGroup
	turn := 0
	conds := make([]*Cond, threads)
	for i := range conds {
		conds[i] = NewCond(&m)
	}
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			m.Lock()
			defer m.Unlock()
			for range rounds {
				for turn%threads != i {
					conds[i].Wait(-1)
				}
				turn++
				conds[turn%threads].Broadcast()
			}
		})
	}
	all.Wait()
	if turn != threads*rounds {
		t.Errorf("%d, want %d", turn, threads*rounds)
	}
}

// TestWaitEnds waits for what nobody tells, for a while.
func TestWaitEnds(t *testing.T) {
	var m Mutex
	c := NewCond(&m)
	m.Lock()
	began := time.Now()
	for time.Since(began) < time.Millisecond {
		c.Wait(time.Millisecond)
	}
	m.Unlock()
	if c.waiters != 0 {
		t.Errorf("%d wait", c.waiters)
	}
}
