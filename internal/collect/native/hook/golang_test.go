package hook

import (
	"bytes"
	"testing"
)

// The check of the stack that functions of Go's begin with, for small frames and for large ones;
// others have none.
func TestStackCheck(t *testing.T) {
	for _, row := range []struct {
		name string
		code []byte
		want int
	}{
		{"cmp rsp, [r14+16]; jbe near; push rbp", []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x2e, 0x55}, 6},
		{"cmp rsp, [r14+16]; jbe far; push rbp", []byte{0x49, 0x3b, 0x66, 0x10, 0x0f, 0x86, 0, 1, 0, 0, 0x55}, 10},
		{"lea r12, [rsp-256]; cmp r12, [r14+16]; jbe near",
			[]byte{0x4c, 0x8d, 0xa4, 0x24, 0, 0xff, 0xff, 0xff, 0x4d, 0x3b, 0x66, 0x10, 0x76, 0x2e}, 14},
		{"test rax, rax; je near", []byte{0x48, 0x85, 0xc0, 0x74, 0x10, 0x55}, 0},
		{"push rbp; mov rbp, rsp; ret", []byte{0x55, 0x48, 0x89, 0xe5, 0xc3, 0x90}, 0},
		{"no instruction", []byte{0x06}, 0},
	} {
		if n := stackCheck(append(bytes.Clone(row.code), bytes.Repeat([]byte{0x90}, 8)...)); n != row.want {
			t.Errorf("%s: %d bytes, want %d", row.name, n, row.want)
		}
	}
}
