package busywait

import "testing"

// Who leaves a loop that looks at a word may try to take it, if that is the first that others see.
func TestMayTake(t *testing.T) {
	const loop = "\x8b\x07\x85\xc0\x75\xfa" // 1: mov (%rdi), %eax; test %eax, %eax; jne 1b
	for _, c := range []struct {
		behind, name string
		want         bool
	}{
		{"\xc3", "ret", false},
		{"\xb8\x01\x00\x00\x00\x87\x07\xc3", "mov $1, %eax; xchg %eax, (%rdi); ret", true},
		{"\x31\xc0\xf0\x0f\xb1\x0f\xc3", "xor %eax, %eax; lock cmpxchg %ecx, (%rdi); ret", true},
		{"\xf0\x83\x0c\x24\x00\x87\x07\xc3", "behind a fence: lock orl $0, (%rsp); xchg %eax, (%rdi); ret", true},
		{"\x89\x4c\x24\xf8\x87\x07\xc3", "behind a store on the stack: mov %ecx, -8(%rsp); xchg %eax, (%rdi); ret", true},
		{"\x89\x0e\x87\x07\xc3", "behind a store: mov %ecx, (%rsi); xchg %eax, (%rdi); ret", false},
		{"\xf0\x0f\xc1\x0e\x87\x07\xc3", "behind a number drawn: lock xadd %ecx, (%rsi); xchg %eax, (%rdi); ret", false},
		{"\x85\xc9\x74\x02\x87\x07\xc3", "on one of two ways: test %ecx, %ecx; je 2f; xchg %eax, (%rdi); 2: ret", true},
		{"\xe8\x00\x00\x00\x00\xc3", "perhaps in a function: call 2f; 2: ret", true},
	} {
		f := Function{Parts: Cut([]byte(loop+c.behind), 0x1000), Text: []byte(loop + c.behind)}
		f.Proc = Flow(f.Parts)
		w := f.Waits()
		if len(w) != 1 || w[0].Takes || w[0].PC != 0x1004 {
			t.Errorf("%s: %+v, want a loop that waits at its branch", c.name, w)
			continue
		}
		if got := f.MayTake(w[0].Parts); got != c.want {
			t.Errorf("%s: it may take the word: %t", c.name, got)
		}
	}
}
