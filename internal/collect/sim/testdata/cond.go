package main

import (
	"fmt"
	"sync"
)

const workers = 8

// barrier is one of a mutex and a condition.
type barrier struct {
	mu     sync.Mutex
	c      *sync.Cond
	n, gen int
}

func (b *barrier) wait() {
	b.mu.Lock()
	gen := b.gen
	if b.n++; b.n == workers {
		b.n, b.gen = 0, gen+1
		b.c.Broadcast()
	}
	for gen == b.gen {
		b.c.Wait()
	}
	b.mu.Unlock()
}

func main() {
	b := &barrier{}
	b.c = sync.NewCond(&b.mu)
	var sums [workers][8]int
	var wg sync.WaitGroup
	for id := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for step := range 4 {
				for i := range 400000 + 20000*id {
					sums[id][0] += i ^ step
				}
				b.wait() // END
			}
		}()
	}
	wg.Wait() // END2
	fmt.Println(sums[0][0])
}
