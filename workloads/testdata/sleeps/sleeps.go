// The same in Go.
package main

import (
	"os"
	"sync"
	"time"
)

var sink [8][16]uint32

func main() {
	one := len(os.Args) > 1
	for range 6 {
		var wg sync.WaitGroup
		for id := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 2000 {
					sink[id][0] = sink[id][0]*1664525 + uint32(i)
				}
				if !one || id == 0 {
					time.Sleep(time.Millisecond) /* HERE */
				}
			}()
		}
		wg.Wait()
	}
}
