package spin

import (
	"encoding/binary"
	"testing"

	"lime/internal/x86"
)

// memory is a program of bytes.
type memory map[uint64]byte

func (m memory) Decode(pc uint64) (*x86.Inst, bool) {
	var code []byte
	for at := pc; at < pc+15; at++ {
		b, ok := m[at]
		if !ok {
			break
		}
		code = append(code, b)
	}
	var in x86.Inst
	return &in, x86.Decode(code, &in) == nil
}

func (m memory) Load(addr uint64, n int) (uint64, bool) {
	var b [8]byte
	for i := range n {
		v, ok := m[addr+uint64(i)]
		if !ok {
			return 0, false
		}
		b[i] = v
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

func (m memory) put(at uint64, b string) memory {
	for i := range len(b) {
		m[at+uint64(i)] = b[i]
	}
	return m
}

const (
	codeAt, dataAt, stackAt = 0x1000, 0x2000, 0x8000
)

func decode(t *testing.T, code, name string) *x86.Inst {
	t.Helper()
	var in x86.Inst
	if err := x86.Decode([]byte(code), &in); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &in
}

// What a round may hold, as bytes.
func TestWhatARoundMayHold(t *testing.T) {
	for _, c := range []struct {
		code string
		name string
		want bool
	}{
		{"\x8b\x07", "mov eax, [rdi]", true},
		{"\xf3\x90", "pause", true},
		{"\x89\x07", "mov [rdi], eax: it holds something else", false},
		{"\x89\x1f", "mov [rdi], ebx: it holds that", true},
		{"\x89\x45\xfc", "mov [rbp-4], eax", true},
		{"\x87\x07", "xchg [rdi], eax", true},
		{"\xf0\x0f\xb1\x0f", "lock cmpxchg [rdi], ecx", true},
		{"\xf0\x0f\xc1\x0f", "lock xadd [rdi], ecx: adds something", false},
		{"\xf0\x0f\xc1\x17", "lock xadd [rdi], edx: adds nil", true},
		{"\xf3\x48\xab", "rep stosq", false},
		{"\x66\x0f\xef\xc0", "pxor xmm0, xmm0", true},
		{"\x66\x0f\xef\xc1", "pxor xmm0, xmm1", true},
		{"\x0f\x57\xc0", "xorps xmm0, xmm0", true},
		{"\xc5\xf8\x57\xc0", "vxorps xmm0, xmm0, xmm0", true},
		{"\xc5\xf0\x57\xc0", "vxorps xmm0, xmm1, xmm0", true},
		{"\x66\x0f\x14\xc9", "unpcklpd xmm1, xmm1", true},
		{"\x66\x0f\x70\xc0\x00", "pshufd xmm0, xmm0, 0", true},
		{"\xc4\xe2\x7d\x19\xc0", "vbroadcastsd ymm0, xmm0", true},
		{"\x66\x0f\x58\xc0", "addpd xmm0, xmm0", true},
		{"\x0f\x31", "rdtsc", true},
		{"\xe8\x00\x00\x00\x00", "call", true},
		{"\xf2\x0f\x11\x04\x24", "movsd [rsp], xmm0", true},
		{"\xf2\x0f\x10\x04\x24", "movsd xmm0, [rsp]", true},
		{"\x0f\x29\x44\x24\x10", "movaps [rsp+16], xmm0", true},
		{"\xc5\xfc\x11\x44\x24\x20", "vmovups [rsp+32], ymm0", true},
		{"\x0f\x28\xc1", "movaps xmm0, xmm1", true},
		{"\xf2\x0f\x11\x07", "movsd [rdi], xmm0: others may look there", false},
		{"\xf2\x0f\x58\xc1", "addsd xmm0, xmm1", true},
		{"\x66\x48\x0f\x7e\xc0", "movq rax, xmm0", true},
		{"\x66\x48\x0f\x6e\xc0", "movq xmm0, rax", true},
		{"\x66\x0f\x2e\xc1", "ucomisd xmm0, xmm1", true},
		{"\x66\x0f\xfc\xc1", "paddb xmm0, xmm1", false},
		{"\x0f\x58\x07", "addps xmm0, [rdi]: more than a word", false},
		{"\xf2\x0f\x58\x07", "addsd xmm0, [rdi]", true},
		{"\xd9\xe8", "fld1", false},
		{"\x0f\xc7\xf0", "rdrand eax", false},
		{"\x55", "push rbp", true},
	} {
		in := decode(t, c.code, c.name)
		h := Head{PC: codeAt}
		h.Regs[x86.RAX], h.Regs[x86.RCX], h.Regs[x86.RBX], h.Regs[x86.RDI] = 1, 1, 5, dataAt
		h.Regs[x86.RSP], h.Regs[x86.RBP] = stackAt, stackAt+64
		var w walker
		w.begin(memory{}.put(dataAt, "\x05\x00\x00\x00\x00\x00\x00\x00"), &h)
		_, ok := w.run(in, codeAt)
		if got := harmless(in) && ok; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Values of registers behind an instruction.
func TestValues(t *testing.T) {
	const rax, rcx = x86.RAX, x86.RCX
	for _, c := range []struct {
		code string
		name string
		reg  x86.Reg
		want uint64
		ok   bool
	}{
		{"\x48\x8d\x04\x49", "lea rax, [rcx+rcx*2]", rax, 30, true},
		{"\x48\x89\xc8", "mov rax, rcx", rax, 10, true},
		{"\x48\x63\xc1", "movsxd rax, ecx", rax, 10, true},
		{"\x48\x01\xc8", "add rax, rcx", rax, 17, true},
		{"\x48\x83\xc0\x05", "add rax, 5", rax, 12, true},
		{"\x83\xe8\x08", "sub eax, 8", rax, 0xffffffff, true},
		{"\x48\xc1\xe1\x03", "shl rcx, 3", rcx, 80, true},
		{"\xd1\xe9", "shr ecx, 1", rcx, 5, true},
		{"\xff\xc9", "dec ecx", rcx, 9, true},
		{"\x31\xc0", "xor eax, eax", rax, 0, true},
		{"\xb0\x63", "mov al, 99", rax, 99, true},
		{"\x48\x0f\xaf\xc1\xb0\x63\x88\xc1", "imul rax, rcx; mov al, 99; mov cl, al", rcx, 99, true},
		{"\x48\x0f\xaf\xc1\xb0\x63", "imul rax, rcx; mov al, 99", rax, 0, false},
		{"\x48\x0f\xaf\xc1\xb4\x63\x88\xc1", "imul rax, rcx; mov ah, 99; mov cl, al", rcx, 0, false},
		{"\xb8\x63\x00\x00\x00", "mov eax, 99", rax, 99, true},
		{"\x0f\xb6\xc1", "movzx eax, cl", rax, 10, true},
		{"\x48\x98", "cdqe", rax, 7, true},
		{"\xf7\xd9", "neg ecx", rcx, 0xfffffff6, true},
		{"\x8b\x07", "mov eax, [rdi]", rax, 0x55, true},
		{"\x0f\xbe\x07", "movsx eax, byte [rdi]", rax, 0x55, true},
		{"\xf0\x0f\xb1\x0f", "lock cmpxchg [rdi], ecx, in vain", rax, 0x55, true},
		{"\x54", "push rsp", x86.RSP, stackAt - 8, true},
		{"\x39\xc8\x0f\x9c\xc0", "cmp eax, ecx; setl al", rax, 1, true},
		{"\x39\xc8\x0f\x9d\xc0", "cmp eax, ecx; setge al", rax, 0, true},
		{"\x84\xc0\x0f\x95\xc0", "test al, al; setne al", rax, 1, true},
		{"\x39\xc8\x0f\x90\xc0", "cmp eax, ecx; seto al", rax, 0, false},
		{"\x0f\x95\xc0", "setne al, flags unknown", rax, 0, false},
		{"\x39\xc8\x0f\x42\xc1", "cmp eax, ecx; cmovb eax, ecx", rax, 10, true},
		{"\x39\xc8\x0f\x43\xc1", "cmp eax, ecx; cmovae eax, ecx", rax, 7, true},
		{"\x39\xc8\x48\x0f\x42\x07", "cmp eax, ecx; cmovb rax, [rdi]", rax, 0x55, true},
		{"\x48\x0f\xaf\xc1", "imul rax, rcx", rax, 0, false},
	} {
		h := Head{PC: codeAt}
		h.Regs[rax], h.Regs[rcx], h.Regs[x86.RDI], h.Regs[x86.RSP] = 7, 10, dataAt, stackAt
		var w walker
		w.begin(memory{}.put(dataAt, "\x55\x00\x00\x00\x00\x00\x00\x00"), &h)
		for at := 0; at < len(c.code); {
			in := decode(t, c.code[at:], c.name)
			w.run(in, codeAt+uint64(at))
			at += int(in.Len)
		}
		got, ok := w.reg(c.reg)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %#x, %v; want %#x, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
