package spin

import (
	"strings"
	"testing"

	"lime/internal/x86"
)

// A loop that only looks at a word, mov eax, [rdi]; test eax, eax; jne: whether who leaves it takes the
// word is in the code behind. The word holds 1, rbx too, and rdx 9; rsi is the address of another word,
// and the bytes behind the code are none.
func TestTakes(t *testing.T) {
	const loop = "\x8b\x07\x85\xc0\x75\xfa"
	for _, c := range []struct {
		behind, name string
		want         bool
	}{
		{"\xb8\x01\x00\x00\x00\x87\x07", "mov eax, 1; xchg [rdi], eax", true},
		{"\xb0\x01\x86\x07", "of a byte: mov al, 1; xchg [rdi], al", true},
		{"\xb9\x01\x00\x00\x00\x31\xc0\xf0\x0f\xb1\x0f", "mov ecx, 1; xor eax, eax; lock cmpxchg [rdi], ecx", true},
		{"\xf0\x0f\xba\x2f\x00", "lock bts [rdi], 0", true},
		{"\x89\xc1\x83\xc9\x01\xf0\x0f\xb1\x0f", "the bit of what was found: mov ecx, eax; or ecx, 1; lock " +
			"cmpxchg [rdi], ecx", true},
		{"\x87\x1f", "what the word holds, from in front of the loop: xchg [rdi], ebx", true},
		{"\x87\x17", "something else from in front of the loop: xchg [rdi], edx", false},
		{"\x6a\x01\x59\x87\x0f", "by the stack: push 1; pop rcx; xchg [rdi], ecx", true},
		{"\xc7\x44\x24\xfc\x01\x00\x00\x00\x8b\x4c\x24\xfc\x87\x0f", "by the red zone: mov [rsp-4], 1; mov ecx, " +
			"[rsp-4]; xchg [rdi], ecx", true},
		{"\xb9\x01\x00\x00\x00\x8b\x0e\x87\x0f", "overwritten: mov ecx, 1; mov ecx, [rsi]; xchg [rdi], ecx", false},
		{"\xb9\x01\x00\x00\x00\x0f\x31\x89\xc1\x87\x0f", "by what cannot be followed: mov ecx, 1; rdtsc; mov ecx, " +
			"eax; xchg [rdi], ecx", false},
		{"\x89\xc7\xb9\x01\x00\x00\x00\x87\x0f", "its address is not known any more: mov edi, eax; mov ecx, 1; " +
			"xchg [rdi], ecx", false},
		{"\xb9\x01\x00\x00\x00\x87\x0e", "another word: mov ecx, 1; xchg [rsi], ecx", false},
		{"\x87\x07", "what was found: xchg [rdi], eax", false},
		{"\x31\xc9\x87\x0f", "nil: xor ecx, ecx; xchg [rdi], ecx", false},
		{"\xb9\x02\x00\x00\x00\x87\x0f", "what nobody has set there: mov ecx, 2; xchg [rdi], ecx", false},
		{"\x8b\x08\xf0\x0f\xb1\x0f", "an item's next one: mov ecx, [rax]; lock cmpxchg [rdi], ecx", false},
		{"\xb9\x01\x00\x00\x00\xb8\x02\x00\x00\x00\xf0\x0f\xb1\x0f", "for what somebody else has stored: mov ecx, " +
			"1; mov eax, 2; lock cmpxchg [rdi], ecx", false},
		{"\xf0\x0f\xba\x2f\x05", "a bit that is not set: lock bts [rdi], 5", false},
		{"\xb9\x01\x00\x00\x00\xf0\x0f\xc1\x0f", "a number drawn: mov ecx, 1; lock xadd [rdi], ecx", false},
		{"\xc7\x06\x07\x00\x00\x00\xb9\x01\x00\x00\x00\x87\x0f", "behind a store: mov [rsi], 7; mov ecx, 1; xchg " +
			"[rdi], ecx", false},
		{"\xe8\x02\x00\x00\x00\xeb\x08\xb9\x01\x00\x00\x00\x87\x0f\xc3\x0f\x0b", "in a function: call 1f; jmp 2f; " +
			"1: mov ecx, 1; xchg [rdi], ecx; ret; 2: ud2", true},
		{"\xe8\x04\x00\x00\x00\x87\x0f\xeb\x06\xb9\x01\x00\x00\x00\xc3\x0f\x0b", "behind a function: call 1f; " +
			"xchg [rdi], ecx; jmp 2f; 1: mov ecx, 1; ret; 2: ud2", true},
		{"\x55\x48\x89\xe5\x48\x83\xec\x20\xb9\x01\x00\x00\x00\xc9\x87\x0f", "behind leave: push rbp; mov rbp, " +
			"rsp; sub rsp, 32; mov ecx, 1; leave; xchg [rdi], ecx", true},
		{"\xff\xd0", "a function that is not known: call rax", false},
		{"\x0f\x05\xb9\x01\x00\x00\x00\x87\x0f", "behind a system call: syscall; mov ecx, 1; xchg [rdi], ecx", false},
		{"\xba\x05\x00\x00\x00\xff\xca\x75\xfc\xb9\x01\x00\x00\x00\x87\x0f", "behind a short loop: mov edx, 5; 1: " +
			"dec edx; jne 1b; mov ecx, 1; xchg [rdi], ecx", true},
		{"\xba\xe8\x03\x00\x00\xff\xca\x75\xfc\xb9\x01\x00\x00\x00\x87\x0f", "behind a long loop: mov edx, 1000; " +
			"1: dec edx; jne 1b; mov ecx, 1; xchg [rdi], ecx", false},
		{"\xb9\x01\x00\x00\x00\x83\x3e\x03\x75\x02\x87\x0f\x0f\x0b", "on one way, which it goes not: mov ecx, 1; " +
			"cmp [rsi], 3; jne 1f; xchg [rdi], ecx; 1: ud2", false},
		{"\xb9\x01\x00\x00\x00\xa9\x02\x00\x00\x00\x75\x02\x87\x0f\x0f\x0b", "on one of two ways: mov ecx, 1; " +
			"test eax, 2; jne 1f; xchg [rdi], ecx; 1: ud2", false},
		{"\xb9\x01\x00\x00\x00\xa9\x02\x00\x00\x00\x75\x02\x87\x0f\x87\x0f", "on both ways: mov ecx, 1; test eax, " +
			"2; jne 1f; xchg [rdi], ecx; 1: xchg [rdi], ecx", true},
		{"\xb9\x01\x00\x00\x00\xa9\x02\x00\x00\x00\x75\xee\x87\x0f", "or back: mov ecx, 1; test eax, 2; jne " +
			"start; xchg [rdi], ecx", true},
		{"\xa9\x02\x00\x00\x00\x75\xf9\xb9\x01\x00\x00\x00\x87\x0f", "behind a loop by what is not known: 1: test " +
			"eax, 2; jne 1b; mov ecx, 1; xchg [rdi], ecx", true},
		{"\xc3", "who returns: ret", false},
		{"\xeb\xf8", "back only: jmp start", false},
	} {
		if l := looks(t, loop+c.behind, 1); l.Watches[0].Takes != c.want {
			t.Errorf("%s: %v, want %v", c.name, l.Watches[0].Takes, c.want)
		}
	}
	const claim = "\xb9\x02\x00\x00\x00\x87\x0f"                                // mov ecx, 2; xchg [rdi], ecx
	if l := looks(t, "\x8b\x07\xff\xc8\x75\xfa"+claim, 2); l.Watches[0].Takes { // dec eax; jne
		t.Error("it waits until somebody has stored 1 where 2 is stored by who takes it, and takes it for a lock")
	}
	if l := looks(t, "\x8b\x07\xff\xc8\x75\xfa"+claim, 3); !l.Watches[0].Takes {
		t.Error("it waits until a bit is clear, which it sets: no lock")
	}
	const take = "\xb8\x01\x00\x00\x00\x87\x07"
	if l := looks(t, "\x8b\x07\x85\xc0\x74\xfa"+take, 0); l.Watches[0].Takes { // je
		t.Error("it waits until the word is not nil, and takes it for a lock")
	}
	if l := looks(t, "\x8b\x07\x85\xc0\x74\x02\xeb\xf8\x0f\x0b"+take, 1); l.Watches[0].Takes {
		t.Error("it goes elsewhere, and takes it for a lock")
	}
	one := "\x8b\x07\x85\xc0\x75\xfa"
	if l := looks(t, one+strings.Repeat("\x90", mostBehind-2)+take, 1); !l.Watches[0].Takes {
		t.Error("as far away as may be: not found")
	}
	if l := looks(t, one+strings.Repeat("\x90", mostBehind)+take, 1); l.Watches[0].Takes {
		t.Error("too far away: found")
	}
}

// Who loads a byte again and again carries nothing on, though the rest of the register is kept, unless
// that is used.
func TestBytesCarryNothing(t *testing.T) {
	for _, c := range []struct {
		loop, name string
		want       bool
	}{
		{"\x8a\x07\x84\xc0\x75\xfa", "mov al, [rdi]; test al, al; jne", true},
		{"\x8a\x07\x85\xc0\x75\xfa", "mov al, [rdi]; test eax, eax; jne", false},
		{"\x8b\x07\x84\xc0\x75\xfa", "mov eax, [rdi]; test al, al; jne", true},
	} {
		if l := looks(t, c.loop+"\x0f\x0b", 1); l.Pure != c.want {
			t.Errorf("%s: carries nothing %v, want %v", c.name, l.Pure, c.want)
		}
	}
}

// looks follows a thread round the loop at the begin of some code, in which it looks at a word that
// holds a value.
func looks(t *testing.T, code string, holds byte) *Loop {
	t.Helper()
	mem := memory{}.put(codeAt, code).put(dataAt, string([]byte{holds, 0, 0, 0, 0, 0, 0, 0})).
		put(dataAt+64, "\x04\x00\x00\x00\x00\x00\x00\x00").put(stackAt-8, strings.Repeat("\x00", 16))
	h := Head{PC: codeAt, End: codeAt + 6}
	h.Regs[x86.RAX], h.Regs[x86.RBX], h.Regs[x86.RDX], h.Regs[x86.RDI], h.Regs[x86.RSI] = uint64(holds), 1, 9,
		dataAt, dataAt+64
	h.Regs[x86.RSP], h.Regs[x86.RCX] = stackAt, 33
	if strings.HasPrefix(code[6:], "\xeb") {
		h.End += 2
	}
	f := New(mem)
	f.Start()
	for range 8 {
		l, going := f.Step(h, 1000)
		if l != nil {
			return l
		}
		if !going {
			break
		}
	}
	t.Fatalf("% x: no loop", code)
	return nil
}
