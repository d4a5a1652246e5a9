// Goroutines made anew in every step, more of them than processors, and workers that stay and are
// fed through a channel; a background goroutine that takes no part in either.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const n = 8

//go:noinline
func work(rounds int) (h uint64) {
	for i := range rounds {
		h = h*31 + uint64(i)
	}
	return h
}

func main() {
	var sums [8 * n]uint64
	var ticks atomic.Int64
	go func() {
		for range time.Tick(time.Millisecond) {
			ticks.Add(1)
		}
	}()
	for range 3 {
		var wg sync.WaitGroup
		for i := range sums {
			wg.Go(func() { sums[i] ^= work(100_000) })
		}
		wg.Wait() /* END */
	}
	jobs := make(chan int, n)
	var wg sync.WaitGroup
	for range n {
		go func() {
			for i := range jobs {
				sums[i] ^= work(300_000)
				wg.Done()
			}
		}()
	}
	for range 4 {
		wg.Add(n)
		for i := range n {
			jobs <- i
		}
		wg.Wait() /* END2 */
		work(100_000)
	}
	fmt.Println(sums[1])
}
