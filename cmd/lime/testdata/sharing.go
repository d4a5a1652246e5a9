// Counters of two goroutines beside each other, and with PAD = 7 each on a line of its own:
// sharing SECONDS.
package main

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type counter struct {
	n   atomic.Uint64
	pad [PAD]uint64
}

// On a line of their own, as globals of 64 bytes and more are.
var counters struct {
	_    [8]uint64
	list [2]counter
	_    [8]uint64
}

func count(c *counter, end time.Time) {
	for time.Now().Before(end) {
		for range 4096 {
			c.n.Add(1) // COUNT
		}
	}
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var all sync.WaitGroup
	for i := range counters.list {
		all.Go(func() { count(&counters.list[i], end) })
	}
	all.Wait()
}
