// Goroutines count in one table under one lock. Repaired: each in its own.
package main

import (
	"os"
	"sync"
)

func main() {
	repaired := len(os.Args) > 1
	var mu sync.Mutex
	var wg sync.WaitGroup
	var all [64]uint32
	for me := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own [64]uint32
			x := uint32(me + 1)
			for range 2000 {
				for range 60 {
					x = x*1664525 + 1013904223
				}
				if repaired {
					for k := range 12 {
						own[(x>>k)&63]++
					}
					continue
				}
				mu.Lock() /* CAUSE */
				for k := range 12 {
					all[(x>>k)&63]++
				}
				mu.Unlock()
			}
			mu.Lock()
			for k := range own {
				all[k] += own[k]
			}
			mu.Unlock()
		}()
	}
	wg.Wait()
	if all[0] == 1 {
		os.Exit(1)
	}
}
