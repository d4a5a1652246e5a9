package engine

import (
	"fmt"
	"slices"
	"testing"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// record is one block of a trace, with the words of its accesses.
type record struct {
	pc    uint64
	words []uint64
}

// records cuts the trace of the last run into blocks, by decoding them.
func (m *machine) records(t testing.TB) (out []record) {
	t.Helper()
	trace := m.Trace()
	for len(trace) > 0 {
		if trace[0]&traceTag == 0 {
			t.Fatalf("word %#x where a block should begin", trace[0])
		}
		b := m.Blocks()[uint32(trace[0])]
		n := wordsAt(t, b)
		out = append(out, record{b.PC, slices.Clone(trace[1 : 1+n])})
		trace = trace[1+n:]
	}
	return out
}

// wordsAt counts the access words of a block.
func wordsAt(t testing.TB, b Block) (n int) {
	t.Helper()
	code := bytesAt(b.PC, int(b.Size))
	var in x86.Inst
	for len(code) > 0 {
		if err := x86.Decode(code, &in); err != nil {
			t.Fatal(err)
		}
		for _, a := range in.Accesses(nil) {
			n += int(wordsOf(a))
		}
		code = code[in.Len:]
	}
	return n
}

// TestTrace runs small programs and looks at the addresses that they leave.
func TestTrace(t *testing.T) {
	const d, sp, c = guestData, guestData + dataSize, guestCode
	all := "mov r8, rax; mov r9, rcx; mov r10, rdx; mov r11, rbx; mov r12, rsi; mov r13, rdi; mov r14, rbp; mov r15, rsp; "
	for _, row := range []struct {
		name, src string
		want      [][]uint64 // access words, block by block
	}{
		{"load and store", "mov eax, 0x61000000; mov rbx, [rax+8]; mov [rax+0x10], bl; syscall", [][]uint64{{d + 8, d + 0x10}}},
		{"index", "mov eax, 0x61000000; mov ecx, 3; mov rbx, [rax+rcx*8+1]; syscall", [][]uint64{{d + 25}}},
		{"rip-relative", "mov rax, [rip+x]; syscall; x: .quad 1", [][]uint64{{c + 9}}},
		{"push and pop", "push rax; pop rbx; syscall", [][]uint64{{sp - 8, sp - 8}}},
		{"call and ret", "call f; syscall; f: ret", [][]uint64{{sp - 8}, {sp - 8}, {}}},
		{"fs", "mov rax, fs:[0x28]; syscall", [][]uint64{{d + 0x800 + 0x28}}},
		{"fs, all registers in use", all + "mov fs:[0x80], rax; push rbp; syscall", [][]uint64{{d + 0x800 + 0x80, sp - 8}}},
		{"all registers in use", all + "lea rsp, [rsp]; mov [rsp-24], rax; push rbp; syscall", [][]uint64{{sp - 24, sp - 8}}},
		{"read, modify, write", "mov eax, 0x61000000; add qword ptr [rax+64], 5; lock xadd [rax], ecx; syscall", [][]uint64{{d + 64, d}}},
		{"rep movsb", "mov esi, 0x61000100; mov edi, 0x61000200; mov ecx, 9; rep movsb; syscall", [][]uint64{{d + 0x100, 9, d + 0x200, 9}}},
		{"rep stosq", "mov edi, 0x61000200; mov ecx, 4; xor eax, eax; rep stosq; syscall", [][]uint64{{d + 0x200, 4}}},
		{"repe cmpsb ends early", "mov eax, 0x61000000; mov byte ptr [rax+0x203], 1; mov esi, 0x61000100; mov edi, 0x61000200; mov ecx, 9; repe cmpsb; setne al; syscall",
			[][]uint64{{d + 0x203, d + 0x100, 4, d + 0x200, 4}}},
		{"rep at the end of a block", "mov edi, 0x61000200; mov ecx, 4; jmp 1f; 1: mov eax, 7; 2: rep stosb; dec eax; jz 3f; jmp 2b; 3: syscall",
			[][]uint64{{}, {d + 0x200, 4}, {}, {d + 0x204, 0}}},
		{"loop", "mov ecx, 3; mov eax, 0x61000000; 1: mov [rax+rcx*8], rcx; dec ecx; jnz 1b; syscall", [][]uint64{{d + 24}, {d + 16}, {d + 8}, {}}},
		{"jump through memory", "lea rax, [rip+1f]; mov ecx, 0x61000000; mov [rcx], rax; jmp [rcx]; 1: syscall", [][]uint64{{d, d}, {}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMachine(t, Config{Mode: Trace}, row.src)
			m.ctx.FSBase = d + 0x800
			before := m.ctx.GPR
			if x := m.Run(m.ctx, 1000); x.Reason != cpu.ExitSyscall {
				t.Fatalf("exit %+v", x)
			}
			var got [][]uint64
			for _, r := range m.records(t) {
				got = append(got, append([]uint64{}, r.words...))
			}
			got = got[:min(len(got), len(row.want))]
			if fmt.Sprintf("%x", got) != fmt.Sprintf("%x", row.want) {
				t.Errorf("accesses %x, want %x", got, row.want)
			}
			_ = before
		})
	}
}

// A slice never outgrows the buffer, however much code records.
func TestTraceRoom(t *testing.T) {
	m := newMachine(t, Config{Mode: Trace}, "1: mov esi, 0x61000100; mov edi, 0x61000100; mov ecx, 1; rep movsb; jmp 2f; 2: push rax; pop rax; jmp 1b")
	for range 3 {
		if x := m.Run(m.ctx, 1<<40); x.Reason != cpu.ExitBudget {
			t.Fatalf("exit %+v", x)
		}
		if n := len(m.Trace()); n < traceChunk/2 || n > len(m.trace) {
			t.Errorf("%d words", n)
		}
		m.records(t)
	}
}

// The registers that tracing borrows are the guest's again at a fault.
func TestTraceFault(t *testing.T) {
	m := newMachine(t, Config{Mode: Trace}, "mov eax, 1; mov ecx, 2; push rax; mov rbx, [rcx]; push rbx; syscall")
	m.ctx.GPR[x86.R11], m.ctx.GPR[x86.R10] = 11, 10
	x := m.Run(m.ctx, 1000)
	if x.Reason != cpu.ExitFault || x.Addr != 2 {
		t.Fatalf("exit %+v", x)
	}
	if g := m.ctx.GPR; g[x86.R11] != 11 || g[x86.R10] != 10 || g[x86.RAX] != 1 {
		t.Errorf("registers %x", g)
	}
	r := m.records(t)
	if len(r) != 1 || r[0].words[0] == 0 || r[0].words[1] != 2 || r[0].words[2] != 0 {
		t.Errorf("records %x", r)
	}
}
