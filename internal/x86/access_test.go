package x86

import (
	"fmt"
	"strings"
	"testing"
)

// Each line: bytes, and the accesses: address, size, direction.
func TestAccesses(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want string
	}{
		{"push rax", []byte{0x50}, "[4-8] 8 w"},
		{"push r9w", []byte{0x66, 0x41, 0x51}, "[4-2] 2 w"},
		{"push [rbx+4]", []byte{0xff, 0x73, 0x04}, "[3+4] 8 r, [4-8] 8 w"},
		{"pop rbp", []byte{0x5d}, "[4+0] 8 r"},
		{"pop [rax]", []byte{0x8f, 0x00}, "[4+0] 8 r, [0+0] 8 w"},
		{"call rel", []byte{0xe8, 0, 0, 0, 0}, "[4-8] 8 w"},
		{"call [rax]", []byte{0xff, 0x10}, "[0+0] 8 r, [4-8] 8 w"},
		{"ret", []byte{0xc3}, "[4+0] 8 r"},
		{"leave", []byte{0xc9}, "[5+0] 8 r"},
		{"add [rdi], eax", []byte{0x01, 0x07}, "[7+0] 4 rw"},
		{"mov rax, [rsp+8]", []byte{0x48, 0x8b, 0x44, 0x24, 0x08}, "[4+8] 8 r"},
		{"movsq", []byte{0x48, 0xa5}, "[6+0] 8 r, [7+0] 8 w"},
		{"rep stosb", []byte{0xf3, 0xaa}, "[7+0] 1 w rep"},
		{"repne scasb", []byte{0xf2, 0xae}, "[7+0] 1 r rep"},
		{"lea rax, [rdi]", []byte{0x48, 0x8d, 0x07}, ""},
		{"nop [rax]", []byte{0x0f, 0x1f, 0x00}, ""},
		{"prefetcht0 [rax]", []byte{0x0f, 0x18, 0x08}, ""},
		{"movups xmm0, [rdi]", []byte{0x0f, 0x10, 0x07}, "[7+0] 16 r"},
		{"vmovups [rdi], ymm1", []byte{0xc5, 0xfc, 0x11, 0x0f}, "[7+0] 32 w"},
	} {
		var in Inst
		if err := Decode(c.code, &in); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, a := range in.Accesses(nil) {
			s := fmt.Sprintf("[%d%+d] %d ", a.Base, a.Disp, a.Bytes)
			for _, f := range []struct {
				on   bool
				text string
			}{{a.Read, "r"}, {a.Write, "w"}, {a.Rep, " rep"}} {
				if f.on {
					s += f.text
				}
			}
			got = append(got, s)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

// The rows with implied accesses that a program can meet all have an entry in the table.
func TestImpliedIsComplete(t *testing.T) {
	rare := "montmul xsha1 xsha256 xstore xcrypt-ecb xcrypt-cbc xcrypt-ctr xcrypt-cfb xcrypt-ofb clzero " +
		"movdir64b enqcmds enqcmd ins outs mov lret iret lcall"
	for i := range decodeIndex().rows {
		r := &decodeIndex().rows[i]
		if r.attr&(attrImpRead|attrImpWrite) == 0 || strings.Contains(" "+rare+" ", " "+r.name+" ") {
			continue
		}
		if implied[strings.TrimPrefix(r.name, "v")] == nil {
			t.Errorf("%s (%s): no implied accesses listed", r.name, r.source)
		}
	}
}

func TestVectorRegisters(t *testing.T) {
	for _, c := range []struct {
		name          string
		code          []byte
		reads, writes uint32
	}{
		{"addpd xmm1, xmm2", []byte{0x66, 0x0f, 0x58, 0xca}, 1<<1 | 1<<2, 1 << 1},
		{"movaps xmm9, xmm2", []byte{0x44, 0x0f, 0x28, 0xca}, 1 << 2, 1 << 9},
		{"vaddpd ymm1, ymm2, ymm3", []byte{0xc5, 0xed, 0x58, 0xcb}, 1<<2 | 1<<3, 1 << 1},
		{"vfmadd231pd ymm1, ymm2, [rdi]", []byte{0xc4, 0xe2, 0xed, 0xb8, 0x0f}, 1<<1 | 1<<2, 1 << 1},
		{"vaddpd zmm17, zmm18, zmm19", []byte{0x62, 0xa1, 0xed, 0x40, 0x58, 0xcb}, 1<<18 | 1<<19, 1 << 17},
	} {
		var in Inst
		if err := Decode(c.code, &in); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if in.VecReads != c.reads || in.VecWrites != c.writes {
			t.Errorf("%s: reads %#x, writes %#x; want %#x, %#x", c.name, in.VecReads, in.VecWrites, c.reads, c.writes)
		}
	}
}
