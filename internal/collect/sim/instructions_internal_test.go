package sim

import (
	"math/rand"
	"testing"

	"lime/internal/x86"
)

// TestInstructionsAreThoseOfTheCode rewrites code at random, as a program that makes code does, and
// holds what is kept of it to what it decodes to anew.
func TestInstructionsAreThoseOfTheCode(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	code := make([]byte, 64)
	rng.Read(code)
	var kept instructions
	for range 50000 {
		if rng.Intn(3) == 0 {
			code[rng.Intn(len(code))] = byte(rng.Intn(256))
		}
		at := rng.Intn(len(code) + 1)
		here := code[at:min(at+x86.MaxLen, len(code))]
		var want x86.Inst
		valid := len(here) > 0 && x86.Decode(here, &want) == nil
		got, ok := kept.decode(uint64(at), here)
		if ok != valid || ok && *got != want {
			t.Fatalf("% x: %v %+v, want %v %+v", here, ok, *got, valid, want)
		}
	}
}
