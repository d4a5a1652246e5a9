// Goroutines that all have the same to do, and meet after each round of it.
package main

import (
	"sync"
)

type meeting struct {
	mu   sync.Mutex
	cond *sync.Cond
	in   int
	turn int
}

func (g *meeting) wait(n int) {
	g.mu.Lock()
	turn := g.turn
	if g.in++; g.in == n {
		g.in = 0
		g.turn++
		g.cond.Broadcast()
	}
	for g.turn == turn {
		g.cond.Wait()
	}
	g.mu.Unlock()
}

var out [64]int

//go:noinline
func work(me, n int) {
	x := out[8*me]
	for i := 0; i < n; i++ {
		x = x*3 + i
	}
	out[8*me] = x
}

func main() {
	const n, rounds = 4, 100
	g := &meeting{}
	g.cond = sync.NewCond(&g.mu)
	var wg sync.WaitGroup
	for me := 0; me < n; me++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for r := 0; r < rounds; r++ {
				work(me, 200000)
				g.wait(n)
			}
		}()
	}
	wg.Wait()
}
