package engine

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// usually is how much a test does by default, in the short run and in the long one.
func usually(short, long int) int {
	if os.Getenv("LIME_LONG") != "" {
		return long
	}
	return short
}

var randomSeqs = flag.Int("sequences", usually(3000, 100000), "random instruction sequences to run natively and translated")
var randomSeed = flag.Uint64("seed", 1, "seed of the random sequences")

// Random sequences stand in the range of code caches, so that the fault handler catches
// the faults of the native run too. The engine's own cache lies elsewhere.
const (
	seqCode = 0x7f000000
	seqSize = 0x10000
	seqData = 0x62000000
	seqMem  = 0x4000
)

// corpus returns distinct instructions of the C library that random sequences may use.
func corpus(t testing.TB) [][]byte {
	var list [][]byte
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6"} {
		list = append(list, harvest(t, path)...)
	}
	return list
}

func harvest(t testing.TB, path string) [][]byte {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	var list [][]byte
	for off := 0; off < len(code); {
		var in x86.Inst
		if x86.Decode(code[off:], &in) != nil {
			off++
			continue
		}
		b := code[off : off+int(in.Len)]
		off += int(in.Len)
		// One of each opcode, operand form and register pair: displacements and immediates do not
		// matter.
		key := fmt.Sprint(in.Enc, in.Map, in.Opcode, in.Name, in.ModRM, in.Rex, in.OpSize16, in.Rep, in.Lock, in.Mem.Scale)
		if usable(&in) && !seen[key] {
			seen[key] = true
			list = append(list, b)
		}
	}
	return list
}

// usable reports whether a random sequence may hold the instruction.
func usable(in *x86.Inst) bool {
	switch {
	case in.EndsBlock(), emulated(in), runnable(in) != nil:
		return false
	case in.Special != x86.SpecialNone && in.Special != x86.SpecialSerial && in.Special != x86.SpecialPause:
		return false
	case in.Mem.Seg != 0, in.SegOff != 0, in.Mem.Addr32, in.Mem.VSIB:
		return false
	case (in.Reads | in.Writes).Has(x86.RSP) && in.Name != "push" && in.Name != "pop":
		return false
	}
	if in.X87 && in.HasMem && in.ModRM>>3&7 == 6 && (in.Opcode == 0xd9 || in.Opcode == 0xdd) {
		return false // fnstenv, fnsave: they store the address of the last x87 instruction in the cache
	}
	return !in.HasMem || in.Mem.Base != x86.RSP
}

// sequence is a random program that ends with a system call.
type sequence struct {
	code []byte
	r    *rand.Rand
}

func (s *sequence) add(b ...byte) { s.code = append(s.code, b...) }

// setReg emits mov r32, v.
func (s *sequence) setReg(r x86.Reg, v uint32) {
	if r >= 8 {
		s.add(0x41)
	}
	s.add(0xb8 | byte(r)&7)
	s.code = binary.LittleEndian.AppendUint32(s.code, v)
}

// inst emits an instruction of the corpus, with its address registers set up first.
func (s *sequence) inst(b []byte) {
	var in x86.Inst
	if x86.Decode(b, &in) != nil {
		return
	}
	if !in.HasMem {
		s.add(b...)
		return
	}
	mid := uint32(seqData + seqMem/2 + s.r.IntN(512)*4)
	if s.r.IntN(4) > 0 {
		mid &^= 63
	}
	m := &in.Mem
	switch {
	case m.Base == x86.RIP:
		at := len(s.code) + int(in.DispOff)
		end := uint32(seqCode + len(s.code) + int(in.Len))
		s.add(b...)
		binary.LittleEndian.PutUint32(s.code[at:], mid-end)
		return
	case s.r.IntN(100) == 0: // leave it as it is: faults
	case m.Disp > 4000 || m.Disp < -4000:
		return
	default:
		if m.Index != x86.NoReg {
			s.setReg(m.Index, uint32(s.r.IntN(64)))
		}
		if m.Base != x86.NoReg {
			s.setReg(m.Base, mid-uint32(m.Disp))
		}
	}
	s.add(b...)
}

// branch emits a forward branch of a random form over a few random instructions.
func (s *sequence) branch(list [][]byte) {
	body := &sequence{r: s.r}
	form := s.r.IntN(6)
	pad := 20 // room for the branch
	body.code = append(body.code, bytes.Repeat([]byte{0x90}, len(s.code)+pad)...)
	for range s.r.IntN(3) {
		body.inst(list[s.r.IntN(len(list))])
	}
	code := body.code[len(s.code)+pad:]
	if len(code) > 100 {
		return
	}
	at := len(s.code)
	target := uint32(seqCode + at + pad + len(code))
	switch form {
	case 0:
		s.add(0xeb, byte(pad-2+len(code)))
	case 1: // through a register
		s.setReg(x86.RDX, target)
		s.add(0xff, 0xe2)
	case 2: // jrcxz
		s.add(0xe3, byte(pad-2+len(code)))
	case 3: // call of the next address, return to the target
		s.setReg(x86.RSI, target)
		s.add(0x56, 0xc3)
	default:
		s.add(0x0f, 0x80|byte(s.r.IntN(16)))
		s.code = binary.LittleEndian.AppendUint32(s.code, uint32(pad-6+len(code)))
	}
	for len(s.code) < at+pad {
		s.add(0x90)
	}
	s.add(code...)
}

// loop repeats a few random instructions, with the counter in memory.
func (s *sequence) loop(list [][]byte) {
	s.add(0xc7, 0x04, 0x25) // mov dword [counter], n
	s.code = binary.LittleEndian.AppendUint32(s.code, seqData+seqMem-64)
	s.code = binary.LittleEndian.AppendUint32(s.code, uint32(2+s.r.IntN(20)))
	top := len(s.code)
	for range 1 + s.r.IntN(6) {
		if s.r.IntN(4) == 0 {
			s.branch(list)
			continue
		}
		s.inst(list[s.r.IntN(len(list))])
	}
	s.add(0xff, 0x0c, 0x25) // dec dword [counter]
	s.code = binary.LittleEndian.AppendUint32(s.code, seqData+seqMem-64)
	s.add(0x0f, 0x8f) // jg
	s.code = binary.LittleEndian.AppendUint32(s.code, uint32(top-len(s.code)-4))
}

func randomSequence(r *rand.Rand, list [][]byte) []byte {
	s := &sequence{r: r}
	for range 4 + r.IntN(40) {
		switch r.IntN(12) {
		case 0, 1:
			s.branch(list)
		case 2:
			s.loop(list)
		default:
			s.inst(list[r.IntN(len(list))])
		}
	}
	// The ends of the two runs differ, so no string instruction may get there.
	s.add(0xe9, 0, 1, 0, 0)
	s.add(bytes.Repeat([]byte{0x90}, 256)...)
	return s.code
}

// state is what a run leaves behind.
type state struct {
	gpr    [16]uint64
	rip    uint64
	flags  uint64
	vector []byte
	mem    []byte
	signal uint64
	addr   uint64
}

// differ holds the two machines of the differential test.
type differ struct {
	e         *Engine
	ctx       *cpu.Context
	code, mem []byte
	init      []byte
	start     cpu.Context
	insts     uint64            // of the last translated run
	seq       int               // the sequence that ran last
	edges     map[EdgeID]uint64 // counted in it
	also      []stretch         // other memory that the sequences use
}

// stretch is memory, and what it holds at the start.
type stretch struct{ mem, init []byte }

// randomValue returns a number of random size that is no address of this process but its data.
func randomValue(r *rand.Rand) uint64 {
	v := r.Uint64()
	switch r.IntN(5) {
	case 0:
		return v & 0xff
	case 1:
		return v & 0xfffff
	case 2:
		return v&0xffffffff | 0x80000000
	case 3:
		return seqData + v%seqMem
	}
	return v | 1<<60
}

func (d *differ) randomState(r *rand.Rand) {
	c := &d.start
	*c = *d.ctx
	c.ResetVector()
	for i := range c.GPR {
		c.GPR[i] = randomValue(r)
	}
	c.GPR[x86.RSP] = seqData + seqMem/4
	c.GPR[x86.RCX] &= 15 // rep counts
	c.RIP = seqCode
	c.RFLAGS = 0x202 | r.Uint64()&0x8d5
	for i := 160; i < 416; i += 8 {
		binary.LittleEndian.PutUint64(c.XSave[i:], math.Float64bits(r.NormFloat64()))
	}
	for i := 0; i < seqMem; i += 8 {
		binary.LittleEndian.PutUint64(d.init[i:], math.Float64bits(r.NormFloat64()*100))
	}
}

// begin puts the context and memory into the start state.
func (d *differ) begin() {
	edges := d.ctx.Retired
	*d.ctx = d.start
	d.ctx.Retired = edges
	copy(d.mem, d.init)
	for _, a := range d.also {
		copy(a.mem, a.init)
	}
}

func (d *differ) capture() state {
	c := d.ctx
	s := state{gpr: c.GPR, rip: c.RIP, flags: c.RFLAGS & 0xcd5,
		vector: bytes.Clone(c.XSave[:2432]), mem: bytes.Clone(d.mem)}
	for _, r := range [][2]int{{6, 24}, {28, 32}, {416, 512}} { // x87 instruction and data pointers, MXCSR mask, reserved
		clear(s.vector[r[0]:r[1]])
	}
	// Components that are initial may hold any bytes (SDM vol. 1, 13.4).
	for bit, r := range map[byte][2]int{2: {160, 416}, 4: {576, 832}, 0x20: {832, 896}, 0x40: {896, 1408}, 0x80: {1408, 2432}} {
		if s.vector[512]&bit == 0 {
			clear(s.vector[r[0]:r[1]])
		}
	}
	s.vector[512] |= 0xe7
	return s
}

// writable sets whether the sequence may be written; the function it returns undoes that.
func (d *differ) writable(w bool) func() {
	prot := syscall.PROT_READ | syscall.PROT_EXEC
	if w {
		prot |= syscall.PROT_WRITE
	}
	if err := syscall.Mprotect(d.code, prot); err != nil {
		panic(err)
	}
	return func() { d.writable(true) }
}

// native runs the sequence itself.
func (d *differ) native(n int) state {
	d.begin()
	jump := []byte{0x65, 0xff, 0x24, 0x25}
	jump = binary.LittleEndian.AppendUint32(jump, cpu.Slot(cpu.SlotExit))
	copy(d.code[n:], jump)
	d.ctx.ExitReason = cpu.ExitNone
	defer d.writable(false)()
	cpu.Enter(d.ctx, seqCode)
	d.ctx.RIP = uint64(seqCode + n)
	sig, addr := uint64(0), uint64(0)
	if d.ctx.ExitReason == cpu.ExitFault {
		d.ctx.RIP = d.ctx.Scratch[cpu.SlotSigPC]
		sig, addr = d.ctx.Scratch[cpu.SlotSig], d.ctx.Scratch[cpu.SlotSigAddr]
	}
	s := d.capture()
	s.signal, s.addr = sig, addr
	return s
}

// translated runs it in the engine, in slices of the given size.
func (d *differ) translated(n int, slice int64) (state, cpu.Exit) {
	d.begin()
	copy(d.code[n:], []byte{0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90})
	x := cpu.Exit{Reason: cpu.ExitBudget}
	defer d.writable(false)()
	for i := 0; (x.Reason == cpu.ExitBudget || x.Reason == cpu.ExitRepeat) && i < 100000; i++ {
		x = d.e.Run(d.ctx, slice)
	}
	if x.Reason == cpu.ExitSyscall {
		d.ctx.RIP -= 2
	}
	s := d.capture()
	if x.Reason == cpu.ExitFault {
		s.signal, s.addr = uint64(x.Signal), x.Addr
	}
	return s, x
}

// difference describes how two states differ, or is empty.
func difference(a, b *state) string {
	var w strings.Builder
	for i := range a.gpr {
		if a.gpr[i] != b.gpr[i] {
			fmt.Fprintf(&w, "r%d %#x, translated %#x\n", i, a.gpr[i], b.gpr[i])
		}
	}
	for _, f := range []struct {
		name string
		a, b uint64
	}{{"rip", a.rip, b.rip}, {"flags", a.flags, b.flags}, {"signal", a.signal, b.signal}, {"address", a.addr, b.addr}} {
		if f.a != f.b {
			fmt.Fprintf(&w, "%s %#x, translated %#x\n", f.name, f.a, f.b)
		}
	}
	diffBytes(&w, "vector state", a.vector, b.vector)
	diffBytes(&w, "memory", a.mem, b.mem)
	return w.String()
}

func diffBytes(w *strings.Builder, what string, a, b []byte) {
	for i := range a {
		if a[i] != b[i] {
			fmt.Fprintf(w, "%s at %#x: %x, translated %x\n", what, i, a[i], b[i])
			return
		}
	}
}

// TestRandomSequences runs random instruction sequences natively and translated:
// registers, flags, vector state, memory and faults must be equal.
func TestRandomSequences(t *testing.T) {
	list := corpus(t)
	d := &differ{init: make([]byte, seqMem)}
	d.code = mapGuest(t, seqCode, seqSize, nil)
	d.mem = mapGuest(t, seqData, seqMem, nil)
	for _, row := range []struct {
		name string
		cfg  Config
		drop func(*x86.Inst) bool
	}{
		{"plain", Config{Mode: Plain}, usesAVX512},
		{"count", Config{Mode: Count}, usesAVX512},
		{"count without x87", Config{Mode: Count}, func(in *x86.Inst) bool { return in.X87 || usesAVX512(in) }},
		{"count with AVX-512", Config{Mode: Count, AllHostFeatures: true}, func(*x86.Inst) bool { return false }},
		{"trace", Config{Mode: Trace}, usesAVX512},
		{"trace with a filter", Config{Mode: Trace, FilterLines: 2, FilterMask: 0xfc0}, usesAVX512},
		{"log", Config{Mode: Log}, usesAVX512},
		{"log with AVX-512", Config{Mode: Log, AllHostFeatures: true}, func(*x86.Inst) bool { return false }},
	} {
		t.Run(row.name, func(t *testing.T) { d.run(t, row.cfg, without(list, row.drop)) })
	}
}

func usesAVX512(in *x86.Inst) bool { return in.AVX512 || in.Enc == x86.EVEX }

// without drops instructions from a list.
func without(list [][]byte, drop func(*x86.Inst) bool) [][]byte {
	var kept [][]byte
	for _, b := range list {
		var in x86.Inst
		if x86.Decode(b, &in) == nil && !drop(&in) {
			kept = append(kept, b)
		}
	}
	return kept
}

// check runs the sequence translated; the state at the end must be want, and the edges
// counted those of the run before of the same sequence.
func (d *differ) check(t *testing.T, i int, code []byte, want *state, slice int64) {
	before := d.e.Retired(d.ctx)
	got, x := d.translated(len(code), slice)
	d.insts = d.e.Retired(d.ctx) - before
	if want.signal != 0 {
		got.flags = want.flags // flags that are written before they are read may have any value at a fault
	}
	if diff := difference(want, &got); diff != "" {
		t.Fatalf("sequence %d (seed %d), slices of %d: exit %+v\n%s% x", i, *randomSeed, slice, x, diff, code)
	}
	edges := map[EdgeID]uint64{}
	counted := uint64(0)
	d.e.Drain(d.ctx, func(id EdgeID, n uint64) {
		edges[id] = n
		if x := d.e.edges[id]; x.From >= 0 && x.Kind != EdgeReturn {
			counted += n * uint64(d.e.table[x.From].Instrs)
		}
	})
	if d.e.cfg.Mode != Plain && counted != d.insts {
		t.Fatalf("sequence %d (seed %d), slices of %d: exit %+v: %d instructions executed, edges of %d\n% x",
			i, *randomSeed, slice, x, d.insts, counted, code)
	}
	if d.seq == i && d.e.cfg.Mode == Count && !maps.Equal(edges, d.edges) {
		compareEdges(t, fmt.Sprintf("sequence %d, slices of %d", i, slice), d.e, edges, d.edges)
		t.Fatalf("% x", code)
	}
	d.seq, d.edges = i, edges
}

// open makes the engine. The function it returns closes it.
func (d *differ) open(t testing.TB, cfg Config) (done func()) {
	t.Helper()
	var err error
	cfg.CacheBytes = 8 << 20
	if d.e, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	filter := testFilter(cfg.FilterMask, max(cfg.FilterLines, 1))
	if cfg.FilterLines > 0 {
		d.e.SetFilter(uintptr(addrOf64(filter)))
	}
	if d.ctx, err = d.e.NewContext(); err != nil {
		t.Fatal(err)
	}
	d.seq = -1
	return func() {
		d.e.Close()
		runtime.KeepAlive(filter)
	}
}

func (d *differ) run(t *testing.T, cfg Config, list [][]byte) {
	defer d.open(t, cfg)()
	for _, b := range list {
		if in := (x86.Inst{}); x86.Decode(b, &in) == nil && in.X87 && !d.e.x87 {
			d.e.sawX87() // before the native run needs it
		}
	}
	r := rand.New(rand.NewPCG(*randomSeed, uint64(cfg.Mode)))
	faults := 0
	for i := range *randomSeqs {
		code := randomSequence(r, list)
		d.randomState(r)
		copy(d.code, code)
		n := len(code)
		want := d.native(n)
		d.check(t, i, code, &want, []int64{1 << 30, 1, 13}[i%3])
		first := d.insts
		d.check(t, i, code, &want, 1<<30) // hot code is in regions now
		if d.insts != first {
			t.Fatalf("sequence %d: %d instructions, then %d\n% x", i, first, d.insts, code)
		}
		if want.signal != 0 {
			faults++
		}
		d.e.Invalidate(seqCode, seqCode+seqSize)
	}
	t.Logf("%d kinds of instruction, %d sequences, %d faults, %d instructions", len(list), *randomSeqs, faults, d.e.Retired(d.ctx))
}
