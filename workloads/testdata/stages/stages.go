// Three stages of goroutines with a WaitGroup each but for the middle one, which is slow and alone.
package main

import "sync"

func work(n int, x uint32) uint32 {
	for range n {
		x = x*1664525 + 1013904223
	}
	return x
}

func main() {
	in, mid, out := make(chan uint32, 4), make(chan uint32, 4), make(chan uint32, 4)
	var first, last sync.WaitGroup
	for range 3 {
		first.Add(1)
		go func() {
			defer first.Done()
			for x := range in {
				mid <- work(300, x)
			}
		}()
	}
	go func() { // SLOW
		for x := range mid { // SLOW
			out <- work(20000, x) // SLOW
		}
		close(out)
	}()
	var mu sync.Mutex
	sum := uint32(0)
	for range 3 {
		last.Add(1)
		go func() {
			defer last.Done()
			for x := range out {
				y := work(300, x)
				mu.Lock()
				sum += y
				mu.Unlock()
			}
		}()
	}
	for i := range 200 {
		in <- uint32(i)
	}
	close(in)
	first.Wait()
	close(mid)
	last.Wait()
	println(sum)
}
