// Command nqueens counts the solutions below every placement of the first two queens. The
// placements are split evenly among the goroutines. For all but the first ones most
// diagonals are taken beforehand, so that the tree under the first is far larger.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

type root struct{ cols, left, right uint }

type board struct {
	n      int
	full   uint
	closed []uint // squares of each row that cannot be used
}

// newBoard closes a corner square in every other row.
func newBoard(n int) *board {
	b := &board{n: n, full: 1<<n - 1, closed: make([]uint, n)}
	for r := range b.closed {
		b.closed[r] = uint(r*r) & 1
	}
	return b
}

func (b *board) roots() []root {
	var rs []root
	for i := 0; i < b.n; i++ {
		for j := 0; j < b.n; j++ {
			if j >= i-1 && j <= i+1 {
				continue
			}
			x, y := uint(1)<<i, uint(1)<<j
			rs = append(rs, root{x | y, (x<<1 | y) << 1, (x>>1 | y) >> 1})
		}
	}
	return rs
}

func (b *board) search(row int, cols, left, right uint) int {
	if cols == b.full {
		return 1
	}
	count := 0
	free := b.full &^ (cols | left | right | b.closed[row])
	for free != 0 { // CAUSE
		q := free & -free
		free &^= q
		count += b.search(row+1, cols|q, (left|q)<<1, (right|q)>>1) // CAUSE
	}
	return count
}

func main() {
	threads, n := 16, 14
	if len(os.Args) > 1 {
		threads, _ = strconv.Atoi(os.Args[1])
	}
	if len(os.Args) > 2 {
		n, _ = strconv.Atoi(os.Args[2])
	}
	runtime.GOMAXPROCS(threads)
	b := newBoard(n)
	roots := b.roots()
	// all but the first placements begin with diagonals that are taken
	for i := range roots {
		if i >= len(roots)/32 {
			roots[i].left |= b.full << 9 & b.full
		}
	}
	counts := make([]int, threads*8)
	var wg sync.WaitGroup
	for t := 0; t < threads; t++ {
		wg.Add(1)
		go func(t int) {
			defer wg.Done()
			for _, r := range roots[len(roots)*t/threads : len(roots)*(t+1)/threads] {
				counts[t*8] += b.search(2, r.cols, r.left, r.right)
			}
		}(t)
	}
	wg.Wait() // END
	sum := 0
	for _, c := range counts {
		sum += c
	}
	fmt.Printf("%d roots, %d solutions\n", len(roots), sum)
}
