package engine

import (
	"fmt"
	"testing"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// logged is one block of a log.
type logged struct {
	pc    uint64
	cut   int
	words []uint64
}

// logs cuts the log of the last run into blocks.
func (m *machine) logs(t testing.TB) (out []logged) {
	t.Helper()
	log := m.Log(m.ctx)
	for len(log) > 0 {
		id, cut := LogWord(log[0])
		s := m.Logged(id)
		n := s.Words
		if cut >= 0 && s.Repeat == nil {
			n = 0
			for k := range s.Accesses {
				if s.Accesses[k].Inst < cut {
					n += s.Accesses[k].Words()
				}
			}
		}
		out = append(out, logged{m.Blocks()[id].PC, cut, log[1 : 1+n]})
		log = log[1+n:]
	}
	return out
}

// TestLog runs small programs and looks at the words that they leave.
func TestLog(t *testing.T) {
	const d, sp = guestData, guestData + dataSize
	all := "mov r8, rax; mov r9, rcx; mov r10, rdx; mov r11, rbx; mov r12, rsi; mov r13, rdi; mov r14, rbp; mov r15, rsp; "
	for _, row := range []struct {
		name, src string
		want      [][]uint64 // block by block
	}{
		{"load and store", "mov eax, 0x61000000; mov rbx, [rax+8]; mov byte ptr [rax+0x10], 7; syscall", [][]uint64{{d + 8, d + 0x10, 0, 7}}},
		{"the value before", "mov eax, 0x61000000; mov dword ptr [rax], -1; mov word ptr [rax+1], 5; syscall",
			[][]uint64{{d, 0, 0xffffffff, d + 1, 0xffff, 5}}},
		{"add to memory", "mov eax, 0x61000000; mov qword ptr [rax], 3; add qword ptr [rax], 5; syscall", [][]uint64{{d, 0, 3, d, 3, 8}}},
		{"the base is overwritten", "mov eax, 0x61000000; mov ecx, 1; xadd [rax], rax; syscall", [][]uint64{{d, 0, d}}},
		{"vector", "mov eax, 0x61000000; mov rcx, -1; vmovq xmm1, rcx; vmovdqu [rax], ymm1; syscall",
			[][]uint64{{d, 0, 0, 0, 0, ^uint64(0), 0, 0, 0}}},
		{"x87", "mov eax, 0x61000000; fld1; fstp tbyte ptr [rax]; syscall", [][]uint64{{d, 0, 0, 1 << 63, 0x3fff}}},
		{"push and pop", "mov eax, 9; push rax; pop rbx; syscall", [][]uint64{{sp - 8, 0, 9, sp - 8}}},
		{"call and ret", "call f; syscall; f: ret", [][]uint64{{sp - 8}, {sp - 8}, {}}},
		{"fs", "mov ebx, 6; mov fs:[0x28], rbx; syscall", [][]uint64{{d + 0x828, 0, 6}}},
		{"all registers in use", "mov eax, 6;" + all + "mov fs:[0x80], rax; push rbp; syscall", [][]uint64{{d + 0x880, 0, 6, sp - 8, 0, 0}}},
		{"lock", "mov eax, 0x61000000; mov ecx, 2; lock xadd [rax], ecx; syscall", [][]uint64{{d, 0, 2}}},
		{"masked", "mov eax, 0x61000000; vpxor ymm0, ymm0, ymm0; vmaskmovps [rax], xmm0, xmm0; syscall", [][]uint64{{d}}},
		{"loop", "mov ecx, 2; mov eax, 0x61000000; 1: mov [rax+rcx*8], rcx; dec ecx; jnz 1b; syscall",
			[][]uint64{{d + 16, 0, 2}, {d + 8, 0, 1}, {}}},
		{"jump through memory", "lea rax, [rip+1f]; mov ecx, 0x61000000; mov [rcx], rax; jmp [rcx]; 1: syscall",
			[][]uint64{{d, 0, guestCode + 17, d}, {}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMachine(t, Config{Mode: Log}, row.src)
			m.ctx.FSBase = d + 0x800
			if x := m.Run(m.ctx, 1000); x.Reason != cpu.ExitSyscall {
				t.Fatalf("exit %+v", x)
			}
			var got [][]uint64
			for _, r := range m.logs(t) {
				got = append(got, append([]uint64{}, r.words...))
			}
			got = got[:min(len(got), len(row.want))]
			if fmt.Sprintf("%x", got) != fmt.Sprintf("%x", row.want) {
				t.Errorf("words %x, want %x", got, row.want)
			}
		})
	}
}

// Run stops before a repeated instruction, which then leaves its registers.
func TestLogRepeat(t *testing.T) {
	const d = guestData
	m := newMachine(t, Config{Mode: Log},
		"mov esi, 0x61000100; mov edi, 0x61000200; mov ecx, 9; rep movsb; mov byte ptr [0x61000203], 1; sub esi, 9; "+
			"sub edi, 9; mov ecx, 9; repe cmpsb; syscall")
	var got [][]uint64
	for stops := 0; ; stops++ {
		x := m.Run(m.ctx, 1000)
		for _, r := range m.logs(t) {
			got = append(got, append([]uint64{}, r.words...))
		}
		if x.Reason == cpu.ExitRepeat {
			continue
		}
		if x.Reason != cpu.ExitSyscall || stops != 2 {
			t.Fatalf("exit %+v after %d stops", x, stops)
		}
		break
	}
	want := [][]uint64{{}, {d + 0x100, d + 0x200, 9, 0}, {d + 0x203, 0, 1}, {d + 0x100, d + 0x200, 9, 5}, {}}
	if fmt.Sprintf("%x", got) != fmt.Sprintf("%x", want) {
		t.Errorf("words %x, want %x", got, want)
	}
}

// At a fault the guest has its own registers, the fault is a write, and the log ends before the
// instruction.
func TestLogFault(t *testing.T) {
	for _, row := range []struct {
		src   string
		write bool
		words string
	}{
		{"mov ecx, 2; push rax; mov rbx, [rcx]; push rbx; syscall", false, "[610ffff8 0 1]"},
		{"mov ecx, 2; push rax; mov [rcx], rbx; push rbx; syscall", true, "[610ffff8 0 1]"},
		{"mov ecx, 2; push rax; add [rcx], rbx; push rbx; syscall", true, "[610ffff8 0 1]"},
		{"mov ecx, 2; mov rdx, rbx; mov r8, rax; mov r9, rax; mov rsi, rsi; mov rdi, rdi; mov rbp, rbp; mov r15, r15; " +
			"mov r14, r14; mov r13, r13; mov r12, r12; " +
			"mov r11, r11; mov r10, r10; push rax; add [rcx], rbx; push rbx; syscall", true, "[610ffff8 0 1]"},
		{"mov ecx, 2; push rax; jmp [rcx]", false, "[610ffff8 0 1 2]"},
	} {
		t.Run(row.src, func(t *testing.T) { logFault(t, row.src, row.write, row.words) })
	}
}

func logFault(t *testing.T, src string, write bool, words string) {
	m := newMachine(t, Config{Mode: Log}, "mov eax, 1; "+src)
	m.ctx.GPR[x86.R11], m.ctx.GPR[x86.R10] = 11, 10
	x := m.Run(m.ctx, 1000)
	if x.Reason != cpu.ExitFault || x.Addr != 2 || x.ErrNo&errWrite != 0 != write {
		t.Fatalf("%s: exit %+v", src, x)
	}
	if g := m.ctx.GPR; g[x86.R11] != 11 || g[x86.R10] != 10 || g[x86.RAX] != 1 || g[x86.RCX] != 2 {
		t.Errorf("%s: registers %x", src, g)
	}
	r := m.logs(t)
	if got := fmt.Sprintf("%x", r[len(r)-1].words); got != words {
		t.Errorf("%s: words %s, want %s", src, got, words)
	}
}

// A slice never outgrows the buffer.
func TestLogRoom(t *testing.T) {
	m := newMachine(t, Config{Mode: Log},
		"mov eax, 0x61000000; vpxor ymm0, ymm0, ymm0; 1: vmovdqu [rax], ymm0; jmp 2f; 2: vmovdqu [rax+32], ymm0; jmp 1b")
	for range 3 {
		if x := m.Run(m.ctx, 1<<40); x.Reason != cpu.ExitBudget {
			t.Fatalf("exit %+v", x)
		}
		if n := len(m.Log(m.ctx)); n < logChunk*4 || n > len(m.Engine.logs.one) {
			t.Errorf("%d words", n)
		}
	}
}
