package engine

import (
	"errors"
	"testing"

	"lime/internal/cpu"
)

// What lies among the addresses of code caches is told from what cannot be helped: another process
// has its own at other places.
func TestNoRoomForTheCache(t *testing.T) {
	const middle, page = (cpu.CacheLow + cpu.CacheHigh) / 2, 4096
	for _, test := range []struct {
		name  string
		taken []uint64
		want  error
	}{
		{"nothing is taken", nil, nil},
		{"half is taken", []uint64{cpu.CacheLow}, nil},
		{"a page before and behind the middle", []uint64{middle - page, middle}, ErrNoRoom},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, at := range test.taken {
				c, err := mapFixed(at, page)
				if err != nil {
					t.Fatalf("a page at %#x: %v", at, err)
				}
				defer (&cache{mem: c, base: at}).close()
			}
			e, err := New(Config{})
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if err == nil {
				e.Close()
			}
		})
	}
}
