package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	syscpu "golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"lime/internal/cpu"
	"lime/internal/testenv"
	"lime/internal/x86"
)

// allModes runs f in every mode.
func allModes(t *testing.T, f func(t *testing.T, cfg Config)) {
	for _, mode := range []Mode{Plain, Count, Trace} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) { f(t, Config{Mode: mode}) })
	}
}

// TestPrograms runs small programs to their syscall and looks at RAX.
func TestPrograms(t *testing.T) {
	rows := []struct {
		name, src string
		rax       uint64
	}{
		{"rip-relative load", "mov rax, [rip+x]; syscall; x: .quad 0x1122334455667788", 0x1122334455667788},
		{"rip-relative with immediate", "cmp dword ptr [rip+x], 77; sete al; movzx eax, al; syscall; x: .long 77", 1},
		{"rip-relative lea", "lea rax, [rip+x]; mov rax, [rax]; syscall; x: .quad 42", 42},
		{"fs load", "mov rax, fs:[0x28]; syscall", 0x1000},
		{"fs load by base and index", "mov ecx, 2; mov edx, 8; mov rax, fs:[rdx+rcx*8+0x10]; syscall", 0x1000},
		{"fs store, all registers in use", "mov rax, 5; mov fs:[0x80], rax; mov rbx, fs:[0x80]; mov eax, ebx; syscall", 5},
		{"fs with r13", "mov r13d, 0x20; mov rax, fs:[r13+8]; syscall", 0x1000},
		{"gs load", "mov rax, gs:[0x10]; syscall", 0x2000},
		{"rdfsbase", "rdfsbase rax; mov rax, [rax+0x28]; syscall", 0x1000},
		{"wrgsbase", "mov r9d, 0x61000800; wrgsbase r9; mov rax, gs:[0x10]; syscall", 0x3000},
		{"vector load by fs", "vmovq xmm9, fs:[0x28]; vmovq rax, xmm9; syscall", 0x1000},
		{"evex load by fs", "mov r14d, 8; vmovdqu64 ymm1, fs:[r14+0x20]; vmovq rax, xmm1; syscall", 0x1000},
		{"jump through a register", "lea rcx, [rip+1f]; jmp rcx; ud2; 1: mov eax, 9; syscall", 9},
		{"jump table", "mov ecx, 2; lea rdx, [rip+t]; jmp [rdx+rcx*8]; a: ud2; b: mov eax, 3; syscall; t: .quad a, a, b", 3},
		{"call through memory", "call [rip+p]; add eax, 1; syscall; f: mov eax, 6; ret; p: .quad f", 7},
		{"call through rsp-relative memory", "lea rax, [rip+f]; push rax; call [rsp]; add eax, 1; syscall; f: mov eax, 6; ret", 7},
		{"call through fs", "lea rax, [rip+f]; mov fs:[0x40], rax; call fs:[0x40]; add eax, 1; syscall; f: mov eax, 6; ret", 7},
		{"call rax keeps rax and rcx", "lea rax, [rip+f]; mov ecx, 4; call rax; add eax, ecx; syscall; f: lea rdx, " +
			"[rip+f]; sub rax, rdx; ret", 4},
		{"return address is original", "call 1f; 1: pop rax; syscall", guestCode + 5},
		{"ret imm16", "mov rbx, rsp; push 1; push 2; call f; sub rbx, rsp; mov rax, rbx; syscall; f: ret 16", 0},
		{"loop", "mov ecx, 7; xor eax, eax; 1: add eax, 2; loop 1b; syscall", 14},
		{"loopne", "mov ecx, 7; xor eax, eax; 1: inc eax; cmp eax, 3; loopne 1b; syscall", 3},
		{"jrcxz", "xor ecx, ecx; mov eax, 1; jrcxz 1f; mov eax, 2; 1: syscall", 1},
		{"jecxz with prefix", "mov rcx, 0x100000000; mov eax, 1; jecxz 1f; mov eax, 2; 1: syscall", 1},
		{"carry chain across blocks", `mov ecx, 70; xor eax, eax; xor ebx, ebx
			1: adc rax, 0; lea rdx, [rax-5]; stc; dec ecx; jnz 1b; setc bl; add rax, rbx; syscall`, 70},
		{"flags across a call", "mov eax, 1; cmp eax, 1; call f; sete al; movzx eax, al; syscall; f: mov ebx, 3; ret", 1},
		{"red zone", "mov qword ptr [rsp-8], 5; mov qword ptr [rsp-128], 6; jmp 1f; 1: mov rax, [rsp-8]; add rax, [rsp-128]; syscall", 11},
		{"rep movsb is one", "lea rsi, [rip+s]; mov edi, 0x61000200; mov ecx, 9; rep movsb; mov rax, [0x61000200]; " +
			"syscall; s: .ascii \"abcdefghi\"", 0x6867666564636261},
		{"xbegin aborts", "mov eax, 5; xbegin 1f; mov eax, 9; 1: add eax, 2; syscall", 2},
		{"cmpxchg16b", "xor eax, eax; xor edx, edx; mov ebx, 7; xor ecx, ecx; lock cmpxchg16b [rip+x]; mov rax, " +
			"[rip+x]; syscall; .balign 16; x: .quad 0,0", 7},
		{"retpoline", "call 1f; 2: pause; jmp 2b; 1: lea rax, [rip+3f]; mov [rsp], rax; ret; 3: mov eax, 8; syscall", 8},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if strings.HasPrefix(r.name, "evex") && !syscpu.X86.HasAVX512VL {
				testenv.Skip(t, testenv.NoAVX512)
			}
			allModes(t, func(t *testing.T, cfg Config) {
				m := newMachine(t, cfg, r.src)
				m.setSegments()
				if x := m.Run(m.ctx, 1e6); x.Reason != cpu.ExitSyscall {
					t.Fatalf("exit %+v at %#x", x, m.ctx.RIP)
				}
				if got := m.ctx.GPR[x86.RAX]; got != r.rax {
					t.Errorf("rax %#x, want %#x", got, r.rax)
				}
			})
		})
	}
}

// setSegments puts FS and GS bases into the data area and values there.
func (m *machine) setSegments() {
	m.ctx.FSBase, m.ctx.GSBase = guestData+0x100, guestData+0x400
	binary.LittleEndian.PutUint64(m.data[0x128:], 0x1000)
	binary.LittleEndian.PutUint64(m.data[0x410:], 0x2000)
	binary.LittleEndian.PutUint64(m.data[0x810:], 0x3000)
}

func TestFaults(t *testing.T) {
	rows := []struct {
		name, src string

		at   uint64
		want cpu.Exit
	}{
		{name: "load from nil", src: "nop; mov rbx, 3; mov rax, [0x10]; syscall", at: 8,
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 0x10, Trapno: 14, ErrNo: 4}},
		{name: "fs load with a spilled register", src: "mov eax, 0x1234; mov rbx, fs:[rdx]; syscall", at: 5,
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 0x10, Trapno: 14, ErrNo: 4}},
		{name: "push", src: "mov rsp, 16; push rax; syscall", at: 7,
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 8, Trapno: 14, ErrNo: 6}},
		{name: "call", src: "mov rsp, 16; call 1f; 1: syscall", at: 7,
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 8, Trapno: 14, ErrNo: 6}},
		{name: "ret", src: "mov rsp, 16; ret", at: 7,
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 16, Trapno: 14, ErrNo: 4}},
		{name: "indirect call, target", src: "nop; call [rdx]", at: 1,
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 0, Trapno: 14, ErrNo: 4}},
		{name: "indirect call, stack", src: "mov rsp, 16; call rdi", at: 7,
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 8, Trapno: 14, ErrNo: 6}},
		{name: "division by nil", src: "xor ecx, ecx; div ecx", at: 2,
			want: cpu.Exit{Signal: 8, Code: 1, Addr: guestCode + 2, Trapno: 0}},
		{name: "ud2", src: "nop; ud2", at: 1,
			want: cpu.Exit{Signal: 4, Code: 2, Addr: guestCode + 1, Trapno: 6}},
		{name: "int3", src: "nop; int3", at: 2, want: cpu.Exit{Signal: 5, Code: 0x80, Trapno: 3}},
		{name: "hlt", src: "nop; hlt", at: 1, want: cpu.Exit{Signal: 11, Code: 0x80, Trapno: 13}},
		{name: "not canonical", src: "mov rax, 0x1000000000000000; mov rax, [rax]", at: 10,
			want: cpu.Exit{Signal: 11, Code: 0x80, Trapno: 13}},
		{name: "jump to nowhere", src: "mov eax, 0x1000; jmp rax", at: (1<<64 + 0x1000 - guestCode) & (1<<64 - 1),
			want: cpu.Exit{Signal: 11, Code: segvMapErr, Addr: 0x1000, Trapno: 14, ErrNo: 0x14}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			allModes(t, func(t *testing.T, cfg Config) {
				m := newMachine(t, cfg, r.src)
				m.ctx.FSBase = 0x10
				m.ctx.GPR[x86.RAX], m.ctx.GPR[x86.RCX] = 0x77, 0x88
				m.ctx.GPR[x86.RDI] = guestCode
				before := m.ctx.GPR
				x := m.Run(m.ctx, 1e6)
				r.want.Reason = cpu.ExitFault
				if x != r.want {
					t.Errorf("exit %+v, want %+v", x, r.want)
				}
				m.want(t, x, cpu.ExitFault, guestCode+r.at)
				if !strings.Contains(r.src, "ecx") && m.ctx.GPR[x86.RCX] != before[x86.RCX] {
					t.Errorf("rcx %#x", m.ctx.GPR[x86.RCX])
				}
				if !strings.Contains(r.src, "eax") && !strings.Contains(r.src, "rax,") && m.ctx.GPR[x86.RAX] != before[x86.RAX] {
					t.Errorf("rax %#x", m.ctx.GPR[x86.RAX])
				}
			})
		})
	}
}

func TestFaultRetired(t *testing.T) {
	m := newMachine(t, Config{Mode: Count}, "mov eax, 1; nop; nop; mov rcx, [0x10]; nop; syscall")
	m.want(t, m.Run(m.ctx, 1e6), cpu.ExitFault, guestCode+7)
	if got := m.Retired(m.ctx); got != 3 {
		t.Errorf("retired %d before the fault, want 3", got)
	}
	m.ctx.RIP += 8
	m.want(t, m.Run(m.ctx, 1e6), cpu.ExitSyscall, guestCode+7+8+3)
	if got := m.Retired(m.ctx); got != 5 {
		t.Errorf("retired %d, want 5", got)
	}
}

func TestEmulated(t *testing.T) {
	rows := map[string]int{"cpuid": 2, "rdtsc": 2, "rdtscp": 3, "rdpid rax": 4, "rdrand eax": 3, "rdseed rax": 4, "xgetbv": 3}
	for src, length := range rows {
		t.Run(src, func(t *testing.T) {
			m := newMachine(t, Config{Mode: Count}, "nop; "+src+"; nop; syscall")
			x := m.Run(m.ctx, 1e6)
			m.want(t, x, cpu.ExitEmulate, guestCode+1)
			if x.Len != length {
				t.Errorf("length %d, want %d", x.Len, length)
			}
			m.ctx.RIP += uint64(x.Len)
			m.want(t, m.Run(m.ctx, 1e6), cpu.ExitSyscall, guestCode+1+uint64(length)+3)
			if got := m.Retired(m.ctx); got != 4 {
				t.Errorf("retired %d, want 4", got)
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	for _, src := range []string{"int 0x80", "mov ds, eax", "iretq", "pop fs"} {
		m := &machine{}
		t.Run(src, func(t *testing.T) {
			m = newMachine(t, Config{}, "nop; "+src)
			x := m.Run(m.ctx, 1e6)
			m.want(t, x, cpu.ExitUnsupported, guestCode+1)
			if !errors.Is(x.Err, ErrInstruction) {
				t.Errorf("error %v", x.Err)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	allModes(t, func(t *testing.T, cfg Config) {
		m := newMachine(t, cfg, "xor eax, eax; mov ecx, 5; 1: inc eax; inc eax; dec ecx; jnz 1b; syscall")
		probe := uint64(guestCode + 2 + 5 + 2) // the second inc
		m.SetProbe(probe)
		for i := 1; i <= 5; i++ {
			m.want(t, m.Run(m.ctx, 1e6), cpu.ExitProbe, probe)
			if got := m.ctx.GPR[x86.RAX]; got != uint64(2*i-1) {
				t.Fatalf("probe %d: eax %d", i, got)
			}
			if i == 3 {
				m.ClearProbe(probe)
				break
			}
		}
		m.want(t, m.Run(m.ctx, 1e6), cpu.ExitSyscall, guestCode+17)
		if m.ctx.GPR[x86.RAX] != 10 || m.Retired(m.ctx) != 2+5*4+1 {
			t.Errorf("eax %d, retired %d", m.ctx.GPR[x86.RAX], m.Retired(m.ctx))
		}
	})
}

func TestProbeSetWhileRunning(t *testing.T) {
	m := newMachine(t, Config{Mode: Count}, "1: inc eax; inc ebx; jmp 1b")
	m.want(t, m.Run(m.ctx, 300), cpu.ExitBudget, guestCode)
	m.SetProbe(guestCode + 2)
	m.want(t, m.Run(m.ctx, 300), cpu.ExitProbe, guestCode+2)
	if m.Retired(m.ctx) != 301 {
		t.Errorf("retired %d", m.Retired(m.ctx))
	}
	m.want(t, m.Run(m.ctx, 300), cpu.ExitProbe, guestCode+2)
	m.ClearProbe(guestCode + 2)
	if x := m.Run(m.ctx, 300); x.Reason != cpu.ExitBudget {
		t.Errorf("exit %+v", x)
	}
}

func TestInvalidate(t *testing.T) {
	allModes(t, func(t *testing.T, cfg Config) {
		m := newMachine(t, cfg, "1: call f; cmp eax, 2; jne 1b; syscall; f: mov eax, 1; ret")
		m.Run(m.ctx, 1000)
		f := guestCode + 5 + 3 + 2 + 2
		if m.code[f-guestCode] != 0xb8 {
			t.Fatalf("f is not at %#x", f)
		}
		m.code[f-guestCode+1] = 2
		if x := m.Run(m.ctx, 1000); x.Reason != cpu.ExitBudget {
			t.Fatalf("exit %+v before invalidation", x)
		}
		m.Invalidate(uint64(f), uint64(f)+1)
		if x := m.Run(m.ctx, 1000); x.Reason != cpu.ExitSyscall {
			t.Fatalf("exit %+v after invalidation", x)
		}
	})
}

// TestPauseIsNotExecuted: the host's threads do not wait for one another, and a pause takes as long
// as a hundred other instructions.
func TestPauseIsNotExecuted(t *testing.T) {
	allModes(t, func(t *testing.T, cfg Config) {
		m := newMachine(t, cfg, "mov ecx, 1000; 1: pause; pause; dec ecx; jnz 1b; syscall")
		if x := m.Run(m.ctx, 1e6); x.Reason != cpu.ExitSyscall || m.Retired(m.ctx) != 4002 {
			t.Errorf("exit %+v, %d instructions", x, m.Retired(m.ctx))
		}
		for _, b := range m.order {
			if code := bytesAt(b.host, int(b.hostHi-b.host)); bytes.Contains(code, []byte{0xf3, 0x90}) {
				t.Errorf("the translation of %#x holds a pause: % x", b.pc, code)
			}
		}
	})
}

// writable says that all memory is writable code.
func writable(pc uint64) (Range, bool) {
	for _, r := range []Range{{Lo: guestCode, Hi: guestCode + 8192}, {Lo: guestData, Hi: guestData + dataSize}} {
		if r.Lo <= pc && pc < r.Hi {
			r.Exec, r.Write = true, true
			return r, true
		}
	}
	return Range{}, false
}

func TestSelfModifying(t *testing.T) {
	allModes(t, func(t *testing.T, cfg Config) {
		cfg.Lookup = writable
		m := newMachine(t, cfg, `
			xor ebx, ebx
			mov ecx, 5
		1:	call f
			add ebx, eax
			inc dword ptr [rip+f+1]
			dec ecx
			jnz 1b
			syscall
			nop; nop
		f:	mov eax, 1
			ret`)
		x := m.Run(m.ctx, 1e6)
		if x.Reason != cpu.ExitSyscall || m.ctx.GPR[x86.RBX] != 15 {
			t.Errorf("exit %+v, sum %d", x, m.ctx.GPR[x86.RBX])
		}
		if got := m.Retired(m.ctx); got != 2+5*7+1 {
			t.Errorf("retired %d", got)
		}
	})
}

// TestTwin writes code through another map of the same memory.
func TestTwin(t *testing.T) {
	const twin = 0x62000000
	allModes(t, func(t *testing.T, cfg Config) {
		cfg.Lookup = func(pc uint64) (Range, bool) {
			return Range{Lo: guestCode, Hi: guestCode + pageSize, Exec: true,
				Twins: []Twin{{Lo: guestCode, Hi: guestCode + pageSize, At: twin}}}, pc >= guestCode && pc < guestCode+pageSize
		}
		m := newMachine(t, cfg, `
			xor ebx, ebx
			mov ecx, 5
		1:	call f
			add ebx, eax
			inc dword ptr [f+1+0x2000000]
			dec ecx
			jnz 1b
			syscall
		f:	mov eax, 1
			ret`)
		fd, err := unix.MemfdCreate("code", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if _, err := unix.Pwrite(fd, m.code[:pageSize], 0); err != nil {
			t.Fatal(err)
		}
		for _, at := range []uintptr{guestCode, twin} {
			const mapFixed = 0x10
			if _, _, e := syscall.Syscall6(syscall.SYS_MMAP, at, pageSize, 3, unix.MAP_SHARED|mapFixed, uintptr(fd), 0); e != 0 {
				t.Fatal(e)
			}
			defer syscall.Syscall(syscall.SYS_MUNMAP, at, pageSize, 0)
		}
		if x := m.Run(m.ctx, 1e6); x.Reason != cpu.ExitSyscall || m.ctx.GPR[x86.RBX] != 15 {
			t.Errorf("exit %+v, sum %d", x, m.ctx.GPR[x86.RBX])
		}
	})
}

func TestInvalidateMakesWritable(t *testing.T) {
	m := newMachine(t, Config{Lookup: writable}, "1: mov eax, 1; jmp 1b")
	m.Run(m.ctx, 100)
	m.Invalidate(guestCode, guestCode+pageSize)
	m.code[1] = 7
	m.Run(m.ctx, 100)
	if m.ctx.GPR[x86.RAX] != 7 {
		t.Errorf("eax %d", m.ctx.GPR[x86.RAX])
	}
}

func TestNotExecutable(t *testing.T) {
	lookup := func(pc uint64) (Range, bool) {
		r, ok := writable(pc)
		r.Exec = pc < guestData
		return r, ok
	}
	m := newMachine(t, Config{Lookup: lookup}, "mov eax, 0x61000000; jmp rax")
	x := m.Run(m.ctx, 100)
	m.want(t, x, cpu.ExitFault, guestData)
	if x.Code != segvAccErr || x.Signal != int(syscall.SIGSEGV) {
		t.Errorf("exit %+v", x)
	}
}

// TestHighCode runs code above 4 GB, where RIP-relative operands and return
// addresses do not fit into 32 bits.
func TestHighCode(t *testing.T) {
	const high = 0x7e0000000000
	src := `
		mov ecx, 3
	1:	call f
		mov rdx, [rip+p]
		call rdx
		cmp qword ptr [rip+p], 0
		je 2f
		dec ecx
		jnz 1b
	2:	lea rbx, [rip+p]
		syscall
	f:	add rax, [rip+v]
		ret
	v:	.quad 5
	p:	.quad f`
	allModes(t, func(t *testing.T, cfg Config) {
		code := assemble(t, src, high)
		m := newMachine(t, cfg, "nop")
		mapGuest(t, high, pageSize, code)
		m.ctx.RIP = high
		x := m.Run(m.ctx, 1e6)
		if x.Reason != cpu.ExitSyscall || m.ctx.GPR[x86.RAX] != 30 || m.ctx.GPR[x86.RBX]>>32 != high>>32 {
			t.Errorf("exit %+v at %#x, rax %d, rbx %#x", x, m.ctx.RIP, m.ctx.GPR[x86.RAX], m.ctx.GPR[x86.RBX])
		}
	})
}

func TestSmallCacheFlushes(t *testing.T) {
	// 4,000 functions, called in turn, twice.
	src := "mov r12d, 2\n9: xor eax, eax\n" +
		strings.Repeat("call 1f\njmp 2f\n1: add eax, 1\n"+strings.Repeat("lea rbx, [rbx+1]\n", 40)+"ret\n2:\n",
			8000) + "dec r12d\njnz 9b\nsyscall"
	m := newMachine(t, Config{Mode: Count, CacheBytes: minCache}, src)
	x := m.Run(m.ctx, 1e9)
	if x.Reason != cpu.ExitSyscall || m.ctx.GPR[x86.RAX] != 8000 || m.ctx.GPR[x86.RBX] != 2*8000*40 {
		t.Errorf("exit %+v, rax %d", x, m.ctx.GPR[x86.RAX])
	}
	var calls uint64
	m.Drain(m.ctx, func(id EdgeID, n uint64) {
		if k := m.Edges()[id].Kind; k == EdgeCall {
			calls += n
		} else if k == EdgeReturn {
			calls -= n
		}
	})
	if calls != 0 {
		t.Errorf("%d more calls than returns", int64(calls))
	}
}

func TestTooManyEdges(t *testing.T) {
	m := newMachine(t, Config{Mode: Count, MaxEdges: 20}, strings.Repeat("jmp 1f\n1: nop\n", 40)+"syscall")
	x := m.Run(m.ctx, 1e6)
	if x.Reason != cpu.ExitUnsupported || x.Err == nil || !strings.Contains(x.Err.Error(), "more than 20") {
		t.Errorf("exit %+v", x)
	}
}

func TestClosed(t *testing.T) {
	m := newMachine(t, Config{}, "syscall")
	ctx := m.ctx
	e, err := New(Config{}) // a second engine beside the first
	if err != nil {
		t.Fatal(err)
	}
	if err := e.FreeContext(ctx); err == nil {
		t.Error("freed the context of another engine")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if _, err := e.NewContext(); !errors.Is(err, ErrClosed) {
		t.Errorf("NewContext: %v", err)
	}
	if x := e.Run(ctx, 1); !errors.Is(x.Err, ErrClosed) {
		t.Errorf("Run: %+v", x)
	}
	if _, err := New(Config{CacheBytes: 4096}); err == nil {
		t.Error("an engine with a cache of 4096 bytes")
	}
}

func TestNextCount(t *testing.T) {
	for n := range 40 {
		for at := range n {
			c := make([]uint64, n)
			c[at] = 1
			for from := range n + 1 {
				want := n
				if from <= at {
					want = at
				}
				if got := nextCount(c, from); got != want {
					t.Fatalf("%d counters, one at %d: from %d found %d", n, at, from, got)
				}
			}
		}
	}
}
