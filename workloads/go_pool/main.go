// Command go_pool: workers that take words from a channel: the last word is long.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

func hash(word string) (h uint64) {
	for i := range len(word) { // CAUSE
		h = h*31 + uint64(word[i])
	}
	return h
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	words, sums := make(chan string), make(chan uint64, 4*n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for w := range words { // WORD
				sums <- hash(w)
			}
		})
	}
	short, long := strings.Repeat("abcdefghij", 3_000), strings.Repeat("abcdefghij", 60_000)
	for range 4*n - 1 {
		words <- short
	}
	words <- long
	close(words)
	wg.Wait() // END
	close(sums)
	var all uint64
	for s := range sums {
		all ^= s
	}
	fmt.Println(all)
}
