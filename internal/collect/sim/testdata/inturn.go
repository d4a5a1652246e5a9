// Goroutines that go through apply one after the other, each when the one before it has closed a
// channel; what they do in check nobody waits for. The argument says how much that is.
package main

import (
	"os"
	"strconv"
	"sync"
)

const steps, length = 160, 20000

//go:noinline
func check(n int) (x uint32) {
	for i := range n {
		x ^= uint32(i) << (x & 3)
	}
	return x
}

//go:noinline
func apply(n int) (x uint32) {
	for i := range n {
		x ^= uint32(i) << (x & 3)
	}
	return x
}

func main() {
	times, _ := strconv.Atoi(os.Args[1])
	done := make([]chan struct{}, steps+1)
	for i := range done {
		done[i] = make(chan struct{})
	}
	close(done[0])
	var wg sync.WaitGroup
	const workers = 4
	sums := make([]uint32, workers*16)
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := w; i < steps; i += workers {
				sums[w*16] ^= check(length * times / 4)
				<-done[i]
				sums[w*16] ^= apply(length)
				close(done[i+1])
			}
		}()
	}
	wg.Wait()
}
