package busywait

import (
	"testing"

	"lime/internal/x86"
)

// bytes is a block as bytes.
type bytes struct {
	code        string
	taken, fall int
}

func loopOf(t *testing.T, blocks []bytes) *Loop {
	t.Helper()
	l := &Loop{}
	for i, b := range blocks {
		l.Blocks = append(l.Blocks, Block{Code: Code{Addr: 0x1000 * uint64(i+1), Insts: decoded(t, b.code)},
			Taken: b.taken, Fall: b.fall})
	}
	return l
}

func decoded(t *testing.T, code string) (list []x86.Inst) {
	t.Helper()
	for len(code) > 0 {
		var in x86.Inst
		if err := x86.Decode([]byte(code), &in); err != nil {
			t.Fatalf("% x: %v", code, err)
		}
		list, code = append(list, in), code[in.Len:]
	}
	return list
}

// What is known of a part of a register is not known of the rest.
func TestWidths(t *testing.T) {
	const (
		load32, load64 = "\x8b\x07", "\x48\x8b\x07"                 // mov (%rdi), %eax or %rax
		test32, test64 = "\x85\xc0", "\x48\x85\xc0"                 // test
		swap32, swap64 = "\xf0\x0f\xb1\x0f", "\xf0\x48\x0f\xb1\x0f" // lock cmpxchg %ecx or %rcx, (%rdi)
		widen          = "\x89\xc0"                                 // mov %eax, %eax
		jne, pause     = "\x75\x00", "\xf3\x90"
		xchg32, xchg8  = "\x87\x07", "\x86\x07" // xchg (%rdi), %eax or %al
		one32, one16   = "\xb8\x01\x00\x00\x00", "\x66\xb8\x01\x00"
		zero32, zero16 = "\xb8\x00\x00\x00\x00", "\x66\xb8\x00\x00"
		one8, zero8    = "\xb0\x01", "\xb0\x00"
		high16         = "\x66\xb8\x00\x01"     // mov $0x100, %ax
		high32         = "\xb8\x00\x01\x00\x00" // mov $0x100, %eax
	)
	looks := func(load, test, swap string) []bytes { // and pauses if it is taken
		return []bytes{{load + test + jne, 2, 1}, {swap + jne, 0, Out}, {pause, None, 0}}
	}
	retries := func(load, test, swap string) []bytes { // and leaves if it is taken
		return []bytes{{load + test + jne, Out, 1}, {swap + jne, 0, Out}}
	}
	swaps := func(put, swap string) []bytes { return []bytes{{put + swap + test32 + jne, 0, Out}} }
	for _, c := range []struct {
		name         string
		loop         []bytes
		waits, takes bool
	}{
		{"looks at all of 32 bits", looks(load32, test32, swap32), true, true},
		{"looks at all of 64 bits", looks(load64, test64, swap64), true, true},
		{"looks at the lower half", looks(load64, test32, swap64), true, false},
		{"32 bits, and no more", looks(load32, test32, swap64), true, true},
		{"the lower half, and no more", looks(load64+widen, test32, swap64), true, true},
		{"retries 32 bits that are nil", retries(load32, test32, swap32), false, false}, // if they are not, it leaves
		{"retries with what was found", retries(load64, test32, swap64), false, false},
		{"puts 1", swaps(one32, xchg32), true, true},
		{"puts nil", swaps(zero32, xchg32), true, false},
		{"puts 1 in a word's place", swaps(zero32+one16, xchg32), true, true},
		{"puts what is above a word", swaps(one32+zero16, xchg32), true, false},
		{"puts a byte of 1", swaps(one8, xchg8), true, true},
		{"puts a byte of nil", swaps(zero8, xchg8), true, false},
		{"puts the upper byte of a word", swaps(zero32+high16, xchg8), true, false},
		{"puts a byte of what is larger", swaps(high32, xchg8), true, false},
	} {
		if v := Judge(loopOf(t, c.loop)); v.Waits != c.waits || v.Takes != c.takes {
			t.Errorf("%s: %+v, want that it waits: %t, and for a lock: %t", c.name, v, c.waits, c.takes)
		}
	}
}

// What uses the lowest bytes of registers only, and which it reads and writes: what it leaves of the rest
// is no use of it.
func TestLowest(t *testing.T) {
	const rax, rcx, rdi, r9 = 1 << x86.RAX, 1 << x86.RCX, 1 << x86.RDI, 1 << x86.R9
	for _, c := range []struct {
		name, code    string
		reads, writes x86.RegSet
		ok            bool
	}{
		{"mov %cl, %al", "\x88\xc8", rcx, rax, true},
		{"mov (%rdi), %al", "\x8a\x07", 0, rax, true},
		{"mov $1, %r9b", "\x41\xb1\x01", 0, r9, true},
		{"and (%rdi), %al", "\x22\x07", rax, rax, true},
		{"test %al, %al", "\x84\xc0", rax, 0, true},
		{"cmp $1, (%rdi)", "\x80\x3f\x01", 0, 0, true},
		{"neg %al", "\xf6\xd8", rax, rax, true},
		{"sete %cl", "\x0f\x94\xc1", 0, rcx, true},
		{"movzx %cl, %eax", "\x0f\xb6\xc1", rcx, rax, true},
		{"movzx %ch, %eax", "\x0f\xb6\xc5", 0, 0, false},
		{"mov %ch, %al", "\x88\xe8", 0, 0, false},
		{"div %cl", "\xf6\xf1", 0, 0, false},
		{"mov %ecx, %eax", "\x89\xc8", 0, 0, false},
	} {
		in := &decoded(t, c.code)[0]
		if r, w, ok := Lowest(in); r != c.reads || w != c.writes || ok != c.ok {
			t.Errorf("%s: reads %b, writes %b, %t; want %b, %b, %t", c.name, r, w, ok, c.reads, c.writes, c.ok)
		}
	}
	for code, want := range map[string][2]bool{"\x31\xc0": {true, true}, "\x48\x29\xc0": {true, true}, "\x66\x31\xc0": {false, true},
		"\x30\xc0": {false, true}, "\x31\xc8": {false, false}, "\x31\x00": {false, false}, "\x01\xc0": {false, false}} {
		in := decoded(t, code)
		if whole, is := Clears(&in[0]); [2]bool{whole, is} != want {
			t.Errorf("% x clears all of it: %t, at all: %t; want %v", code, whole, is, want)
		}
	}
}

// Constants are known as far as they are the same on all ways.
func TestConstants(t *testing.T) {
	const (
		none, one, other = "\x90", "\xb9\x01\x00\x00\x00", "\xb9\x02\x00\x00\x00" // mov to %ecx
		clear, copies    = "\x31\xc9", "\x89\xd9"                                 // xor %ecx, %ecx; mov %ebx, %ecx
		saved            = "\xbb\x01\x00\x00\x00"                                 // mov $1, %ebx
		call             = "\xe8\x00\x00\x00\x00"
		table            = "\x48\x8b\x0d\x10\x00\x00\x00" // mov 16(%rip), %rcx
	)
	branch := [][]int32{{1, 2}, {3}, {3}, {}}
	line := [][]int32{{1}, {2}, {3}, {}}
	for _, c := range []struct {
		name   string
		blocks [4]string
		succ   [][]int32
		known  knowledge
		from   uint64
	}{
		{"nothing", [4]string{none, none, none, none}, line, unknown, 0},
		{"far in front", [4]string{one, none, none, none}, line, nonzero, 0},
		{"overwritten", [4]string{one, clear, none, none}, line, zero, 0},
		{"behind a call", [4]string{one, call, none, none}, line, unknown, 0},
		{"a register that a call keeps", [4]string{saved, call, copies, none}, line, nonzero, 0},
		{"the same on both ways", [4]string{none, one, other, none}, branch, nonzero, 0},
		{"on one way", [4]string{none, one, clear, none}, branch, unknown, 0},
		{"from a table", [4]string{table, none, none, none}, line, unknown, 0x1000 + 7 + 16},
		{"from nowhere, but by what pads", [4]string{one, none, none, none}, [][]int32{{3}, {2}, {3}, {}},
			nonzero, 0},
		{"from where an exception leads", [4]string{one, clear, none, none}, [][]int32{{3}, {2}, {3}, {}},
			unknown, 0},
	} {
		var blocks []Code
		for i, code := range c.blocks {
			blocks = append(blocks, Code{Addr: 0x1000 * uint64(i+1), Insts: decoded(t, code)})
		}
		k := Known(blocks, c.succ)[3]
		if got := k.From(blocks[3], x86.RCX); k[x86.RCX].known != c.known || got != c.from {
			t.Errorf("%s: known %d from %#x, want %d from %#x", c.name, k[x86.RCX].known, got, c.known, c.from)
		}
	}
}
