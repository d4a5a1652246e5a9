// Command go_mutex: a long critical section that all goroutines pass one by one.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func mix(h uint64, rounds int) uint64 {
	for i := range rounds {
		h = h*6364136223846793005 + uint64(i)
	}
	return h
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	var mu sync.Mutex
	var wg sync.WaitGroup
	var total uint64
	for w := range n {
		wg.Go(func() {
			h := mix(uint64(w), 400_000)
			mu.Lock() // CAUSE
			total ^= mix(h, 20_000)
			mu.Unlock()
		})
	}
	wg.Wait() // END
	fmt.Println(total)
}
