package sim

import (
	"math/rand"
	"sort"
	"testing"

	"lime/internal/x86"
)

func TestFunctionTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range functions() {
		if f.name == "" || f.source == "" || seen[f.name] {
			t.Errorf("row %+v lacks a name or a source, or is there twice", f)
		}
		seen[f.name] = true
		if f.role >= roles || enterings()[f.role] == nil {
			t.Errorf("%s: nothing happens when it is entered", f.name)
		}
		if f.arg < none || f.arg > 5 || f.arg2 < none || f.arg2 > 5 {
			t.Errorf("%s: arguments %d, %d", f.name, f.arg, f.arg2)
		}
	}
	if f := byName([]string{"step_end"})["step_end"]; f == nil || f.role != roleSectionEnd {
		t.Error("a declared section end is not in the table")
	}
	if byName(nil)["__pthread_mutex_lock"] == nil {
		t.Error("static programs call __pthread_mutex_lock")
	}
}

// The core that runs next is always the one with the lowest clock, then the lowest number; every
// ready thread gets a core as soon as one is free.
func TestCores(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 200 {
		n := 1 + rng.Intn(6)
		c := newCores(n, 1000)
		for range 1 + rng.Intn(10) {
			c.place(&thread{lastCore: -1, readyAt: uint64(rng.Intn(100))})
		}
		for range 100 {
			k := c.next()
			if k == nil {
				break
			}
			checkOrder(t, c, k)
			step(rng, c, k)
		}
	}
}

func checkOrder(t *testing.T, c *cores, k *core) {
	t.Helper()
	var busy []*core
	for i := range c.all {
		if c.all[i].busy != nil {
			busy = append(busy, &c.all[i])
		}
	}
	sort.SliceStable(busy, func(i, j int) bool { return busy[i].clock < busy[j].clock })
	if busy[0] != k {
		t.Fatalf("core %d at %d runs, core %d is at %d", k.n, k.clock, busy[0].n, busy[0].clock)
	}
	if len(busy) < len(c.all) && len(c.ready) > 0 {
		t.Fatal("a core is idle while threads wait")
	}
	if !c.first(k) {
		t.Fatal("the core that runs next does not think so")
	}
	if clock, other := c.behind(k); len(busy) > 1 && (other == nil || clock != busy[1].clock) {
		t.Fatalf("the next one is at %d, not %d", busy[1].clock, clock)
	}
}

// step lets the thread of core k work, and sometimes block or be preempted.
func step(rng *rand.Rand, c *cores, k *core) {
	k.clock += uint64(1 + rng.Intn(500))
	c.moved(k)
	switch th := k.busy; rng.Intn(4) {
	case 0:
		at := k.clock
		c.release(th)
		th.readyAt = at + uint64(rng.Intn(1000))
		c.place(th)
	case 1:
		c.yield(k)
	}
}

// What spin loops may hold, as bytes.
func TestHarmless(t *testing.T) {
	for _, c := range []struct {
		code string
		name string
		want bool
	}{
		{"\x8b\x05\x00\x00\x00\x00", "mov eax, [rip]", true},
		{"\xf3\x90", "pause", true},
		{"\x89\x07", "mov [rdi], eax", false},
		{"\x89\x45\xfc", "mov [rbp-4], eax", true},
		{"\x87\x07", "xchg [rdi], eax", true},
		{"\xf0\x0f\xb1\x0f", "lock cmpxchg [rdi], ecx", true},
		{"\xf0\x0f\xc1\x07", "lock xadd [rdi], eax", false},
		{"\xf3\x48\xab", "rep stosq", false},
		{"\x66\x0f\xef\xc0", "pxor xmm0, xmm0", false},
		{"\xe8\x00\x00\x00\x00", "call", true},
		{"\x55", "push rbp", true},
	} {
		var in x86.Inst
		if err := x86.Decode([]byte(c.code), &in); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := harmless(&in); got != c.want {
			t.Errorf("%s: harmless %v, want %v", c.name, got, c.want)
		}
	}
}

// Register values followed through a block, without memory.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		code string
		name string
		reg  int
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
		{"\x48\x0f\xaf\xc1", "imul rax, rcx", rax, 0, false},
	} {
		var in x86.Inst
		if err := x86.Decode([]byte(c.code), &in); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		v := values{known: 0xffff}
		v.gpr[rax], v.gpr[rcx] = 7, 10
		v.effect(&in, 0x1000)
		got, ok := v.reg(x86.Reg(c.reg))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
