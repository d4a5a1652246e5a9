package reason

import (
	"slices"
	"testing"

	"lime/internal/x86"
)

// TestFeeds: what goes into a stored value, by the code of its block.
func TestFeeds(t *testing.T) {
	var (
		load     = []byte{0x8b, 0x02}                   // mov (%rdx),%eax
		other    = []byte{0x8b, 0x4a, 0x04}             // mov 4(%rdx),%ecx
		three    = []byte{0x8d, 0x44, 0x40, 0x07}       // lea 7(%rax,%rax,2),%eax
		add      = []byte{0x01, 0xc8}                   // add %ecx,%eax
		addMem   = []byte{0x03, 0x42, 0x08}             // add 8(%rdx),%eax
		self     = []byte{0x03, 0x00}                   // add (%rax),%eax
		zero     = []byte{0x31, 0xc9}                   // xor %ecx,%ecx
		byteZero = []byte{0x30, 0xc0}                   // xor %al,%al
		clock    = []byte{0x0f, 0x31}                   // rdtsc
		carry    = []byte{0x11, 0xc8}                   // adc %ecx,%eax
		store    = []byte{0x89, 0x06}                   // mov %eax,(%rsi)
		constant = []byte{0xc7, 0x06, 0x05, 0, 0, 0}    // movl $5,(%rsi)
		loadF    = []byte{0xf2, 0x0f, 0x10, 0x02}       // movsd (%rdx),%xmm0
		mulF     = []byte{0xf2, 0x0f, 0x59, 0xc2}       // mulsd %xmm2,%xmm0
		storeF   = []byte{0xf2, 0x0f, 0x11, 0x06}       // movsd %xmm0,(%rsi)
		next     = []byte{0x48, 0x83, 0xc2, 0x08}       // add $8,%rdx
		change   = []byte{0xf2, 0x0f, 0x58, 0xd0}       // addsd %xmm0,%xmm2
		turn     = []byte{0x48, 0x39, 0xfa, 0x75, 0xe3} // cmp %rdi,%rdx; jne
	)
	for _, row := range []struct {
		name string
		code [][]byte
		at   int // of the store
		loop bool
		want []int // nil: it is not ok
	}{
		{"computed", [][]byte{load, three, store}, 2, false, []int{0}},
		{"of two", [][]byte{load, other, add, store}, 3, false, []int{1, 0}},
		{"of an operand", [][]byte{load, addMem, store}, 2, false, []int{1, 0}},
		{"with a constant", [][]byte{zero, load, add, store}, 3, false, []int{1}},
		{"of what was its address, too", [][]byte{self, store}, 1, false, nil},
		{"with what a cleared byte leaves", [][]byte{other, byteZero, add, store}, 3, false, nil},
		{"copied", [][]byte{load, store}, 1, false, nil},
		{"constant", [][]byte{load, constant}, 1, false, nil},
		{"with something from before", [][]byte{load, add, store}, 2, false, nil},
		{"the loop leaves it alone", [][]byte{load, add, store}, 2, true, []int{0}},
		{"the loop changes it", [][]byte{load, add, other, store}, 3, true, nil},
		{"of the clock", [][]byte{clock, add, store}, 2, true, nil},
		{"with a flag", [][]byte{load, other, carry, store}, 3, true, nil},
		{"a loop of numbers", [][]byte{loadF, mulF, storeF, next, turn}, 2, true, []int{0}},
		{"numbers that the loop changes", [][]byte{loadF, mulF, storeF, change, turn}, 2, true, nil},
	} {
		var insts []x86.Inst
		for code := slices.Concat(row.code...); len(code) > 0; {
			var in x86.Inst
			if err := x86.Decode(code, &in); err != nil {
				t.Fatal(err)
			}
			insts, code = append(insts, in), code[in.Len:]
		}
		got, ok := feeds(insts, row.at, row.loop)
		if ok != (row.want != nil) || ok && !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, %v; want %v", row.name, got, ok, row.want)
		}
	}
	code := slices.Concat(loadF, mulF, storeF, next, []byte{0x48, 0x39, 0xfa, 0x75, 0xeb}) // back to the first of them
	for off, want := range map[int][]uint64{0: {0x1000}, 4: nil} {
		var insts []x86.Inst
		for left := code[off:]; len(left) > 0; left = left[insts[len(insts)-1].Len:] {
			var in x86.Inst
			if err := x86.Decode(left, &in); err != nil {
				t.Fatal(err)
			}
			insts = append(insts, in)
		}
		if got := Feeds(insts, len(insts)-4, 0x1000+uint64(off)); !slices.Equal(got, want) {
			t.Errorf("from offset %d: %#x, want %#x", off, got, want)
		}
	}
}

// TestConstant: a register is cleared by an instruction that computes it from nothing but itself.
func TestConstant(t *testing.T) {
	for _, row := range []struct {
		name, code string
		want       bool
	}{
		{"pxor xmm0, xmm0", "\x66\x0f\xef\xc0", true},
		{"xorps xmm0, xmm0", "\x0f\x57\xc0", true},
		{"pxor xmm0, xmm1", "\x66\x0f\xef\xc1", false},
		{"pxor xmm0, [rdx]", "\x66\x0f\xef\x02", false},
	} {
		var insts [2]x86.Inst
		for i, code := range []string{row.code, "\x0f\x11\x06"} { // movups [rsi], xmm0
			if err := x86.Decode([]byte(code), &insts[i]); err != nil {
				t.Fatal(err)
			}
		}
		got := Of(insts[:], 1, Access{Base: x86.RSI, Index: x86.NoReg, Write: true}, false)&Constant != 0
		if got != row.want {
			t.Errorf("%s: a constant: %t", row.name, got)
		}
	}
}
