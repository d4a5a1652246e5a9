// Goroutines that call the system: many times for a moment or a few times for long, with a lock or
// without it, or for whom others hand work to. A fixed number of them does a fixed amount of work.
package main

import (
	"os"
	"strconv"
	"sync"
)

const workers = 4

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

// sink is a file that does not grow.
type sink struct {
	f    *os.File
	data []byte
}

func (s *sink) call(times int) {
	for range times {
		if _, err := s.f.WriteAt(s.data, 0); err != nil {
			panic(err)
		}
	}
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
	f, err := os.CreateTemp("", "gosys")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	s, calls, units := &sink{f, make([]byte, 16)}, 4, 20_000 // in each round
	if os.Args[1] == "long" {
		s.data, calls, units = make([]byte, 1<<22), 1, 200_000
	}
	rounds, _ := strconv.Atoi(os.Args[3]) // of each worker
	var mu sync.Mutex
	switch os.Args[2] {
	case "alone":
		each(func(me int) {
			for i := range rounds {
				out[8*me] += work(i, units)
				s.call(calls)
			}
		})
	case "locked":
		each(func(me int) {
			for i := range rounds {
				out[8*me] += work(i, units/2)
				mu.Lock()
				out[8*me] += work(i, units/2)
				s.call(calls)
				mu.Unlock()
			}
		})
	case "handed":
		jobs, results := make(chan int), make(chan uint64)
		for range workers {
			go func() {
				for n := range jobs {
					s.call(calls)
					results <- work(n, units)
				}
			}()
		}
		go func() {
			for n := range rounds * workers {
				jobs <- n
			}
		}()
		for range rounds * workers {
			out[0] += <-results
		}
	}
}
