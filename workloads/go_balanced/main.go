// Command go_balanced: goroutines with equal shares, made anew in every step.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func step(row []float64) float64 {
	s := 0.0
	for range 200 {
		for i := range row {
			s += row[i] * 0.5
		}
	}
	return s
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	data, sums := make([]float64, 1000*n), make([]float64, n)
	for i := range data {
		data[i] = float64(i % 97)
	}
	for range 4 {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { sums[i] += step(data[i*1000 : (i+1)*1000]) })
		}
		wg.Wait()
	}
	fmt.Println(sums)
}
