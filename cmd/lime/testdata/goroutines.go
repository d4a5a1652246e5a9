// Goroutines, channels, a mutex, a timer, a garbage collection.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

func main() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	sums := map[int]int{}
	jobs := make(chan int)
	for range 4 {
		wg.Go(func() {
			for n := range jobs {
				s := 0
				for i := range n * 1000 {
					s += i % 7
				}
				mu.Lock()
				sums[n] = s
				mu.Unlock()
			}
		})
	}
	for n := range 20 {
		jobs <- n
	}
	close(jobs)
	wg.Wait()
	runtime.GC()
	<-time.After(time.Millisecond)
	fmt.Println(sums)
}
