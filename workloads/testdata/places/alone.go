// As alone.c, with goroutines.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
)

func step(x uint64) uint64 { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x }

var sink uint64

func alone(shape string) (s uint64) {
	x := uint64(88172645463325252)
	switch shape {
	case "1":
		for i := 0; i < 300000; i++ { // HERE1
			x = step(x) // HERE1
			s += x      // HERE1
		}
	case "2":
		v := make([]uint64, 8000)
		for i := range v {
			x = step(x)
			v[i] = x
		}
		sort.Slice(v, func(a, b int) bool { return v[a] < v[b] }) // HERE2
		s = v[7]
	case "3":
		f := func(n int) (t uint64) {
			for i := 0; i < n; i++ { // HERE3
				x = step(x) // HERE3
				t += x      // HERE3
			}
			return t
		}
		for k := 0; k < 30; k++ {
			s += f(10000) // HERE3
		}
	case "4": // many functions share it, which the end of main calls, too
		m := map[uint64]string{}
		for i := 0; i < 1500; i++ { // HERE4
			x = step(x)
			k := x % 500
			t := fmt.Sprint(k) + "-" + fmt.Sprint(i) // HERE4
			t = strings.ToUpper(t)                   // HERE4
			m[k] = t                                 // HERE4
			s += uint64(len(strings.Split(t, "-")))  // HERE4
		}
	}
	return s
}

func section() {
	var wg sync.WaitGroup
	out := make([]uint64, 8)
	for i := range out {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := uint64(i + 1)
			for k := 0; k < 30000; k++ {
				x = step(x)
				out[i] += x
			}
		}()
	}
	wg.Wait()
	for _, o := range out {
		sink += o
	}
}

func main() {
	for _, i := range []string{"1", "2", "3"} {
		if i == os.Args[1] {
			sink += alone(os.Args[2])
		}
		if i < "3" {
			section()
		}
	}
	fmt.Println(sink & 1)
}
