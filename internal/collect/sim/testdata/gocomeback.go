// Goroutines that leave their threads in every way that there is, in an order that a seed makes,
// and come back: what they do in between is much or little, in functions small and large.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

type tree struct{ left, right *tree }

// work is a goroutine's.
type work struct {
	chance *rand.Rand
	live   *tree
	sum    uint64
	calls  int // of through
}

//go:noinline
func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

// small asks for room on the stack whenever it is called, and is left there.
//
//go:noinline
func small(h uint64) uint64 {
	var room [16]uint64
	room[h%16] = h
	return room[(h+1)%16]*31 + h
}

// deep needs a larger stack.
//
//go:noinline
func deep(n int, h uint64) uint64 {
	if n == 0 {
		return h
	}
	return deep(n-1, small(h)) + 1
}

// through calls nothing: it is left in its middle, if at all.
//
//go:noinline
func through(n int, h uint64) uint64 {
	for i := range n {
		h = h*6364136223846793005 + uint64(i)
	}
	return h
}

func (w *work) through(n int) {
	w.sum = through(n, w.sum)
	w.calls++
}

//go:noinline
func recovers(n int) (h uint64) {
	defer func() {
		if recover() != nil {
			h = deep(n%50, 3)
		}
	}()
	var none []uint64
	return none[n]
}

// gate is a condition that the last of n makes true.
type gate struct {
	sync.Mutex
	all  *sync.Cond
	here int
}

func (g *gate) meet(n int) {
	g.Lock()
	defer g.Unlock()
	if g.here++; g.here == n {
		g.all.Broadcast()
	}
	for g.here < n {
		g.all.Wait()
	}
}

func (w *work) step(lock *sync.Mutex, turn chan uint64) {
	n := 1 + w.chance.IntN(300)
	switch w.chance.IntN(10) {
	case 0, 1:
		for range 4 * n {
			w.sum = small(w.sum)
		}
	case 2, 3:
		w.live = grow(n % 9)
	case 4:
		w.through(20 * n)
	case 5:
		w.sum = deep(n, w.sum)
	case 6:
		w.sum += recovers(n)
	case 7:
		runtime.Gosched()
	case 8:
		lock.Lock()
		w.sum = small(w.sum)
		lock.Unlock()
	case 9:
		turn <- w.sum
		w.sum += <-turn
	}
}

func main() {
	seed, _ := strconv.ParseUint(os.Args[1], 10, 64)
	workers, _ := strconv.Atoi(os.Args[2])
	late := len(os.Args) > 3 // the first collection of garbage comes late
	debug.SetGCPercent(map[bool]int{true: -1, false: 1}[late])
	var (
		wg   sync.WaitGroup
		lock sync.Mutex
		g    gate
	)
	g.all = sync.NewCond(&g)
	turn := make(chan uint64, 1)
	sums := make([]work, workers)
	for k := range sums {
		wg.Go(func() {
			w := &sums[k]
			w.chance = rand.New(rand.NewPCG(seed, uint64(k)))
			for i := range 120 {
				w.step(&lock, turn)
				if late {
					w.through(i)
				}
				switch {
				case late && i == 15:
					runtime.Gosched()
				case late && i == 18: // it makes threads of its own in whose work it begins
					debug.SetGCPercent(1)
				case i == 60:
					g.meet(workers)
				case i == 70 && k == 0:
					time.Sleep(time.Microsecond)
				case (i > 18 || !late) && i%20 == k:
					runtime.GC()
				case i == 119 && k == 1:
					runtime.Goexit()
				}
			}
		})
	}
	wg.Wait() /* END */
	calls, all := 0, uint64(0)
	for k := range sums {
		all += sums[k].sum
		calls += sums[k].calls
	}
	if all != 0 {
		fmt.Println(calls)
	}
}
