package elem

import (
	"testing"

	"lime/internal/waste"
	"lime/internal/x86"
)

// TestStored: the moves of compilers, with what computed the register before them.
func TestStored(t *testing.T) {
	mulpd := []byte{0x66, 0x0f, 0x59, 0xc1} // mulpd %xmm1,%xmm0
	addps := []byte{0x0f, 0x58, 0xc1}       // addps %xmm1,%xmm0
	pxor := []byte{0x66, 0x0f, 0xef, 0xc0}  // pxor %xmm0,%xmm0
	movups := []byte{0x0f, 0x11, 0x00}      // movups %xmm0,(%rax)
	movsd := []byte{0xf2, 0x0f, 0x11, 0x00} // movsd %xmm0,(%rax)
	movss := []byte{0xf3, 0x0f, 0x11, 0x00} // movss %xmm0,(%rax)
	fstpl := []byte{0xdd, 0x18}             // fstpl (%rax)
	movq := []byte{0x48, 0x89, 0x18}        // mov %rbx,(%rax)
	movaps1 := []byte{0x0f, 0x29, 0x08}     // movaps %xmm1,(%rax): of another register
	for _, row := range []struct {
		name string
		code [][]byte
		n    int
		want waste.Elem
	}{
		{"scalar double", [][]byte{movsd}, 8, waste.Float64},
		{"scalar float", [][]byte{movss}, 4, waste.Float32},
		{"x87", [][]byte{fstpl}, 8, waste.Float64},
		{"integer", [][]byte{movq}, 8, waste.Bytes},
		{"computed doubles", [][]byte{mulpd, movups}, 16, waste.Float64},
		{"computed floats", [][]byte{addps, movups}, 16, waste.Float32},
		{"cleared last", [][]byte{mulpd, pxor, movups}, 16, waste.Bytes},
		{"another register", [][]byte{mulpd, movaps1}, 16, waste.Bytes},
		{"nothing known", [][]byte{movups}, 16, waste.Bytes},
	} {
		var insts []x86.Inst
		for _, code := range row.code {
			var in x86.Inst
			if err := x86.Decode(code, &in); err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
			insts = append(insts, in)
		}
		if got := Stored(insts, row.n); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}
