// Command gowaits: goroutines of which one at a time (or two) does what the others wait for, in many
// ways. Each of them works half as long again beside that, where it need not wait for anybody.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

const workers = 4

var cost, rounds int

//go:noinline
func work(n int) (x uint64) {
	for i := range n { // WORK
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

//go:noinline
func beside(n int) (x uint64) {
	for i := range n {
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

// turns has each worker do its rounds; turn waits until it may do its step-th piece, done lets the
// next one go on.
func turns(wait, done func(step int)) (sum uint64) {
	var wg sync.WaitGroup
	sums := make([]uint64, workers*16)
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for r := range rounds {
				step := r*workers + w
				sums[w*16] += beside(cost / 2)
				wait(step)
				sums[w*16] += work(cost)
				done(step)
			}
		}()
	}
	wg.Wait()
	for _, x := range sums {
		sum += x
	}
	return sum
}

func futures() uint64 {
	done := make([]chan struct{}, workers*rounds+1)
	for i := range done {
		done[i] = make(chan struct{})
	}
	close(done[0])
	return turns(func(step int) {
		<-done[step] // WAIT futures
	}, func(step int) { close(done[step+1]) })
}

func semaphore(room int) uint64 {
	sem := make(chan struct{}, room)
	return turns(func(int) {
		sem <- struct{}{} // WAIT semaphore semaphore2
	}, func(int) { <-sem })
}

func tokens() uint64 {
	next := make([]chan int, workers)
	for i := range next {
		next[i] = make(chan int, 1)
	}
	next[0] <- 1
	return turns(func(step int) {
		<-next[step%workers] // WAIT tokens
	}, func(step int) { next[(step+1)%workers] <- 1 })
}

func selecting() uint64 {
	next, quit := make([]chan int, workers), make(chan struct{})
	for i := range next {
		next[i] = make(chan int, 1)
	}
	next[0] <- 1
	return turns(func(step int) {
		select { // WAIT select
		case <-next[step%workers]:
		case <-quit:
		}
	}, func(step int) { next[(step+1)%workers] <- 1 })
}

func condition() uint64 {
	var mu sync.Mutex
	cond, turn := sync.NewCond(&mu), 0
	return turns(func(step int) {
		mu.Lock()
		for turn != step {
			cond.Wait() // WAIT cond
		}
		mu.Unlock()
	}, func(int) {
		mu.Lock()
		turn++
		mu.Unlock()
		cond.Broadcast()
	})
}

func groups() uint64 {
	done := make([]sync.WaitGroup, workers*rounds+1)
	for i := range done[1:] {
		done[i+1].Add(1)
	}
	return turns(func(step int) {
		done[step].Wait() // WAIT waitgroup
	}, func(step int) { done[step+1].Done() })
}

func main() {
	cost, _ = strconv.Atoi(os.Args[2])
	rounds, _ = strconv.Atoi(os.Args[3])
	runtime.GOMAXPROCS(workers)
	ways := map[string]func() uint64{
		"futures": futures, "tokens": tokens, "select": selecting, "cond": condition, "waitgroup": groups,
		"semaphore": func() uint64 { return semaphore(1) }, "semaphore2": func() uint64 { return semaphore(2) },
	}
	fmt.Println(ways[os.Args[1]]())
}
