package guest

import (
	"strings"
	"testing"

	"lime/internal/cpu"
	"lime/internal/testenv"
)

func TestCPUIDIsTheBaseline(t *testing.T) {
	c := newCPUID(Config{Cores: 6})
	if c.xcr0 != 7 {
		testenv.Skip(t, testenv.NoAVX)
	}
	l0, l1, l7, x1 := c.lookup(0, 0, 0), c.lookup(1, 0, 3), c.lookup(7, 0, 0), c.lookup(0x80000001, 0, 0)
	var vendor [12]byte
	putLE32(vendor[0:], l0[1])
	putLE32(vendor[4:], l0[3])
	putLE32(vendor[8:], l0[2])
	if string(vendor[:]) != cpuVendor {
		t.Errorf("vendor %q", vendor)
	}
	bits := []struct {
		name string
		word uint32
		bit  int
		want bool
	}{ // x86-64-v3 (System V ABI AMD64, table 3.1), and what must be absent
		{"cmov", l1[3], 15, true}, {"cx8", l1[3], 8, true}, {"sse2", l1[3], 26, true}, {"syscall", x1[3], 11, true},
		{"sse3", l1[2], 0, true}, {"ssse3", l1[2], 9, true}, {"cx16", l1[2], 13, true}, {"sse4.1", l1[2], 19, true}, {"sse4.2", l1[2], 20, true},
		{"popcnt", l1[2], 23, true}, {"lahf", x1[2], 0, true}, {"avx", l1[2], 28, true}, {"avx2", l7[1], 5, true}, {"bmi1", l7[1], 3, true},
		{"bmi2", l7[1], 8, true}, {"f16c", l1[2], 29, true}, {"fma", l1[2], 12, true}, {"lzcnt", x1[2], 5, true},
		{"movbe", l1[2], 22, true}, {"osxsave", l1[2], 27, true},
		{"rdrand", l1[2], 30, false}, {"hypervisor", l1[2], 31, false}, {"avx512f", l7[1], 16, false}, {"rtm", l7[1], 11, false},
		{"rdseed", l7[1], 18, false}, {"fsgsbase", l7[1], 0, false},
	}
	for _, b := range bits {
		if got := b.word>>b.bit&1 != 0; got != b.want {
			t.Errorf("%s: %v", b.name, got)
		}
	}
	if id := l1[1] >> 24; id != 3 {
		t.Errorf("apic id %d", id)
	}
	if n := c.lookup(0xb, 1, 0)[1]; n != 6 {
		t.Errorf("%d cores", n)
	}
	sizes := [4]uint32{l1Size, l1Size, l2Size, l3Size}
	for i, want := range sizes {
		v := c.lookup(4, uint32(i), 0)
		if got := (v[1]>>22 + 1) * (v[1]&0xfff + 1) * (v[2] + 1); got != want {
			t.Errorf("cache %d: %d bytes, want %d", i, got, want)
		}
	}
	name := ""
	for leaf := uint32(0x80000002); leaf <= 0x80000004; leaf++ {
		for _, w := range c.lookup(leaf, 0, 0) {
			name += string([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)})
		}
	}
	if strings.TrimRight(name, "\x00") != cpuBrand {
		t.Errorf("brand %q", name)
	}
	if v := c.lookup(0xd, 0, 0); v[0] != 7 || v[1] < 832 {
		t.Errorf("xsave %v", v)
	}
}

func TestCPUIDOfTheHost(t *testing.T) {
	c := newCPUID(Config{Cores: 3, HostCPU: true})
	_, b, _, _ := cpu.CPUID(7, 0)
	if v := c.lookup(7, 0, 0); v[1]&(1<<5) != b&(1<<5) {
		t.Error("AVX2 differs from the host's")
	}
	if v := c.lookup(0xb, 1, 2); v[1] != 3 || v[3] != 2 {
		t.Errorf("topology %v", v)
	}
	if v := c.lookup(1, 0, 0); v[2]>>30&1 != 0 {
		t.Error("rdrand is told, but must be simulated")
	}
}

// TestEmulatedInstructions: bytes as an assembler makes them, the registers before and after.
func TestEmulatedInstructions(t *testing.T) {
	r := newRig(t, 2)
	th := r.p.threads[1]
	run := func(code string) bool {
		t.Helper()
		r.p.mem.write(r.mem, []byte(code))
		th.Ctx.RIP = r.mem
		r.p.HandleEmulate(th, cpu.Exit{Reason: cpu.ExitEmulate, Len: len(code)})
		return th.Ctx.RIP == r.mem+uint64(len(code))
	}
	g := &th.Ctx.GPR
	g[rax], g[rcx] = 0xffffffff_00000000, 0
	if !run("\x0f\xa2") || g[rax] != 0x16 {
		t.Errorf("cpuid: %#x", g[rax])
	}
	if !run("\x0f\x31") || g[rax]|g[rdx]<<32 != uint64(bootTime+1000) {
		t.Errorf("rdtsc: %#x %#x", g[rdx], g[rax])
	}
	if !run("\x0f\x01\xf9") || g[rcx] != 1 {
		t.Errorf("rdtscp: core %d", g[rcx])
	}
	g[rcx] = 0
	if !run("\x0f\x01\xd0") || g[rax] != r.p.cpuid.xcr0 {
		t.Errorf("xgetbv: %#x", g[rax])
	}
	g[r9] = 5
	if !run("\xf3\x41\x0f\xc7\xf9") || g[r9] != 1 { // rdpid r9
		t.Errorf("rdpid: %d", g[r9])
	}
	g[rbx] = ^uint64(0)
	if !run("\x0f\xc7\xf3") || g[rbx]>>32 != 0 || th.Ctx.RFLAGS&1 == 0 { // rdrand ebx
		t.Errorf("rdrand ebx: %#x", g[rbx])
	}
	g[rbx] = 0xabcd0000_00000000
	if !run("\x66\x0f\xc7\xfb") || g[rbx]>>16 != 0xabcd0000_0000 { // rdseed bx
		t.Errorf("rdseed bx: %#x", g[rbx])
	}
	r.handleLater(4) // SIGILL
	if run("\x0f\x01\xc8") || th.Ctx.RIP != handlerPC {
		t.Errorf("monitor: rip %#x", th.Ctx.RIP)
	}
}

func TestXsaveStopsAtTheGuestsComponents(t *testing.T) {
	r := newRig(t, 1)
	if r.p.cpuid.xcr0 != 7 {
		testenv.Skip(t, testenv.NoAVX)
	}
	th := r.p.threads[0]
	g := &th.Ctx.GPR
	for i := range 832 {
		if i < 24 || i >= 160 && i < 416 || i >= 576 {
			th.Ctx.XSave[i] = byte(i*7 + 1)
		}
	}
	putLE64(th.Ctx.XSave[xsaveHeader:], 7)
	want := th.Ctx.XSave
	area := r.mem + pageSize
	for i := range uint64(2 * pageSize / 8) {
		r.p.mem.store64(area+8*i, 0xeeeeeeeeeeeeeeee)
	}
	r.p.mem.store64(area+xsaveHeader, 0)
	r.p.mem.store64(area+xsaveHeader+8, 0)
	exec := func(code string) {
		r.p.mem.write(r.mem, []byte(code))
		th.Ctx.RIP = r.mem
		r.p.HandleEmulate(th, cpu.Exit{Reason: cpu.ExitEmulate, Len: len(code)})
		if th.Ctx.RIP != r.mem+uint64(len(code)) {
			t.Fatalf("%x was not done", code)
		}
	}
	g[rax], g[rdx], g[rsp] = 0xffffffff, 0xffffffff, area-0x40
	exec("\x0f\xae\x64\x24\x40") // xsave 0x40(%rsp)
	if v, _ := r.p.mem.load64(area + 832); v != 0xeeeeeeeeeeeeeeee {
		t.Errorf("wrote past its end: %#x", v)
	}
	resetFP(th.Ctx)
	g[rdi], g[rcx] = area-0x1000-0x10, 0x200
	exec("\x48\x0f\xae\xac\xcf\x10\x00\x00\x00") // xrstor64 0x10(%rdi,%rcx,8)
	if th.Ctx.XSave != want {
		for i := range want {
			if th.Ctx.XSave[i] != want[i] {
				t.Fatalf("byte %d: %#x, want %#x", i, th.Ctx.XSave[i], want[i])
			}
		}
	}
	g[rax], g[rdx] = 4, 0
	r.p.mem.store64(area+xsaveHeader, 0)
	exec("\x48\x0f\xae\xac\xcf\x10\x00\x00\x00")
	if th.Ctx.XSave[600] != 0 || th.Ctx.XSave[170] != want[170] {
		t.Error("restoring the upper halves alone went wrong")
	}
}
