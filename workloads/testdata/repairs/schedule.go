// Documents are dealt out in blocks, and the later ones are longer. Repaired: every eighth one.
package main

import (
	"os"
	"sync"
)

func score(length int) (s uint32) {
	for i := range length { /* CAUSE */
		s = s*1664525 + uint32(i) /* CAUSE */
	}
	return s
}

func main() {
	repaired := len(os.Args) > 1
	var wg sync.WaitGroup
	var sums [8][16]uint32
	for me := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range 40 { /* CAUSE */
				d := 40*me + k
				if repaired {
					d = 8*k + me
				}
				sums[me][0] += score(200 * d) /* CAUSE */
			}
		}()
	}
	wg.Wait()
	if sums[0][0] == 1 {
		os.Exit(1)
	}
}
