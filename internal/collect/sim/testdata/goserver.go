// One server: goroutines take a mutex, hold it for a while, and think for another. Arguments:
// goroutines, passages of each, rounds under the mutex, rounds without it.
package main

import (
	"os"
	"strconv"
	"sync"
)

var (
	hot  sync.Mutex
	sink uint64
)

//go:noinline
func spend(rounds int) (x uint64) {
	for i := range rounds {
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

func work(passages, held, thought int) {
	for range passages {
		hot.Lock()
		sink += spend(held)
		hot.Unlock()
		spend(thought)
	}
}

func main() {
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(os.Args[1+i])
	}
	var all sync.WaitGroup
	for range n[0] {
		all.Add(1)
		go func() {
			defer all.Done()
			work(n[1], n[2], n[3])
		}()
	}
	all.Wait()
}
