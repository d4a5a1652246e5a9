package spin

import (
	"testing"

	"lime/internal/x86"
)

// What rounds compute in vector registers may hang on all rounds before: bytes of one round.
func TestWhatVectorsCarry(t *testing.T) {
	const (
		clear, convert     = "\x66\x0f\xef\xc0", "\xf2\x48\x0f\x2a\xc0" // pxor xmm0, xmm0; cvtsi2sd xmm0, rax
		load, loadOther    = "\xf2\x0f\x10\x07", "\xf2\x0f\x10\x0f"     // movsd xmm0, [rdi]; movsd xmm1, [rdi]
		add, addOther      = "\xf2\x0f\x58\xc1", "\xf2\x0f\x58\xc8"     // addsd xmm0, xmm1; addsd xmm1, xmm0
		compare, loadTwice = "\x66\x0f\x2e\xc1", "\x0f\x28\x07"         // ucomisd xmm0, xmm1; movaps xmm0, [rdi]
		keep               = "\x0f\x28\xd1"                             // movaps xmm2, xmm1
	)
	for _, c := range []struct {
		name  string
		round []string
		want  bool
	}{
		{"a sum", []string{add}, true},
		{"a sum of what memory holds", []string{loadOther, add}, true},
		{"of a constant and what memory holds", []string{load, add}, false},
		{"of two that memory holds", []string{load, loadOther, add, compare}, false},
		{"two sums, in turn", []string{add, addOther}, true},
		{"converted into what was there", []string{convert, compare}, true},
		{"converted into nil", []string{clear, convert, compare}, false},
		{"the same, begun behind that", []string{convert, compare, clear}, false},
		{"compared with what the round before has left", []string{compare, load, add}, false},
		{"a sum, kept for the next round", []string{keep, addOther}, true},
		{"kept for the next round, where it is made anew", []string{keep, load, loadOther, addOther}, false},
		{"more than a word is loaded", []string{loadTwice, add}, true},
		{"only moved", []string{keep, loadTwice}, false},
		{"only compared", []string{compare}, false},
	} {
		var round []exec
		var w walker
		h := Head{PC: codeAt}
		h.Regs[x86.RDI], h.Regs[x86.RSP] = dataAt, stackAt
		w.begin(memory{}.put(dataAt, "\x05\x00\x00\x00\x00\x00\x00\x00"), &h)
		for _, code := range c.round {
			in := decode(t, code, c.name)
			x, ok := w.run(in, codeAt)
			if !ok || !harmless(in) {
				t.Fatalf("%s: % x may not be in a round", c.name, code)
			}
			round = append(round, x)
		}
		if got := carriesVectors([][]exec{round}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
