package uop

import (
	"slices"
	"testing"

	"lime/internal/machine"
	"lime/internal/x86"
)

func used(regs []uint8) (out []uint8) {
	for _, r := range regs {
		if r != machine.NoReg {
			out = append(out, r)
		}
	}
	return out
}

// A row for each class, and for each special rule of dependency.
func TestDescribe(t *testing.T) {
	const v, f, x87 = machine.RegVector, machine.RegFlags, machine.RegX87
	seen := map[machine.Class]bool{}
	for _, c := range []struct {
		text              string
		code              []byte
		class             machine.Class
		srcs, dsts, addrs []uint8
		accesses          int
	}{
		{"add rax, rbx", []byte{0x48, 0x01, 0xd8}, machine.ClassALU, []uint8{0, 3}, []uint8{0, f}, nil, 0},
		{"xor eax, eax", []byte{0x31, 0xc0}, machine.ClassALU, nil, []uint8{0, f}, nil, 0},
		{"xor r8d, eax", []byte{0x41, 0x31, 0xc0}, machine.ClassALU, []uint8{0, 8}, []uint8{8, f}, nil, 0},
		{"mov rax, [rbx+rcx*8]", []byte{0x48, 0x8b, 0x04, 0xcb}, machine.ClassALU, nil, []uint8{0}, []uint8{1, 3}, 1},
		{"lea rax, [rbx+rcx]", []byte{0x48, 0x8d, 0x04, 0x0b}, machine.ClassALU, []uint8{1, 3}, []uint8{0}, nil, 0},
		{"mov [rbx], rax", []byte{0x48, 0x89, 0x03}, machine.ClassStore, []uint8{0}, nil, []uint8{3}, 1},
		{"imul rax, rbx", []byte{0x48, 0x0f, 0xaf, 0xc3}, machine.ClassMul, []uint8{0, 3}, []uint8{0, f}, nil, 0},
		{"div rbx", []byte{0x48, 0xf7, 0xf3}, machine.ClassDiv, []uint8{0, 2, 3}, []uint8{0, 2}, nil, 0},
		{"addsd xmm1, xmm2", []byte{0xf2, 0x0f, 0x58, 0xca}, machine.ClassFAdd, []uint8{v + 1, v + 2}, []uint8{v + 1}, nil, 0},
		{"vmulpd ymm1, ymm2, ymm3", []byte{0xc5, 0xed, 0x59, 0xcb}, machine.ClassFMul, []uint8{v + 2, v + 3}, []uint8{v + 1}, nil, 0},
		{"divsd xmm1, xmm2", []byte{0xf2, 0x0f, 0x5e, 0xca}, machine.ClassFDiv, []uint8{v + 1, v + 2}, []uint8{v + 1}, nil, 0},
		{"pxor xmm3, xmm3", []byte{0x66, 0x0f, 0xef, 0xdb}, machine.ClassVec, nil, []uint8{v + 3}, nil, 0},
		{"fadd st, st(1)", []byte{0xd8, 0xc1}, machine.ClassX87, []uint8{x87}, []uint8{x87}, nil, 0},
		{"jne", []byte{0x75, 0x00}, machine.ClassBranch, []uint8{f}, nil, nil, 0},
		{"push rbx", []byte{0x53}, machine.ClassALU, []uint8{3}, nil, nil, 1},
		{"lock add [rbx], eax", []byte{0xf0, 0x01, 0x03}, machine.ClassAtomic, []uint8{0}, []uint8{f}, []uint8{3}, 1},
		{"mfence", []byte{0x0f, 0xae, 0xf0}, machine.ClassSerial, nil, nil, nil, 0},
		{"rep movsb", []byte{0xf3, 0xa4}, machine.ClassString, []uint8{1, 6, 7}, []uint8{1, 6}, nil, 2},
		{"endbr64", []byte{0xf3, 0x0f, 0x1e, 0xfa}, machine.ClassNop, nil, nil, nil, 0},
		{"syscall", []byte{0x0f, 0x05}, machine.ClassSyscall, []uint8{0, 2, 6, 7}, []uint8{0}, nil, 0},
	} {
		b, err := Describe(0x1000, c.code)
		if err != nil || len(b.Instrs) != 1 {
			t.Errorf("%s: %d instructions, %v", c.text, len(b.Instrs), err)
			continue
		}
		in := b.Instrs[0]
		seen[in.Class] = true
		if in.Class != c.class || len(b.Accesses) != c.accesses {
			t.Errorf("%s: class %d with %d accesses, want %d with %d", c.text, in.Class, len(b.Accesses), c.class, c.accesses)
		}
		for _, l := range []struct {
			what      string
			got, want []uint8
		}{{"sources", used(in.Srcs[:]), c.srcs}, {"addresses", used(in.Addrs[:]), c.addrs}} {
			if !slices.Equal(l.got, l.want) {
				t.Errorf("%s: %s %v, want %v", c.text, l.what, l.got, l.want)
			}
		}
		for _, d := range c.dsts {
			if !slices.Contains(used(in.Dsts[:]), d) {
				t.Errorf("%s: writes %v, want %v", c.text, in.Dsts, c.dsts)
			}
		}
	}
	for c := machine.Class(0); c < machine.NumClasses; c++ {
		if !seen[c] {
			t.Errorf("no row for class %d", c)
		}
	}
}

func TestDescribeErrors(t *testing.T) {
	if _, err := Describe(0x1000, []byte{0x90, 0x48}); err == nil {
		t.Error("code cut short: no error")
	}
	if b, err := Describe(0x1000, []byte{0x90, 0x74, 0x10}); err != nil || b.End != machine.EndCond || b.Fall != 0x1003 {
		t.Errorf("%+v, %v", b, err)
	}
	if got := endOf(x86.BranchRet); got != machine.EndReturn {
		t.Errorf("ret: %d", got)
	}
}
