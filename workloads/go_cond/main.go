// Command go_cond: betweenness centrality level by level; goroutines stay, and meet at a barrier of a condition. One part has the hubs.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

type barrier struct {
	mu  sync.Mutex
	c   *sync.Cond
	n   int
	gen int
	p   int
}

func (b *barrier) wait() {
	b.mu.Lock()
	g := b.gen
	b.n++
	if b.n == b.p {
		b.n = 0
		b.gen++
		b.c.Broadcast()
	} else {
		for g == b.gen {
			b.c.Wait()
		}
	}
	b.mu.Unlock()
}

const N = 4096

var adj [N][]int32
var depth [N]int32
var sigma [N]float64

func level(lo, hi int, d int32) float64 {
	s := 0.0
	for u := lo; u < hi; u++ {
		if depth[u] != d {
			continue
		}
		for _, w := range adj[u] { // CAUSE
			if depth[w] == d+1 {
				s += sigma[u] / float64(w+1)
			}
		}
	}
	return s
}

func main() {
	p := 8
	if len(os.Args) > 1 {
		p, _ = strconv.Atoi(os.Args[1])
	}
	x := uint32(1)
	for u := range adj {
		d := 6
		if u > 3600 && u < 3700 {
			d = 800
		}
		for k := 0; k < d; k++ {
			x = x*1664525 + 1013904223
			adj[u] = append(adj[u], int32(x>>10)%N)
		}
		depth[u] = int32(u % 3)
		sigma[u] = 1
	}
	b := &barrier{p: p}
	b.c = sync.NewCond(&b.mu)
	var wg sync.WaitGroup
	part := make([]float64, p)
	for id := 0; id < p; id++ {
		wg.Add(1)
		go func(id int) {
			defer wg.Done()
			for src := 0; src < 6; src++ {
				for d := int32(0); d < 3; d++ {
					part[id] += level(id*N/p, (id+1)*N/p, d)
					b.wait() // END
				}
			}
		}(id)
	}
	wg.Wait()
	fmt.Println(part[0] > 0)
}
