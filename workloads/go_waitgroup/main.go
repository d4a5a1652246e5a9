// Command go_waitgroup: goroutines of a WaitGroup: every fourth has four times as much to do.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func smooth(row []float64, rounds int) float64 {
	for r := 0; r < rounds; r++ { // CAUSE
		for i := 1; i < len(row)-1; i++ {
			row[i] = (row[i-1] + 2*row[i] + row[i+1]) / 4
		}
	}
	return row[len(row)/2]
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, 500)
		rows[i][250] = float64(i + 1)
	}
	sums := make([]float64, n)
	for range 3 {
		var wg sync.WaitGroup
		for i := range n {
			rounds := 150
			if i%4 == 1 {
				rounds = 600
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				sums[i] += smooth(rows[i], rounds)
			}()
		}
		wg.Wait() // END
	}
	fmt.Printf("%.6f\n", sums)
}
