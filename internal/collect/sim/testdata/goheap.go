// Goroutines take a lock of either kind that lies in Go's heap, as what more than one uses does, and
// hold it for most of their work.
package main

import (
	"os"
	"sync"
)

type store struct {
	pad [200]byte
	mu  sync.Mutex
	rw  sync.RWMutex
	sum uint64
}

//go:noinline
func (s *store) spend() {
	for i := range uint64(20000) {
		s.sum = s.sum*6364136223846793005 + i
	}
}

func (s *store) add(take sync.Locker) {
	take.Lock() // TAKEN
	s.spend()
	take.Unlock()
}

func main() {
	s := new(store)
	take := sync.Locker(&s.mu)
	if len(os.Args) > 1 {
		take = &s.rw
	}
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 30 {
				s.add(take)
			}
		}()
	}
	all.Wait()
}
