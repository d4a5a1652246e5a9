package sim

import (
	"testing"

	"lime/internal/x86"
)

// TestOnlyPushesArePrivate has the stores that tell nobody anything: those of push and call. What
// else is stored near the stack pointer may be seen by others, who have its address.
func TestOnlyPushesArePrivate(t *testing.T) {
	for _, c := range []struct {
		text    string
		code    []byte
		private bool
	}{
		{"push rax", []byte{0x50}, true},
		{"push [rbx]", []byte{0xff, 0x33}, true},
		{"call next", []byte{0xe8, 0, 0, 0, 0}, true},
		{"call [rbx]", []byte{0xff, 0x13}, true},
		{"mov [rsp+8], eax", []byte{0x89, 0x44, 0x24, 0x08}, false},
		{"lock xadd [rsp+32], eax", []byte{0xf0, 0x0f, 0xc1, 0x44, 0x24, 0x20}, false},
		{"xchg [rsp+36], ebx", []byte{0x87, 0x5c, 0x24, 0x24}, false},
		{"pop [rbx]", []byte{0x8f, 0x03}, false},
		{"mov fs:[rax], ecx", []byte{0x64, 0x89, 0x08}, false},
		{"stosd", []byte{0xab}, false},
	} {
		var in x86.Inst
		if err := x86.Decode(c.code, &in); err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		stores := 0
		for _, a := range in.Accesses(nil) {
			if !a.Write {
				continue
			}
			if stores++; pushes(&in, &a) != c.private {
				t.Errorf("%s: private %t, want %t", c.text, !c.private, c.private)
			}
		}
		if stores == 0 {
			t.Errorf("%s stores nothing", c.text)
		}
	}
}
