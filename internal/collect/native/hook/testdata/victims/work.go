// Goroutines that begin and end, wait for each other, and meet at a channel.
package main

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var stop atomic.Bool

func piece() (h uint64) {
	h = 7
	m := map[uint64]uint64{}
	for i := range uint64(300) {
		m[i] = h
		h = h*31 + i + uint64(float64(h%1000)*1.5)
	}
	for i := range uint64(300) {
		h ^= m[i] << (i % 7)
	}
	return h
}

func main() {
	want := piece()
	var all sync.WaitGroup
	ch := make(chan int)
	for range 4 {
		all.Go(func() {
			for !stop.Load() {
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						if piece() != want {
							os.Exit(3)
						}
					})
				}
				wg.Wait()
				select {
				case ch <- 1:
				case <-ch:
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	os.Stdout.WriteString("x")
	if n, _ := os.Stdin.Read(make([]byte, 1)); n != 0 {
		os.Exit(2)
	}
	stop.Store(true)
	all.Wait()
	os.Stdout.WriteString("done")
	os.Exit(7)
}
