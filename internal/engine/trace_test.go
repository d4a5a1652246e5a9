package engine

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"lime/internal/cpu"
	model "lime/internal/machine"
	"lime/internal/uop"
	"lime/internal/x86"
)

// record is one block of a trace, with the addresses of its accesses, and the counts of repeated
// ones.
type record struct {
	pc    uint64
	words []uint64
}

// records cuts the trace of the last run into blocks.
func (m *machine) records(t testing.TB) (out []record) {
	t.Helper()
	trace := m.Trace()
	for len(trace) > 0 {
		word := trace[0]
		if word&traceTag == 0 {
			t.Fatalf("word %#x where a block should begin", word)
		}
		b := m.Blocks()[uint32(word)>>1]
		for range word&^traceTag>>countShift + 1 {
			out = append(out, record{pc: b.PC})
		}
		trace = trace[1:]
		r := &out[len(out)-1]
		accesses := accessesOf(t, b)
		for len(trace) > 0 && trace[0]&traceTag == 0 {
			acc, addr := accesses[trace[0]>>indexShift], trace[0]&(1<<indexShift-1)
			r.words = append(r.words, addr)
			n := 2
			switch {
			case acc.Rep:
				r.words = append(r.words, trace[1]>>1)
			case addr%filterLine+uint64(acc.Bytes) > filterLine:
				n = 3
			}
			for _, w := range trace[1:n] {
				if w&1 == 0 {
					t.Fatalf("word %#x behind the address %#x", w, addr)
				}
			}
			trace = trace[n:]
		}
	}
	return out
}

// accessesOf lists the accesses of a block.
func accessesOf(t testing.TB, b Block) (out []x86.Access) {
	t.Helper()
	code := bytesAt(b.PC, int(b.Size))
	var in x86.Inst
	for len(code) > 0 {
		if err := x86.Decode(code, &in); err != nil {
			t.Fatal(err)
		}
		out = in.Accesses(out)
		code = code[in.Len:]
	}
	return out
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
		{"repe cmpsb ends early", "mov eax, 0x61000000; mov byte ptr [rax+0x203], 1; mov esi, 0x61000100; mov edi, " +
			"0x61000200; mov ecx, 9; repe cmpsb; setne al; syscall",
			[][]uint64{{d + 0x203, d + 0x100, 4, d + 0x200, 4}}},
		{"rep at the end of a block", "mov edi, 0x61000200; mov ecx, 4; jmp 1f; 1: mov eax, 7; 2: rep stosb; dec eax; jz 3f; jmp 2b; 3: syscall",
			[][]uint64{{}, {d + 0x200, 4}, {}, {d + 0x204, 0}}},
		{"loop", "mov ecx, 3; mov eax, 0x61000000; 1: mov [rax+rcx*8], rcx; dec ecx; jnz 1b; syscall",
			[][]uint64{{d + 24}, {d + 16}, {d + 8}, {}}},
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
	m := newMachine(t, Config{Mode: Trace},
		"1: mov esi, 0x61000100; mov edi, 0x61000100; mov ecx, 1; rep movsb; jmp 2f; 2: push rax; pop rax; jmp 1b")
	for range 3 {
		if x := m.Run(m.ctx, 1<<40); x.Reason != cpu.ExitBudget {
			t.Fatalf("exit %+v", x)
		}
		if n := len(m.Trace()); n < traceChunk/4 || n > len(m.trace) {
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
	if len(r) != 1 || len(r[0].words) != 2 || r[0].words[1] != 2 {
		t.Errorf("records %x", r)
	}
}

// testFilter is an empty filter, and the bytes that it needs for contended lines.
func testFilter(mask uint64, lines int) []uint64 {
	const contended = 1 << 19
	words := make([]uint64, filterHead/8+int(mask/filterLine+1)*4+contended/8)
	for i := range words[:len(words)-contended/8] {
		words[i] = 1 << 63
	}
	words[0], words[1], words[2] = mask, addrOf64(words[len(words)-contended/8:]), uint64(lines)
	return words
}

func addrOf64(words []uint64) uint64 { return uint64(uintptr(unsafe.Pointer(&words[0]))) }

// TestFiltered holds generated code to the plain form of the filter: what it leaves in the trace is
// what a recorder leaves of a trace with every access.
func TestFiltered(t *testing.T) {
	k := loadKernel(t)
	for _, machineWords := range [][]string{{"desktop"}, {"lime2011", "l1d.size=1KB", "l1d.ways=2"}, {"server", "l1d.policy=plru"},
		{"desktop", "line_bytes=32"}, {"desktop", "l1d.size=24KB"}} {
		d, err := model.Load(machineWords[0], machineWords[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		var runs [2]*filtered
		for i := range runs {
			runs[i] = newFiltered(t, d, i == 1)
		}
		for i, row := range kernels {
			k.start(runs[0].ctx, i, row.size/10+1)
			all := runs[0].run(t)
			k.start(runs[1].ctx, i, row.size/10+1)
			some := runs[1].run(t)
			words := 0
			for s := range all {
				if !slices.Equal(all[s], some[s]) {
					t.Fatalf("%v, %s: slice %d differs: recorder and generated code leave\n%x\n%x", machineWords, row.name, s, all[s], some[s])
				}
				words += len(some[s])
			}
			t.Logf("%v, %s: %d slices, %d words", machineWords, row.name, len(all), words)
		}
	}
}

// filtered is a machine beside an engine.
type filtered struct {
	e    *Engine
	ctx  *cpu.Context
	m    *model.Machine
	rec  *model.Recorder // nil if generated code uses the filter itself
	acct model.Account
}

func newFiltered(t *testing.T, d *model.Description, generated bool) *filtered {
	t.Helper()
	m, err := model.New(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &filtered{m: m}
	cfg := Config{Mode: Trace, CacheBytes: 8 << 20}
	if generated {
		cfg.FilterLines, cfg.FilterMask = m.FilterLines(), m.FilterMask()
	} else {
		f.rec = m.Recorder(0)
	}
	f.e, f.ctx = newEngine(t, cfg)
	t.Cleanup(func() {
		if err := f.e.Close(); err != nil {
			t.Error(err)
		}
	})
	if generated {
		f.e.SetFilter(m.Filter(0))
	}
	return f
}

// run runs a program in slices and returns the traces, which the machine has seen.
func (f *filtered) run(t *testing.T) (traces [][]uint64) {
	t.Helper()
	for {
		x := f.e.Run(f.ctx, 3000)
		for _, b := range f.e.Blocks()[f.m.Blocks():] {
			d, err := uop.Describe(b.PC, bytesAt(b.PC, int(b.Size)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.m.AddBlock(d); err != nil {
				t.Fatal(err)
			}
		}
		trace := f.e.Trace()
		if f.rec != nil {
			trace = f.rec.Record(f.m, trace)
		}
		if err := f.m.Run(0, trace, &f.acct); err != nil {
			t.Fatal(err)
		}
		traces = append(traces, slices.Clone(trace))
		if x.Reason != cpu.ExitBudget || len(traces) == 400 {
			return traces
		}
	}
}
