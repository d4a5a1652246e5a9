// More goroutines than processors, which are long enough to take turns. The processors end within
// the time of one goroutine, as none is idle while one waits: that is less than a twentieth of theirs.
package main

import "sync"

//go:noinline
func add(h uint64, i int) uint64 {
	var room [64]uint64 // a frame that asks whether the stack is large enough
	room[i%64] = h
	return room[(i+1)%64]*31 + h + uint64(i)
}

func main() {
	var sums [64]uint64
	for range 2 {
		var wg sync.WaitGroup
		for k := range sums {
			wg.Go(func() {
				for i := range 150_000 {
					sums[k] = add(sums[k], i)
				}
			})
		}
		wg.Wait() /* END */
	}
}
