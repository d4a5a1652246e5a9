// Every worker polls for its pages, and sleeps in between. Repaired: it asks once.
package main

import (
	"os"
	"sync"
	"time"
)

var sink [8][16]uint32

func page(me int) {
	for i := range 30000 {
		sink[me][0] = sink[me][0]*1664525 + uint32(i)
	}
}

func main() {
	polls := 3
	if len(os.Args) > 1 {
		polls = 0
	}
	var wg sync.WaitGroup
	for me := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 12 {
				for range polls {
					time.Sleep(100 * time.Microsecond) /* CAUSE */
				}
				page(me)
			}
		}()
	}
	wg.Wait()
}
