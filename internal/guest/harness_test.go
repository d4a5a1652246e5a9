package guest

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
	"lime/internal/unit"
)

// fakeHost stands for the collector: a clock that the test sets, a list of what was told.
type fakeHost struct {
	now         unit.Nanos
	ready       []int
	readyAt     []unit.Nanos
	notes       []string
	invalidated [][2]uint64
	images      []Image
	odd         []uint64
}

func (h *fakeHost) Now(*Thread) unit.Nanos            { return h.now }
func (h *fakeHost) CPUTime(*Thread) unit.Nanos        { return h.now }
func (h *fakeHost) Core(t *Thread) int                { return t.Nr }
func (h *fakeHost) NewContext() (*cpu.Context, error) { return new(cpu.Context), nil }
func (h *fakeHost) FreeContext(*cpu.Context)          {}
func (h *fakeHost) Invalidate(lo, hi uint64) {
	h.invalidated = append(h.invalidated, [2]uint64{lo, hi})
}
func (h *fakeHost) Odd(t *Thread)          { h.odd = append(h.odd, t.Ctx.RIP) }
func (h *fakeHost) ImageMapped(i Image)    { h.images = append(h.images, i) }
func (h *fakeHost) Note(code, text string) { h.notes = append(h.notes, code+": "+text) }
func (h *fakeHost) Ready(t *Thread, at unit.Nanos) {
	h.ready, h.readyAt = append(h.ready, t.Nr), append(h.readyAt, at)
}

// testLayout keeps clear of the test binary, and of the heap of its C library if it was built with
// cgo: up to 1 GB above.
var testLayout = Layout{LowLo: 0x5000_0000, LowHi: 0x6fff_0000, HighLo: 0x2100_0000_0000, HighHi: 0x2100_0000_0000 + 3<<40,
	HintLo: 0x20_0000_0000, HintHi: 0x30_0000_0000}

// AddressesFree reports whether the tests' addresses are free in this process: Go's heap begins at
// a random place.
func AddressesFree() bool {
	s, err := newSpace(testLayout, func(uint64, uint64) {})
	if err != nil {
		return false
	}
	s.release()
	return true
}

// rig is a process without a program, to make system calls in.
type rig struct {
	*testing.T
	p    *Process
	host *fakeHost
	mem  uint64 // 16 pages of scratch memory
}

func newRig(t *testing.T, threads int) *rig {
	t.Helper()
	h := &fakeHost{now: 1000}
	p := newProcess(Config{Cores: 4}, h)
	mem, err := newSpace(testLayout, h.Invalidate)
	if err != nil {
		t.Fatal("the test's addresses are taken in this process:", err)
	}
	p.mem, p.id = mem, FirstTID
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	p.signalFD = p.files.protect(fd)
	t.Cleanup(p.Close)
	r := &rig{T: t, p: p, host: h}
	for range threads {
		th := p.addThread(new(cpu.Context), nil)
		resetFP(th.Ctx)
	}
	r.mem = uint64(r.must(0, "mmap", 0, 16*pageSize, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uint64(0), 0))
	for i, th := range p.threads {
		th.Ctx.GPR[rsp] = r.mem + uint64(8+i)*pageSize - 256
	}
	return r
}

// call makes a system call in a thread, as HandleSyscall does.
func (r *rig) call(thread int, name string, args ...uint64) (int64, Outcome) {
	r.Helper()
	th := r.p.threads[thread]
	nr := numberOf(name)
	if nr < 0 {
		r.Fatalf("no system call %q", name)
	}
	g := &th.Ctx.GPR
	g[rax] = uint64(nr)
	for i, reg := range [6]int{rdi, rsi, rdx, r10, r8, r9} {
		g[reg] = 0
		if i < len(args) {
			g[reg] = args[i]
		}
	}
	out := r.p.HandleSyscall(th)
	if th.Ctx == nil {
		return 0, out
	}
	return int64(g[rax]), out
}

func (r *rig) must(thread int, name string, args ...uint64) int64 {
	r.Helper()
	v, out := r.call(thread, name, args...)
	if v < 0 || out.Kind != Continue {
		r.Fatalf("%s%x = %d %v", name, args, v, out.Kind)
	}
	return v
}

// expect makes a call that must answer v at once.
func (r *rig) expect(v int64, thread int, name string, args ...uint64) {
	r.Helper()
	if got, out := r.call(thread, name, args...); got != v || out.Kind != Continue {
		r.Fatalf("%s%x = %d %v, want %d", name, args, got, out.Kind, v)
	}
}

// blocks makes a call that must wait.
func (r *rig) blocks(thread int, name string, args ...uint64) {
	r.Helper()
	if v, out := r.call(thread, name, args...); out.Kind != Blocked {
		r.Fatalf("%s%x = %d %v, want it to block", name, args, v, out.Kind)
	}
}

// resumes lets a thread that is ready end its call.
func (r *rig) resumes(thread int, want int64) {
	r.Helper()
	th := r.p.threads[thread]
	if out := r.p.Enter(th); out.Kind != Continue {
		r.Fatalf("thread %d: %v, want it to go on", thread, out.Kind)
	}
	if got := int64(th.Ctx.GPR[rax]); got != want {
		r.Fatalf("thread %d: result %d, want %d", thread, got, want)
	}
}

// woken checks which threads became ready since the last look.
func (r *rig) woken(want ...int) {
	r.Helper()
	if got := fmt.Sprint(r.host.ready); got != fmt.Sprint(want) && !(len(want) == 0 && len(r.host.ready) == 0) {
		r.Fatalf("woken: %v, want %v", got, want)
	}
	r.host.ready, r.host.readyAt = nil, nil
}

func (r *rig) store32(a uint64, v uint32) {
	r.Helper()
	if !r.p.mem.store32(a, v) {
		r.Fatalf("cannot write %#x", a)
	}
}

func (r *rig) load32(a uint64) uint32 {
	r.Helper()
	v, ok := r.p.mem.load32(a)
	if !ok {
		r.Fatalf("cannot read %#x", a)
	}
	return v
}

func (r *rig) timespec(a uint64, n unit.Nanos) uint64 {
	r.p.mem.write(a, timespecBytes(n))
	return a
}

func numberOf(name string) int {
	for i, row := range sysByNr {
		if row != nil && row.name == name {
			return i
		}
	}
	return -1
}
