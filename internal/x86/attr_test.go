package x86

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// Addresses of testdata/attr.c.
const (
	attrCode     = 0x10000000
	attrPrologue = 137 // bytes before the instruction
	attrBuf      = 0x10004000
	attrMem      = 2048
	attrTarget   = attrBuf + 1024
)

// request and result are the structs of testdata/attr.c.
type request struct {
	Code            [16]byte
	Len, Flush      uint32
	GPR             [16]uint64
	Flags           uint64
	Outside, Inside uint64
	Lo, Hi          uint32
	Vectors, Others uint64
	Mask, Pad       uint32
}

type result struct {
	GPR                      [16]uint64
	Flags, Memory            uint64
	State                    [4]uint64 // x87, sse, avx, avx512
	Low, High                [32]uint64
	First, Last, Signal, Pad uint32
}

// runner is the native executor.
type runner struct {
	in   io.WriteCloser
	out  io.Reader
	done func()
}

func startRunner(t *testing.T) *runner {
	t.Helper()
	testenv.Tool(t, "gcc")
	exe := filepath.Join(t.TempDir(), "attr")
	if out, err := exec.Command("gcc", "-O2", "-o", exe, "testdata/attr.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	cmd := exec.Command(exe)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("cannot start the executor")
	}
	return &runner{in, out, func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("executor: %v", err)
		}
	}}
}

// run executes the requests in order.
func (r *runner) run(t *testing.T, reqs []request) []result {
	t.Helper()
	reqs[len(reqs)-1].Flush = 1
	go func() {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, reqs)
		_, _ = r.in.Write(b.Bytes()) // a failure shows when reading
	}()
	res := make([]result, len(reqs))
	if err := binary.Read(r.out, binary.LittleEndian, res); err != nil {
		t.Fatalf("executor died near % x: %v", reqs[0].Code, err)
	}
	return res
}

// trial is one instruction with what the decoder says about it.
type trial struct {
	in    Inst
	row   *row
	dec   decoder
	code  []byte
	reqs  []request
	what  []probe
	fault bool
}

// probe says which request differs from which base, and by what.
type probe struct {
	base int  // index of the undisturbed request; itself for a base
	kind byte // 'r' registers, 'f' flags, 'v' vectors and masks, 'w' vector registers not read, 'o' memory outside, 'i' inside, 0 base
}

// leftOut gives the reason why an instruction cannot be tried.
func leftOut(in *Inst, r *row) string {
	offset := Reg(in.ModRM>>3&7 | in.Rex&rexR<<1)
	switch {
	case in.Branch != BranchNone:
		return "branch"
	case in.Special != SpecialNone && in.Special != SpecialRep && in.Special != SpecialPause && in.Special != SpecialSerial:
		return "special"
	case in.Lock && !(in.HasMem && in.Mem.Read && in.Mem.Write):
		return "lock without a read and write of memory faults"
	case in.Name == "popf":
		return "may set the trap flag"
	case in.Name == "mov" && in.Opcode == 0x8e && in.Map == 0, in.Name == "wrpkru":
		return "loads a segment or protection register"
	case in.Name == "clui" || in.Name == "stui" || in.Name == "testui":
		return "user interrupts: without them, a processor reads what is behind the prefix" // rdpkru, wrpkru
	case in.BitString && (offset == in.Mem.Base || offset == in.Mem.Index):
		return "bit offset in an address register"
	case in.Mem.VSIB && in.Mem.Base == NoReg:
		return "gather and scatter without a base"
	case in.Mem.Seg != 0 || in.SegOff != 0:
		return "segment override"
	case in.ImplicitRead && in.ImmLen >= 4 && in.Map == 0 || in.ImplicitWrite && in.Opcode >= 0xa0 && in.Opcode <= 0xa3 && in.Map == 0:
		return "absolute address"
	case r.attr&attrAMX != 0:
		return "tiles"
	}
	return ""
}

const allFlags = 7

var flagBits = [allFlags]uint64{1, 1 << 2, 1 << 4, 1 << 6, 1 << 7, 1 << 11, 1 << 10} // of CF PF AF ZF SF OF DF

// newTrial sets up undisturbed states and every perturbation of them.
func newTrial(code []byte, in *Inst, r *row, d *decoder) *trial {
	t := &trial{in: *in, row: r, dec: *d, code: append([]byte(nil), code...)}
	rng := rand.New(rand.NewPCG(uint64(len(code)), binary.LittleEndian.Uint64(append(append([]byte(nil), code...), make([]byte, 8)...))))
	variants := 2
	if *long {
		variants = 6
	}
	for v := range variants {
		base := len(t.reqs)
		q := t.state(v, rng)
		t.add(q, probe{base, 0})
		t.perturb(q, base, rng)
	}
	return t
}

func (t *trial) add(q request, p probe) {
	t.reqs = append(t.reqs, q)
	t.what = append(t.what, p)
}

func (t *trial) perturb(q request, base int, rng *rand.Rand) {
	p := q
	for r := range 16 {
		if !t.in.Reads.Has(Reg(r)) {
			p.GPR[r] ^= rng.Uint64() | 0x8000000080008181
		}
	}
	t.add(p, probe{base, 'r'})
	p = q
	for f, bit := range flagBits {
		if t.in.FlagsRead&(1<<f) == 0 {
			p.Flags ^= bit
		}
	}
	t.add(p, probe{base, 'f'})
	p = q
	p.Vectors = rng.Uint64()
	t.add(p, probe{base, 'v'})
	p = q
	p.Others, p.Mask = rng.Uint64(), ^t.in.VecReads
	t.add(p, probe{base, 'w'})
	if !t.in.ImplicitRead && t.row.attr&attrState == 0 {
		p = q
		p.Outside = rng.Uint64()
		t.add(p, probe{base, 'o'})
	}
	if t.in.HasMem && !t.in.Mem.Read && !t.in.ImplicitRead {
		p = q
		p.Inside = rng.Uint64()
		t.add(p, probe{base, 'i'})
	}
}

// state makes one undisturbed state; the variant decides on the size of values.
func (t *trial) state(variant int, rng *rand.Rand) request {
	q := request{Len: uint32(len(t.code)), Outside: rng.Uint64(), Inside: rng.Uint64(), Vectors: rng.Uint64(), Flags: 0x202}
	copy(q.Code[:], t.code)
	for i := range q.GPR {
		q.GPR[i] = rng.Uint64()
		if variant > 0 {
			q.GPR[i] = rng.Uint64N(5)
		}
	}
	if variant == 1 {
		q.GPR[RDX] = 0
	}
	for f := range allFlags - 1 { // the direction stays up: few instructions look at it
		if rng.Uint64N(2) == 0 {
			q.Flags |= flagBits[f]
		}
	}
	t.implicit(&q)
	t.aim(&q, rng)
	return q
}

// implicit points the registers of implicit memory operands at the buffer.
func (t *trial) implicit(q *request) {
	q.GPR[RSP] = attrTarget
	if t.in.Rep != 0 || strings.HasPrefix(t.in.Name, "xc") || strings.HasPrefix(t.in.Name, "xs") {
		q.GPR[RCX] = 2
	}
	if !t.in.ImplicitRead && !t.in.ImplicitWrite {
		return
	}
	for _, r := range []Reg{RSI, RDI, RBP, RBX} {
		if t.row.reads.Has(r) {
			q.GPR[r] = attrTarget + 64*uint64(r)
		}
	}
	if t.in.Name == "clzero" {
		q.GPR[RAX] = attrTarget
	}
	if t.row.nops > 0 && t.row.ops[0].kind == 'G' && t.row.ops[0].size == 8 {
		q.GPR[t.in.ModRM>>3&7|t.dec.rex&rexR<<1] = attrTarget + 256
	}
}

// aim sets the address registers so that the memory operand lies in the buffer.
func (t *trial) aim(q *request, rng *rand.Rand) {
	m := &t.in.Mem
	if !t.in.HasMem {
		return
	}
	ea := uint64(attrTarget)
	if t.in.BitString {
		q.GPR[t.in.ModRM>>3&7|t.dec.rex&rexR<<1] = rng.Uint64N(16)
	}
	disp, scale := uint64(int64(m.Disp)), uint64(m.Scale)
	switch {
	case m.Base == RIP:
		binary.LittleEndian.PutUint32(q.Code[t.in.DispOff:], uint32(ea-attrCode-attrPrologue-uint64(t.in.Len)))
	case m.Base == NoReg && m.Index == NoReg:
		binary.LittleEndian.PutUint32(q.Code[t.in.DispOff:], uint32(ea))
	case m.VSIB:
		q.Vectors = 0 // all indices are 0
		q.GPR[m.Base] = ea - disp
	case m.Base == NoReg:
		q.GPR[m.Index] = (ea - disp) / scale
		ea = q.GPR[m.Index]*scale + disp
	case m.Base == m.Index:
		q.GPR[m.Base] = (ea - disp) / (scale + 1)
		ea = q.GPR[m.Base]*(scale+1) + disp
	case m.Index != NoReg:
		q.GPR[m.Index] = 64
		q.GPR[m.Base] = ea - disp - 64*scale
	default:
		q.GPR[m.Base] = ea - disp
	}
	q.Lo = uint32(ea - attrBuf)
	q.Hi = q.Lo + uint32(m.Bytes)
}

// check compares what happened with what the decoder says. neutral are the
// results of a nop on the vector states of the requests.
func (t *trial) check(res []result, neutral map[[3]uint64]result) (problems []string) {
	fail := func(f string, a ...any) { problems = append(problems, fmt.Sprintf(f, a...)) }
	t.fault = true
	for i, p := range t.what {
		b := &res[p.base]
		if b.Signal != 0 {
			continue
		}
		t.fault = false
		if p.kind == 0 {
			t.checkBase(&t.reqs[i], &res[i], neutral[vectorKey(&t.reqs[i])], fail)
			continue
		}
		if p.kind == 'v' {
			t.checkState(&res[i], neutral[vectorKey(&t.reqs[i])], fail)
		}
		if res[i].Signal != 0 && p.kind != 'v' {
			fail("faults when %s is changed", p)
			continue
		}
		if p.kind == 'w' {
			t.checkVectors(b, &res[i], neutral[vectorKey(&t.reqs[i])], fail)
		}
		t.checkProbe(p, &t.reqs[p.base], &t.reqs[i], b, &res[i], fail)
	}
	return problems
}

func (p probe) String() string {
	switch p.kind {
	case 'r':
		return "a register not read"
	case 'f':
		return "a flag not read"
	case 'v':
		return "vector state"
	case 'w':
		return "a vector register not read"
	case 'o':
		return "memory outside of the operand"
	}
	return "the memory operand"
}

func flagName(f int) string { return [...]string{"CF", "PF", "AF", "ZF", "SF", "OF", "DF"}[f] }

// checkBase holds the changes of an undisturbed run against the claims.
func (t *trial) checkBase(q *request, r *result, nop result, fail func(string, ...any)) {
	for i := range 16 {
		if r.GPR[i] != q.GPR[i] && !t.in.Writes.Has(Reg(i)) {
			fail("writes %s", regText[i])
		}
	}
	for f, bit := range flagBits {
		if (r.Flags^q.Flags)&bit != 0 && t.in.FlagsWrite&(1<<f) == 0 {
			fail("writes %s", flagName(f))
		}
	}
	t.checkState(r, nop, fail)
	if r.First > r.Last || t.in.ImplicitWrite {
		return
	}
	if t.in.Mem.Write && t.in.Mem.Bytes == 0 && t.in.Special == SpecialXSAVE {
		return
	}
	if !t.in.Mem.Write || r.First < q.Lo || r.Last >= q.Hi {
		fail("writes memory %d..%d, the operand is %d..%d", r.First, r.Last, q.Lo, q.Hi)
	}
}

// checkState holds changes of the vector state against the claims. VEX clears the
// upper parts of registers, and so changes AVX-512 state too.
func (t *trial) checkState(r *result, nop result, fail func(string, ...any)) {
	if r.Signal != 0 {
		return
	}
	claims := [4]bool{t.in.X87, t.in.SSE, t.in.AVX, t.in.AVX512 || t.in.AVX}
	for i, name := range []string{"x87", "SSE", "AVX", "AVX512"} {
		if r.State[i] != nop.State[i] && !claims[i] {
			fail("changes %s state", name)
		}
	}
}

// checkVectors holds the outcome with other values in the vector registers that
// are not read: those written must come out the same, the others unchanged. A
// legacy instruction keeps what lies above bit 127.
func (t *trial) checkVectors(b, r *result, nop result, fail func(string, ...any)) {
	for i := range 32 {
		written := t.in.VecWrites>>i&1 != 0
		low, high := nop.Low[i], nop.High[i]
		if written {
			low = b.Low[i]
		}
		if written && t.in.Enc != Legacy {
			high = b.High[i]
		}
		switch {
		case (r.Low[i] != low || r.High[i] != high) && written:
			fail("vector register %d depends on a vector register not read", i)
		case r.Low[i] != low || r.High[i] != high:
			fail("writes vector register %d", i)
		}
	}
}

// vectorKey tells vector states apart.
func vectorKey(q *request) [3]uint64 { return [3]uint64{q.Vectors, q.Others, uint64(q.Mask)} }

// checkProbe holds the outcome of a perturbed run against the undisturbed one: all
// must be the same but what was perturbed.
func (t *trial) checkProbe(p probe, qb, q *request, b, r *result, fail func(string, ...any)) {
	if p.kind == 'v' && (t.in.X87 || t.in.SSE || t.in.AVX || t.in.AVX512) {
		return
	}
	for i := range 16 {
		switch {
		case t.in.Writes.Has(Reg(i)) && r.GPR[i] != b.GPR[i]:
			fail("%s depends on %s", regText[i], p)
		case !t.in.Writes.Has(Reg(i)) && r.GPR[i] != q.GPR[i]:
			fail("writes %s", regText[i])
		}
	}
	for f, bit := range flagBits {
		if (r.Flags^b.Flags)&bit == 0 || (q.Flags^qb.Flags)&bit != 0 && !t.mustWrite(f) {
			continue
		}
		fail("%s depends on %s", flagName(f), p)
	}
	if r.Memory != b.Memory && p.kind != 'i' && p.kind != 'o' {
		fail("memory depends on %s", p)
	}
	if p.kind != 'v' && p.kind != 'w' && r.State != b.State {
		fail("vector state depends on %s", p)
	}
}

// mustWrite is true for flags that are overwritten whatever happens, and not
// merely undefined.
func (t *trial) mustWrite(f int) bool {
	w := t.in.FlagsWrite &^ undefinedFlags(t.in.Name)
	return !t.in.CondWrite && w&(1<<f) != 0
}

// undefinedFlags are the flags that the manual leaves undefined: a processor may
// keep them (Intel SDM vol. 1, table A-2, and the pages of the instructions).
func undefinedFlags(name string) Flags {
	for _, u := range []struct {
		names string
		flags Flags
	}{
		{"mul imul", SF | ZF | AF | PF}, {"div idiv", StatusFlags},
		{"shl shr sar shld shrd", AF | OF | CF}, {"rol ror rcl rcr", OF | CF},
		{"bsf bsr", CF | OF | SF | AF | PF}, {"bt bts btr btc", OF | SF | AF | PF},
		{"tzcnt lzcnt", OF | SF | AF | PF}, {"and or xor test", AF},
		{"bextr", AF | SF | PF}, {"blsr blsi blsmsk bzhi andn", AF | PF},
	} {
		if strings.Contains(" "+u.names+" ", " "+name+" ") {
			return u.flags
		}
	}
	return 0
}
