// Goroutines that hand work to one another, in ways in which Go's scheduler takes part.
package main

import (
	"fmt"
	"os"
	"sync"
)

const workers, pieces = 4, 160

var out [8 * workers]uint64

//go:noinline
func work(n, rounds int) uint64 {
	x := uint64(n)
	for i := 0; i < rounds; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		x ^= x >> 29
	}
	return x
}

// farm hands pieces out, and their results back, from hand to hand: nobody has anything in store.
func farm() {
	jobs, results := make(chan int), make(chan uint64)
	for range workers {
		go func() {
			for n := range jobs {
				results <- work(n, 60000)
			}
		}()
	}
	go func() {
		for n := range pieces {
			jobs <- n
		}
	}()
	for range pieces {
		out[0] += <-results
	}
}

// garbage has all of them make much garbage.
func garbage() {
	each(func(me int) {
		for i := range 60 {
			list := []string{}
			for k := range 300 {
				list = append(list, fmt.Sprintf("%d-%d", i, k))
			}
			out[8*me] += uint64(len(list[i]))
		}
	})
}

// half has half of the work done under one lock.
func half() {
	var mu sync.Mutex
	each(func(me int) {
		for i := range pieces / workers {
			out[8*me] += work(i, 30000)
			mu.Lock()
			out[8*me] += work(i, 30000)
			mu.Unlock()
		}
	})
}

func each(f func(me int)) {
	var wg sync.WaitGroup
	for me := range workers {
		wg.Add(1)
		go func() { defer wg.Done(); f(me) }()
	}
	wg.Wait()
}

func main() {
	map[string]func(){"farm": farm, "garbage": garbage, "half": half}[os.Args[1]]()
}
