package watch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
	"lime/internal/waste"
	"lime/internal/x86"
)

// repetition is a repeated instruction with the registers that the processor left: before it, and
// behind each of its repetitions.
type repetition struct {
	in     x86.Inst
	states []unix.PtraceRegs
}

// unit is what a repetition touches, by the registers before it.
func (r *repetition) unit(i int) (list []access) {
	size := map[bool]int{true: 1, false: 4}[r.in.Opcode&1 == 0]
	if r.in.OpSize16 && size == 4 {
		size = 2
	}
	if r.in.Rex&8 != 0 {
		size = 8
	}
	s := &r.states[i]
	switch r.in.Name {
	case "stos":
		return []access{{s.Rdi, size, false, true}}
	case "scas":
		return []access{{s.Rdi, size, true, false}}
	case "lods":
		return []access{{s.Rsi, size, true, false}}
	case "cmps":
		return []access{{s.Rsi, size, true, false}, {s.Rdi, size, true, false}}
	}
	return []access{{s.Rsi, size, true, false}, {s.Rdi, size, false, true}}
}

// touches are what a repetition does to watched bytes.
func (r *repetition) touches(i int, p *watched) (reads, writes bool, bytes int) {
	for _, a := range r.unit(i) {
		if n := a.overlap(p.addr, p.bytes); n > 0 {
			reads, writes, bytes = reads || a.reads, writes || a.writes, bytes+n
		}
	}
	return reads, writes, bytes
}

// beginsWithin reports whether watched bytes lie on both sides of where the repetitions begin.
func (r *repetition) beginsWithin(p *watched) bool {
	down := r.states[0].Eflags&flagD != 0
	for _, a := range r.unit(0) {
		edge := a.addr
		if down {
			edge = a.end()
		}
		if p.addr < edge && edge < p.addr+uint64(p.bytes) {
			return true
		}
	}
	return false
}

// straight is a host of code without jumps: it knows where instructions end.
type straight struct {
	Host
	begins map[uint64]uint64
}

func (s *straight) Before(pc uint64) (at uint64, ok bool) { at, ok = s.begins[pc]; return at, ok }

// repetitions makes a program of repeated instructions of all kinds, up and down, of random lengths at
// random places, a store before each of them, and steps through it.
func repetitions(t *testing.T, rng *rand.Rand, f func(*Tracer, *repetition)) {
	t.Helper()
	var text strings.Builder
	text.WriteString(".globl _start\n_start:\n")
	for _, in := range []string{"rep stosb", "rep stosw", "rep stosl", "rep stosq", "rep movsb", "rep movsw", "rep movsl", "rep movsq",
		"repe cmpsb", "repe cmpsq", "repne scasb", "repne scasl", "rep lodsb", "rep lodsq"} {
		for _, direction := range []string{"cld", "std"} {
			for _, n := range []int{1, 2, 7, 8 + rng.IntN(60), 100 + rng.IntN(200)} {
				fmt.Fprintf(&text, "lea to+%d(%%rip),%%rdi\nlea from+%d(%%rip),%%rsi\nmov $%d,%%ecx\nmov $5,%%eax\n%s\nmov %%rax,to+%d(%%rip)\n%s\n",
					9000+rng.IntN(64), 9000+rng.IntN(64), n, direction, 9000-2000+8*rng.IntN(500), in)
			}
		}
	}
	text.WriteString("cld\nmov $60,%eax\nxor %edi,%edi\nsyscall\n.bss\n.balign 4096\nto: .skip 20480\nfrom: .skip 20480\n")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "repeats.s"), filepath.Join(dir, "repeats")
	if err := os.WriteFile(source, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-nostdlib", "-static", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	s := stepped(t, program)
	host := &straight{begins: map[uint64]uint64{}}
	tr := New(s.pid, host, Options{Kinds: waste.Of(waste.DeadStore)})
	if err := unix.PtraceGetRegs(s.pid, &s.regs); err != nil {
		t.Fatal(err)
	}
	for {
		at := s.regs.Rip
		r := &repetition{states: []unix.PtraceRegs{s.regs}}
		r.in, _ = s.instruction(at)
		host.begins[at+uint64(r.in.Len)] = at
		for more := true; more; more = r.in.Rep != 0 && s.regs.Rip == at {
			if !s.step() {
				return
			}
			r.states = append(r.states, s.regs)
		}
		if r.in.Rep != 0 {
			f(tr, r)
		}
	}
}

// storeBefore is what the instruction before a repeated one stores.
func storeBefore(tr *Tracer, r *repetition) access {
	before := tr.host.(*straight).begins[r.states[0].Rip]
	prev, _ := tr.instruction(before)
	a, _ := choose(&prev, &unix.PtraceRegs{Rip: before}, want{stores: true}, 0)
	return a
}

// TestRepetitions: a thread that is stopped within or behind a repeated instruction has touched what the
// processor touched, whether it stops behind every repetition or behind several at once; as long as
// it is still at the watched bytes, it is known that it will stop again.
func TestRepetitions(t *testing.T) {
	testenv.Tool(t, "gcc")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rng, looked, waited := rand.New(rand.NewPCG(11, 12)), 0, 0
	repetitions(t, rng, func(tr *Tracer, r *repetition) {
		n, store := len(r.states)-1, storeBefore(tr, r)
		for range 40 {
			some := r.unit(rng.IntN(n))
			w := newWatched(access{addr: some[rng.IntN(len(some))].addr - 2, bytes: 1 << rng.IntN(5)}, 0, rng.IntN)
			p, pieces := &w, 1+rng.IntN(16)
			if r.beginsWithin(p) || store.overlap(p.addr, p.bytes) > 0 {
				continue // what stood before counts, too; either may have been it
			}
			sum := 0
			for i := 0; i < n; i += pieces {
				last, reads, writes := min(i+pieces, n), false, false
				for j := i; j < last; j++ {
					ld, st, bytes := r.touches(j, p)
					reads, writes, sum = reads || ld, writes || st, sum+bytes
				}
				if !reads && !writes {
					continue
				}
				more := 0
				for j := last; j < n; j++ {
					_, _, bytes := r.touches(j, p)
					more += bytes
				}
				s := &r.states[last]
				if under := tr.under(p, s); under != (more > 0) {
					t.Fatalf("%s, %d of %d: will it stop again at %#x? %v", r.in.Name, last, n, p.addr, under)
				}
				if looked++; more > 0 {
					waited++
					continue
				}
				x := tr.who(p, 1, s)
				if x.unknown || x.reads != reads || x.writes != writes || x.bytes != min(sum, p.bytes) || x.within.overlap(p.addr, p.bytes) != x.bytes {
					t.Fatalf("%s, %d of %d, %d bytes at %#x (rdi %#x, rsi %#x): %+v, want %v %v %d bytes", r.in.Name, last, n, p.bytes, p.addr,
						s.Rdi, s.Rsi, x, reads, writes, sum)
				}
			}
		}
	})
	t.Logf("%d stops, %d of them within the watched bytes", looked, waited)
	if looked < 2000 || waited < 100 {
		t.Error("the test looked at too little")
	}
}

// TestBeforeRepetitions: who stops at a repeated instruction that has not begun was stopped by the one before.
func TestBeforeRepetitions(t *testing.T) {
	testenv.Tool(t, "gcc")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	looked := 0
	repetitions(t, rand.New(rand.NewPCG(13, 14)), func(tr *Tracer, r *repetition) {
		s, a := &r.states[0], storeBefore(tr, r)
		if a.bytes != 8 {
			t.Fatalf("before %s: %+v", r.in.Name, a)
		}
		p := &watched{addr: a.addr, bytes: 8}
		x := tr.who(p, 1, s)
		lo, hi := int64(a.addr-s.Rdi), int64(a.end()-s.Rdi)
		if behind := s.Eflags&flagD == 0 && lo < 0 || s.Eflags&flagD != 0 && hi > 1; x.unknown && behind {
			return // either may have been it
		}
		if looked++; x.unknown || x.reads || !x.writes || x.bytes != 8 {
			t.Errorf("before %s: %+v", r.in.Name, x)
		}
	})
	if looked < 40 {
		t.Errorf("the test looked at %d", looked)
	}
}

// TestNextOfRepetitions: what of a repeated instruction is sampled is touched by it, and no two of its accesses
// are the same; and it is known where it leads.
func TestNextOfRepetitions(t *testing.T) {
	testenv.Tool(t, "gcc")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rng := rand.New(rand.NewPCG(15, 16))
	repetitions(t, rng, func(tr *Tracer, r *repetition) {
		n := len(r.states) - 1
		from := rng.IntN(n)
		regs, all := r.states[from], operands(&r.in, &r.states[from])
		whole := !compares(&r.in)
		for k, o := range all {
			touched := map[uint64]bool{}
			for i := from; i < n; i++ {
				for b := range uint64(o.bytes) {
					touched[r.unit(i)[k].addr+b] = true
				}
			}
			for skip := 0; whole && skip < o.blocks(); skip++ {
				a := repeated(&r.in, &regs, skip)[k]
				for b := range uint64(a.bytes) {
					if !touched[a.addr+b] {
						t.Fatalf("%s: access %d of %d at %#x is none, or one before", r.in.Name, skip, o.blocks(), a.addr)
					}
					delete(touched, a.addr+b)
				}
			}
			if whole && len(touched) > 0 {
				t.Fatalf("%s: %d bytes are never sampled", r.in.Name, len(touched))
			}
		}
		x, end := newWay(&tr.memory, &regs), &r.states[n]
		if ok := x.step(&r.in, false); !ok || x.pc != end.Rip {
			t.Fatalf("%s leads to %#x, not %#x", r.in.Name, x.pc, end.Rip)
		}
		for reg := range x86.Reg(16) {
			v, known := x.reg[reg], r.in.Name == "stos" || r.in.Name == "movs"
			if v.ok && v.v != general(end, reg) || known && !v.ok {
				t.Errorf("%s: register %d is thought to be %#x (%v), is %#x", r.in.Name, reg, v.v, v.ok, general(end, reg))
			}
		}
	})
}
