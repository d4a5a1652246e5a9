package native

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"lime/internal/collect/native/hook"
	"lime/internal/profile"
	"lime/internal/unwind"
)

// Loop tests as compilers write them, and how much is left of their loops.
func TestLoopTests(t *testing.T) {
	var regs unwind.Regs // rax = 3, rdx = 10, rbx = 7
	regs[0], regs[1], regs[3], regs[unwind.RSP] = 3, 10, 7, 0x1000
	mem := stackMemory(0x1000, []byte{0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 9, 9, 9, 9})
	for _, c := range []struct {
		name string
		code []byte
		leaf bool
		left uint64
		ok   bool
	}{
		{"add eax,1; cmp eax,edx; jne", []byte{0x83, 0xc0, 0x01, 0x39, 0xd0, 0x75, 0xf9}, true, 7, true},
		{"the same in a caller, whose eax is not known", []byte{0x83, 0xc0, 0x01, 0x39, 0xd0, 0x75, 0xf9}, false, 0, false},
		{"sub ebx,1; jne", []byte{0x83, 0xeb, 0x01, 0x75, 0xfb}, false, 7, true},
		{"cmp rbx,500; jne", []byte{0x48, 0x81, 0xfb, 0xf4, 0x01, 0, 0, 0x75, 0xf7}, false, 493, true},
		{"cmp [rsp+8],ebx; jg", []byte{0x39, 0x5c, 0x24, 0x08, 0x7f, 0xfa}, false, 13, true},
		{"mov eax,[rsp+8]; cmp eax,ebx; jl, in a caller", []byte{0x8b, 0x44, 0x24, 0x08, 0x39, 0xd8, 0x7c, 0xf6}, false, 13, true},
		{"mov eax,[rsp+8]; xor eax,eax; cmp eax,ebx; jl, in a caller",
			[]byte{0x8b, 0x44, 0x24, 0x08, 0x31, 0xc0, 0x39, 0xd8, 0x7c, 0xf4}, false, 0, false},
		{"test rbx,rbx; jne", []byte{0x48, 0x85, 0xdb, 0x75, 0xfb}, true, 0, false},
		{"cmp static,ebx; jg", []byte{0x39, 0x1d, 0, 0x10, 0, 0, 0x7f, 0xf8}, true, 0, false},
	} {
		n := uint64(len(c.code))
		b := &block{addr: 0x400000, end: 0x400000 + n, last: 0x400000 + n - 2, kind: profile.EndCond}
		test := comparison(b, c.code)
		if test == nil {
			if c.ok {
				t.Errorf("%s: no comparison is seen", c.name)
			}
			continue
		}
		if left, ok := test.left(&regs, mem, c.leaf); ok != c.ok || ok && left != c.left {
			t.Errorf("%s: left %d, %v; want %d, %v", c.name, left, ok, c.left, c.ok)
		}
	}
}

// The time on a CPU, and off it within a time.
func TestOnCPU(t *testing.T) {
	var c onCPU
	for _, s := range []struct {
		at uint64
		in bool
	}{{100, true}, {150, false}, {200, true}, {260, false}, {300, true}} {
		if s.in {
			c.in(s.at, rest{})
		} else {
			c.out(s.at, true)
		}
	}
	if got := c.at(310); got != 120 {
		t.Errorf("on a CPU for %d, want 120", got)
	}
	if got := c.offIn(180, 270); got != 30 {
		t.Errorf("off for %d between 180 and 270, want 30", got)
	}
}

// Items come out in the order of time, and none before those that may still come.
func TestStream(t *testing.T) {
	var s stream
	for _, at := range []uint64{5, 1, 9, 3} {
		s.add(item{at: at})
	}
	var got []uint64
	s.take(6, func(x *item) { got = append(got, x.at) })
	s.add(item{at: 7})
	s.take(100, func(x *item) { got = append(got, x.at) })
	for i, want := range []uint64{1, 3, 5, 7, 9} {
		if i >= len(got) || got[i] != want {
			t.Fatalf("order %v", got)
		}
	}
}

// The records of hooks lie in their ring until they are handed out; the first that waits says how
// much of it may be written over.
func TestStreamOfHooks(t *testing.T) {
	var s stream
	s.hooks = func(number uint64) hook.Record { return hook.Record{Index: number} }
	for number, at := range []uint64{4, 9, 2, 8} {
		s.addHook(at, uint64(number))
	}
	s.add(item{at: 3})
	var got []uint64
	visit := func(x *item) {
		if x.hook != nil {
			got = append(got, x.hook.Index)
		}
	}
	s.take(5, visit)
	if !slices.Equal(got, []uint64{2, 0}) || s.first != 2 {
		t.Errorf("handed out %v, the first that waits is %d; want the records 2 and 0, and 1 (told as 2) to wait", got, s.first)
	}
	s.take(9, visit)
	s.dropHooks()
	s.take(10, visit)
	if !slices.Equal(got, []uint64{2, 0, 3}) || s.first != 0 || len(s.items) != 0 {
		t.Errorf("handed out %v, %d items wait, the first is %d; want 2, 0, 3 and none", got, len(s.items), s.first)
	}
}

// A check of bounds, which leads to a call that never returns, decides over no iteration of a loop,
// wherever the compiler has put it, and however that function is called.
func TestChecksAreNoLoopTests(t *testing.T) {
	for name, row := range map[string]struct{ program, part string }{
		"Go":                 {buildGo(t), "main."},
		"Rust":               {rust(t, "checked.rs"), "checked"},
		"C":                  {build(t, checkedC), "total"},
		"C without a table":  {build(t, checkedC, "-fno-plt"), "total"},
		"C at a fixed place": {build(t, checkedC, "-no-pie", "-fno-plt"), "total"},
		"C, all in one file": {build(t, checkedC, "-static"), "total"},
	} {
		t.Run(name, func(t *testing.T) { checksAreNoTests(t, row.program, row.part) })
	}
}

const checkedC = `
#include <assert.h>
#include <stdlib.h>
__attribute__((noipa)) int total(const int *a, int n, int most) {
	int s = 0;
	for (int i = 0; i < n; i++) {
		assert(i < most);
		s += a[i];
	}
	return s;
}
int main(int n, char **v) { int a[4] = {1, 2, 3, 4}; return total(a, n, 4); }
`

func checksAreNoTests(t *testing.T, program, part string) {
	c, _ := codeOf(t, program)
	loops, checks := 0, 0
	for _, s := range functions(t, program) {
		if !strings.Contains(s.Name, part) || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		f := c.look(s.Value).fn
		p := flow(f)
		for l := range p.Loops {
			test := p.Loops[l].Test
			fails := func(v int32) bool {
				return slices.ContainsFunc(p.Succ[v], func(w int32) bool { return f.blocks[w].kind == profile.EndOther })
			}
			for v := range p.Loops[l].Body {
				checks += map[bool]int{true: 1}[fails(v)]
			}
			if loops++; test >= 0 && fails(test) {
				t.Errorf("%s: the test of a loop at %#x is the check at %#x", s.Name, f.blocks[p.Loops[l].Header].addr, f.blocks[test].last)
			}
		}
	}
	if loops == 0 || checks == 0 {
		t.Errorf("%d loops with %d checks", loops, checks)
	}
}

// A jump through one word of the image leads out of the function: to the linkage table of the dynamic
// linker, whose entries are such jumps and jumps back to its first one, it would be a loop for each
// entry, and an edge from each to each. A jump through a table leads to what nothing else leads to.
func TestJumpsThroughWords(t *testing.T) {
	const entries = 3
	table := []byte{0xff, 0x35, 0, 0x10, 0, 0, 0xff, 0x25, 0, 0x10, 0, 0, 0x0f, 0x1f, 0x40, 0} // push word; jmp *word; nop
	for i := range entries {
		back := byte(0x100 - 16*(i+2))
		table = append(table, 0xff, 0x25, byte(8*i), 0x10, 0, 0, 0x68, byte(i), 0, 0, 0, 0xe9, back, 0xff, 0xff, 0xff)
	}
	ofTable := []byte{0xff, 0x24, 0xc5, 0, 0, 0x40, 0, 0x90, 0xc3} // jmp *table(,%rax,8); nop; ret
	for _, row := range []struct {
		name  string
		code  []byte
		jumps int // through a word, or a table
		to    int // blocks each leads to
	}{
		{"linkage table", table, entries + 1, 0},
		{"table of a switch", ofTable, 1, 1},
	} {
		f := &function{blocks: cut(row.code, 0x400000)}
		p, jumps := flow(f), 0
		for i, b := range f.blocks {
			if b.kind != profile.EndJumpInd {
				continue
			}
			if jumps++; len(p.Succ[i]) != row.to {
				t.Errorf("%s: the jump at %#x leads to %v, want %d blocks", row.name, b.addr, p.Succ[i], row.to)
			}
		}
		if jumps != row.jumps || len(p.Loops) != 0 {
			t.Errorf("%s: %d jumps and loops %+v; want %d jumps and no loop", row.name, jumps, p.Loops, row.jumps)
		}
	}
}
