package hook

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// What stands at the beginning of functions, and how many bytes of it can be moved; 0 = none.
func TestMovable(t *testing.T) {
	nops := bytes.Repeat([]byte{0x90}, 16)
	for _, row := range []struct {
		name string
		code []byte
		want int
	}{
		{"endbr64; push rbp", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55}, 5},
		{"push rbp; mov rbp, rsp; push rbx", []byte{0x55, 0x48, 0x89, 0xe5, 0x53}, 5},
		{"mov eax, [rdi+16]; mov edx, eax", []byte{0x8b, 0x47, 0x10, 0x89, 0xc2}, 5},
		{"mov rax, [rip+8]", []byte{0x48, 0x8b, 0x05, 8, 0, 0, 0}, 7},
		{"mov esi, 1; jmp", []byte{0xbe, 1, 0, 0, 0, 0xe9, 0, 1, 0, 0}, 5},
		{"xor eax, eax; ret", []byte{0x31, 0xc0, 0xc3}, 0},
		{"push rbp; call", []byte{0x55, 0xe8, 0, 1, 0, 0}, 0},
		{"a loop to the second byte", append(append([]byte{0x90}, nops...), 0xeb, 0xee), 0},
		{"a loop to the first byte", append(append([]byte{0x90}, nops...), 0xeb, 0xed), 0},
		{"a call of the function itself", append(append([]byte{0x90}, nops...), 0xe8, 0xea, 0xff, 0xff, 0xff), 5},
		{"xor eax, eax; syscall", []byte{0x31, 0xc0, 0x0f, 0x05, 0x90}, 0},
		{"no instruction", []byte{0x55, 0x06, 0x06, 0x06, 0x06}, 0},
		{"too short", []byte{0x90, 0x90}, 0},
	} {
		code := row.code
		if row.want > 0 || len(code) > 2 {
			code = append(bytes.Clone(code), nops...)
		}
		n, err := movable(code)
		if n != row.want || (err == nil) != (row.want > 0) {
			t.Errorf("%s: %d, %v, want %d", row.name, n, err, row.want)
		}
	}
}

// Moved instructions keep what their distances lead to, and go on behind their old place.
func TestRelocate(t *testing.T) {
	const from, to = 0x500000, 0x123400
	for _, row := range []struct {
		name string
		code []byte
		at   int // of the distance; 0 = none
		ok   bool
	}{
		{"mov rax, [rip+8]", []byte{0x48, 0x8b, 0x05, 8, 0, 0, 0}, 3, true},
		{"cmp dword [rip+8], 1: a number behind the distance", []byte{0x83, 0x3d, 8, 0, 0, 0, 1}, 2, true},
		{"jne far", []byte{0x0f, 0x85, 0, 1, 0, 0}, 2, true},
		{"push rbx; sub rsp, 16", []byte{0x53, 0x48, 0x83, 0xec, 16}, 0, true},
		{"jrcxz", []byte{0x90, 0x90, 0x90, 0xe3, 8}, 0, false},
	} {
		moved, err := relocate(row.code, from, to)
		got := moved.code
		if (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
		if err != nil {
			continue
		}
		n := len(row.code)
		want := bytes.Clone(row.code)
		if row.at > 0 {
			d := binary.LittleEndian.Uint32(want[row.at:])
			binary.LittleEndian.PutUint32(want[row.at:], d+from-to)
		}
		if !bytes.Equal(got[:n], want) || !bytes.Equal(got[n:n+6], []byte{0xff, 0x25, 0, 0, 0, 0}) ||
			binary.LittleEndian.Uint64(got[n+6:]) != from+uint64(n) {
			t.Errorf("%s: %x", row.name, got)
		}
	}
	short := []byte{0x90, 0x75, 8, 0xeb, 9} // nop; jne 11; jmp 14
	want := []byte{0x90, 0x0f, 0x85, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0}
	binary.LittleEndian.PutUint32(want[3:], from+11-to-7&0xffffffff)
	binary.LittleEndian.PutUint32(want[8:], from+14-to-12&0xffffffff)
	if got, err := relocate(short, from, to); err != nil || !bytes.Equal(got.code[:len(want)], want) || got.at[1] != 1 || got.at[3] != 7 {
		t.Errorf("near distances: %x, %v, want %x", got, err, want)
	}
	if _, err := relocate([]byte{0x48, 0x8b, 0x05, 8, 0, 0, 0}, 0x7f0000000000, to); err == nil {
		t.Error("moved out of reach")
	}
}
