package watch

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestAhead: a thread is followed through calls, returns, stubs and loops to its next accesses, and
// no further than its way is known. Code and stack are this process's own.
func TestAhead(t *testing.T) {
	load := []byte{0x48, 0x8b, 0x03} // mov (%rbx),%rax
	ret := []byte{0xc3}
	cat := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	for _, row := range []struct {
		name string
		code []byte
		want []int // offsets of accesses; what lies behind a return begins at 32
	}{
		{"straight on", cat(load, load, []byte{0xcc}), []int{0, 3}},
		{"a loop", cat(load, []byte{0x75, 0xfb}), []int{0, 0, 0, 0, 0, 0, 0, 0}},
		{"a branch forward", cat([]byte{0x74, 0x03}, load, load, []byte{0xcc}), []int{2, 5}},
		{"a call and back", cat([]byte{0xe8, 4, 0, 0, 0}, load, []byte{0xcc}, load, ret), []int{9, 5}},
		{"a stub", cat([]byte{0xff, 0x15, 26, 0, 0, 0}, load, []byte{0xcc}), []int{40, 6}}, // call *26(%rip), where 40 stands
		{"a function's end", cat(load, ret), []int{0, 32}},
		{"behind a push", cat([]byte{0x53, 0x5b}, ret), []int{1, 32}},                                       // push %rbx; pop %rbx
		{"a frame given back", cat([]byte{0x48, 0x83, 0xec, 0x10, 0x48, 0x83, 0xc4, 0x10}, ret), []int{32}}, // sub, add $16,%rsp
		{"a frame pointer", cat([]byte{0x48, 0x83, 0xec, 0x40, 0xc9}, ret), []int{4, 32}},                   // sub $64,%rsp; leave
		{"a stack nobody knows", cat([]byte{0x48, 0x89, 0xc4}, load, ret), []int{3}},                        // mov %rax,%rsp
		{"a copy", cat([]byte{0xf3, 0xa4}, load, []byte{0xcc}), []int{0, 0, 0, 0, 2}},                       // rep movsb, of four lines
		{"a copy, and back", cat([]byte{0xf3, 0xa4}, ret), []int{0, 0, 0, 0, 32}},
		{"a long copy", cat([]byte{0xf3, 0x48, 0xa5}, load), []int{0, 0, 0, 0, 0, 0, 0, 0}}, // rep movsq
		{"a jump to anywhere", cat(load, []byte{0xff, 0xe0}, load), []int{0}},               // jmp *%rax
	} {
		code := make([]byte, 64)
		copy(code, row.code)
		copy(code[32:], cat(load, []byte{0xcc}))
		copy(code[40:], cat(load, ret))
		at := uint64(uintptr(unsafe.Pointer(&code[0])))
		if row.name == "a stub" {
			binary.LittleEndian.PutUint64(code[32:], at+40)
		}
		stack := []uint64{0, 0, 0, 0, 0, 0, 0, 0, at + 32, at + 32}
		regs := unix.PtraceRegs{Rip: at, Rcx: 200, Rsi: 4096, Rdi: 8192, Rsp: uint64(uintptr(unsafe.Pointer(&stack[8])))}
		regs.Rbp = regs.Rsp - 8 // where its caller's stands; the return address is above
		m := memory{pid: os.Getpid()}
		var got []int
		for _, x := range m.ahead(&regs, want{loads: true}) {
			got = append(got, int(x.pc-at))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: accesses at %v, want %v", row.name, got, row.want)
		}
	}
}
