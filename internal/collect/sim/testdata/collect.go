// Goroutines that the collector of garbage stops again and again, on their way through small functions.
package main

import "sync"

type node struct{ left, right *node }

func grow(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{grow(depth - 1), grow(depth - 1)}
}

func main() {
	for range 3 {
		var wg sync.WaitGroup
		for range 24 {
			wg.Go(func() {
				for range 4 {
					grow(11)
				}
			})
		}
		wg.Wait() /* END */
	}
}
