package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// stressFunctions is how many functions the stress program has; a power of two.
const stressFunctions = 256

// stressProgram is a walk through many functions that depends on the seed in R12 alone, of as many
// steps as R13 says: calls, direct and indirect ones, loops, and branches into the middle of
// blocks.
func stressProgram() string {
	rnd := rand.New(rand.NewPCG(1, 2))
	var s strings.Builder
	fmt.Fprintf(&s, `
	movabs r14, 6364136223846793005
	movabs r15, 1442695040888963407
	lea rbp, [rip+table]
	xor edx, edx
	xor esi, esi
main:	imul r12, r14
	add r12, r15
	mov rax, r12
	shr rax, 35
	and eax, %d
	call [rbp+rax*8]
	dec r13
	jnz main
	mov rbx, rsp
	syscall
	ud2
`, stressFunctions-1)
	for i := range stressFunctions {
		fmt.Fprintf(&s, "f%d:\timul r12, r14\n\tadd r12, r15\n\tmov rax, r12\n\tshr rax, 33\n\ttest al, 1\n\tjz 1f\n", i)
		s.WriteString(strings.Repeat("\tinc rdx\n", rnd.IntN(6)))
		s.WriteString("2:\tadd rsi, rax\n\ttest al, 2\n\tjnz 3f\n")
		s.WriteString("1:\tmov ecx, eax\n\tand ecx, 15\n\tinc ecx\n4:\tadd rdx, rcx\n")
		s.WriteString([]string{"\tdec ecx\n\tjnz 4b\n", "\tloop 4b\n"}[rnd.IntN(2)])
		s.WriteString("\ttest al, 4\n\tjz 3f\n\tand eax, -8\n\tor eax, 2\n\tjmp 2b\n3:")
		if next := i + 1 + rnd.IntN(40); next < stressFunctions {
			fmt.Fprintf(&s, "\ttest al, 8\n\tjz 5f\n\tcall f%d\n5:", next)
		}
		s.WriteString("\tret\n")
		s.WriteString(strings.Repeat("\tud2\n", rnd.IntN(5)))
	}
	s.WriteString("\t.align 8\ntable:\n")
	for i := range stressFunctions {
		fmt.Fprintf(&s, "\t.quad f%d\n", i)
	}
	return s.String()
}

// passage is an edge whatever blocks the engine has made: from the last instruction of a block to
// where it went.
type passage struct {
	last, target uint64
	kind         EdgeKind
}

// passages drains ctx. Where a block runs into the next because it was cut there, nothing is told.
func passages(e *Engine, ctx *cpu.Context) map[passage]uint64 {
	sum := map[EdgeID]uint64{}
	e.Drain(ctx, func(id EdgeID, n uint64) { sum[id] += n })
	got := map[passage]uint64{}
	for id, n := range sum {
		e.Parts(id, func(id EdgeID) {
			d := e.Edges()[id]
			p := passage{kind: d.Kind, target: d.Target}
			if d.From >= 0 {
				b := e.Blocks()[d.From]
				if b.End == EndFall {
					return
				}
				p.last = b.LastPC
			}
			if d.Kind == EdgeReturn {
				p.last = 0 // it is known by where it arrives
			}
			got[p] += n
		})
	}
	maps.DeleteFunc(got, func(_ passage, n uint64) bool { return n == 0 })
	return got
}

// stressed is what a thread of the stress program has done.
type stressed struct {
	edges   map[passage]uint64
	retired uint64
	rdx     uint64
	rsi     uint64
}

// walk runs the thread of a seed to its end; between is called after each run.
func walk(t testing.TB, e *Engine, ctx *cpu.Context, between func()) bool {
	for {
		x := e.Run(ctx, 1e6)
		switch x.Reason {
		case cpu.ExitSyscall:
			return true
		case cpu.ExitBudget, cpu.ExitProbe:
			between()
			continue
		}
		t.Errorf("exit %+v at %#x", x, ctx.RIP)
		return false
	}
}

func stressContext(t testing.TB, e *Engine, nr, steps int) *cpu.Context {
	ctx, err := e.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	ctx.RIP = guestCode
	ctx.GPR[x86.RSP] = guestData + 0x1000*uint64(nr+1)
	ctx.GPR[x86.R12], ctx.GPR[x86.R13] = uint64(nr), uint64(steps)
	return ctx
}

func result(e *Engine, ctx *cpu.Context) stressed {
	return stressed{passages(e, ctx), e.Retired(ctx), ctx.GPR[x86.RDX], ctx.GPR[x86.RSI]}
}

// TestParallel runs many threads on one code cache, while others forget translations, empty the
// cache and set probes: each thread must do, and count, what it does alone.
func TestParallel(t *testing.T) {
	threads, steps := 64, usually(10_000, 200_000)
	alone := newMachine(t, Config{Mode: Count, MaxEdges: 1 << 16}, stressProgram())
	var want []stressed
	for i := range threads {
		ctx := stressContext(t, alone.Engine, i, steps)
		if !walk(t, alone.Engine, ctx, func() {}) {
			t.Fatal("the thread does not end even alone")
		}
		want = append(want, result(alone.Engine, ctx))
	}
	for _, c := range []struct {
		name    string
		disturb func(e *Engine, n int)
	}{
		{"undisturbed", nil},
		{"invalidated", func(e *Engine, n int) {
			lo := guestCode + uint64(n*97%len(alone.code))
			e.Invalidate(lo, lo+uint64(n%5000)+1)
		}},
		{"emptied", func(e *Engine, n int) {
			if n < usually(60, 2000) { // each time all is translated anew
				e.flush()
			}
		}},
		{"probed", func(e *Engine, n int) {
			if pc := guestCode + uint64(n/2*31%len(alone.code)); e.blocks[pc] != nil || n%2 == 1 {
				e.setProbe(pc, n%2 == 0)
			}
		}},
		{"halted", func(e *Engine, _ int) { e.Halt() }},
	} {
		t.Run(c.name, func(t *testing.T) { beside(t, threads, steps, want, c.disturb) })
	}
}

// sideBySide lets threads of the stress program run beside each other on one engine. What they run
// has the lock, and gives it away for a moment by between.
func sideBySide(t *testing.T, mode Mode, threads, steps int,
	run func(e *Engine, i int, ctx *cpu.Context, between func())) (*Engine, *sync.Mutex, *sync.WaitGroup) {
	t.Helper()
	mu, group := &sync.Mutex{}, &sync.WaitGroup{}
	e, err := New(Config{Mode: mode, MaxEdges: 1 << 16, Lock: mu})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	mu.Lock()
	defer mu.Unlock()
	for i := range threads {
		ctx := stressContext(t, e, i, steps)
		group.Go(func() {
			runtime.LockOSThread()
			mu.Lock()
			defer mu.Unlock()
			run(e, i, ctx, func() {
				mu.Unlock()
				mu.Lock()
			})
		})
	}
	return e, mu, group
}

// disturbed lets threads run beside each other, and calls disturb again and again until they end.
func disturbed(t *testing.T, mode Mode, threads, steps int, disturb func(e *Engine, n int),
	run func(e *Engine, i int, ctx *cpu.Context, between func())) {
	t.Helper()
	e, mu, group := sideBySide(t, mode, threads, steps, run)
	over := make(chan bool)
	done := make(chan bool)
	go func() {
		defer close(done)
		for n := 0; disturb != nil; n++ {
			select {
			case <-over:
				return
			default:
			}
			mu.Lock()
			disturb(e, n)
			mu.Unlock()
			runtime.Gosched()
		}
	}()
	group.Wait()
	close(over)
	<-done
}

func beside(t *testing.T, threads, steps int, want []stressed, disturb func(e *Engine, n int)) {
	got := make([]stressed, threads)
	disturbed(t, Count, threads, steps, disturb, func(e *Engine, i int, ctx *cpu.Context, between func()) {
		if walk(t, e, ctx, between) {
			got[i] = result(e, ctx)
		}
	})
	for i := range want {
		if got[i].retired != want[i].retired || got[i].rdx != want[i].rdx || got[i].rsi != want[i].rsi {
			t.Errorf("thread %d: retired %d, rdx %d, rsi %d; alone %d, %d, %d", i, got[i].retired, got[i].rdx, got[i].rsi,
				want[i].retired, want[i].rdx, want[i].rsi)
		}
		comparePassages(t, i, got[i].edges, want[i].edges)
	}
}

func comparePassages(t *testing.T, thread int, got, want map[passage]uint64) {
	t.Helper()
	bad := 0
	for p := range maps.Keys(want) {
		if got[p] != want[p] {
			bad++
			if bad < 4 {
				t.Errorf("thread %d: %#x to %#x (kind %d): %d times, alone %d", thread, p.last, p.target, p.kind, got[p], want[p])
			}
		}
	}
	for p, n := range got {
		if want[p] == 0 {
			t.Errorf("thread %d: %#x to %#x (kind %d): %d times, alone never", thread, p.last, p.target, p.kind, n)
			return
		}
	}
}

// TestParallelPatches lets threads write into a function that all of them call: each call must run
// the function as it was before or after some write, and no write may fault.
func TestParallelPatches(t *testing.T) {
	const patched = guestData + 0x80000
	src := fmt.Sprintf(`
	movabs rbp, %d
main:	mov eax, r13d
	shl eax, 8
	mov al, 0x5a
	mov [rbp+4], eax
	call rbp
	cmp al, 0x5a
	jne bad
	dec r13
	jnz main
	syscall
bad:	ud2
`, patched)
	m := newMachine(t, Config{Mode: Plain, MaxEdges: 1}, src)
	code := []byte{0x0f, 0x1f, 0x00, 0xb8, 0x5a, 0, 0, 0, 0xc3} // nop; mov eax, 0x5a; ret
	copy(m.data[patched-guestData:], code)
	if _, _, errno := syscall.Syscall(syscall.SYS_MPROTECT, patched, pageSize, 7); errno != 0 {
		t.Fatal(errno)
	}
	var mu sync.Mutex
	lookup := func(pc uint64) (Range, bool) {
		if pc >= guestData && pc < guestData+dataSize {
			return Range{Lo: guestData, Hi: guestData + dataSize, Exec: true, Write: true}, true
		}
		return Range{Lo: guestCode, Hi: guestCode + uint64(len(m.code)), Exec: true}, pc >= guestCode && pc < guestCode+uint64(len(m.code))
	}
	e, err := New(Config{Mode: Count, MaxEdges: 1 << 16, Lock: &mu, Lookup: lookup})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var group sync.WaitGroup
	mu.Lock()
	for i := range 16 {
		ctx := stressContext(t, e, i, usually(200, 20_000))
		group.Go(func() {
			runtime.LockOSThread()
			mu.Lock()
			defer mu.Unlock()
			walk(t, e, ctx, func() {})
		})
	}
	mu.Unlock()
	group.Wait()
}
