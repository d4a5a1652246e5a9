package hook

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// A lock that is free costs nothing if only what its functions do for a lock that is not is
// recorded: they call another function then, which makes the system call futex(2). Those calls are
// direct ones, so that their distance can be changed to lead to a stub, and nothing else is
// touched.

// slowCall is a call to a function that makes the system call.
type slowCall struct{ at, target uint64 }

// codeMap knows where the functions of an image begin, as its unwind information has them.
type codeMap struct {
	starts []uint64
	read   func(addr uint64, p []byte) error
}

// newCodeMap reads the search table of .eh_frame_hdr (Linux Standard Base, 10.6.2) at a run-time
// address.
func newCodeMap(hdr uint64, read func(uint64, []byte) error) (*codeMap, error) {
	const fixed, encodings, entry, most = 12, 0x3b031b01, 8, 1 << 22 // version 1; pcrel|sdata4, udata4, datarel|sdata4
	var head [fixed]byte
	if err := read(hdr, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[8:])
	if v := binary.LittleEndian.Uint32(head[:]); v != encodings || n == 0 || n > most {
		return nil, fmt.Errorf("unwind table at %#x: %d functions, encodings %#x", hdr, n, v)
	}
	table := make([]byte, int(n)*entry)
	if err := read(hdr+fixed, table); err != nil {
		return nil, err
	}
	m := &codeMap{read: read}
	for ; len(table) >= entry; table = table[entry:] {
		m.starts = append(m.starts, hdr+uint64(int64(int32(binary.LittleEndian.Uint32(table)))))
	}
	return m, nil
}

// body returns the code from addr to the beginning of the next function; addr must be where one
// begins.
func (m *codeMap) body(addr uint64) []byte {
	const most = 1 << 13
	i, found := slices.BinarySearch(m.starts, addr)
	if !found {
		return nil
	}
	size := uint64(most)
	if i+1 < len(m.starts) {
		size = min(size, m.starts[i+1]-addr)
	}
	code := make([]byte, size)
	if m.read(addr, code) != nil {
		return nil
	}
	return code
}

// start is where the function around an address begins, 0 if it is not known.
func (m *codeMap) start(addr uint64) uint64 {
	i := sort.Search(len(m.starts), func(i int) bool { return m.starts[i] > addr })
	if i == 0 {
		return 0
	}
	return m.starts[i-1]
}

// each decodes a function up to what is no instruction.
func (m *codeMap) each(addr uint64, visit func(pc uint64, code []byte, in *x86.Inst)) {
	code := m.body(addr)
	var in x86.Inst
	for at := 0; at < len(code) && x86.Decode(code[at:], &in) == nil; at += int(in.Len) {
		visit(addr+uint64(at), code[at:at+int(in.Len)], &in)
	}
}

// slowCalls finds the calls to functions that make the system call futex, in a function and in
// those that it goes on as.
func (m *codeMap) slowCalls(entry uint64) (calls []slowCall) {
	const rounds = 3 // a jump to the function proper, and one to its cold part
	seen, next := map[uint64]bool{}, []uint64{entry}
	futex := map[uint64]bool{}
	for range rounds {
		list := next
		next = nil
		for _, f := range list {
			if seen[f] {
				continue
			}
			seen[f] = true
			m.each(f, func(pc uint64, code []byte, in *x86.Inst) {
				switch in.Branch {
				case x86.BranchCall:
					to := in.Target(pc)
					if _, known := futex[to]; !known {
						futex[to] = m.callsFutex(to)
					}
					if futex[to] && in.Len == callBytes && code[0] == callOpcode {
						calls = append(calls, slowCall{pc, to})
					}
				case x86.BranchJump, x86.BranchCond:
					next = append(next, m.start(in.Target(pc)))
				}
			})
		}
	}
	return calls
}

// The direct call: an opcode, and the distance from its end.
const (
	callOpcode = 0xe8
	callBytes  = 5
)

// callsFutex reports whether a function makes the system call itself.
func (m *codeMap) callsFutex(entry uint64) (yes bool) {
	const movEAX, futex = 0xb8, 202
	number := false
	m.each(entry, func(_ uint64, code []byte, in *x86.Inst) {
		if code[0] == movEAX && len(code) == 5 {
			number = binary.LittleEndian.Uint32(code[1:]) == futex
		}
		yes = yes || number && in.Branch == x86.BranchSyscall
	})
	return yes
}

// slowPath hooks a function at its slow calls. It reports false if there are none, or if they are
// out of reach of the stubs.
func (t *Tracee) slowPath(in *Installed, ims []image, f *Func, p stubParams) (bool, error) {
	im := imageOf(ims, p.target)
	if im == nil || im.unwind == 0 && im.code == nil {
		return false, nil
	}
	if im.code == nil {
		code, err := newCodeMap(im.unwind, t.read)
		if err != nil { // another kind of table: the function itself is hooked
			im.unwind = 0
			return false, nil
		}
		im.code = code
	}
	calls := im.code.slowCalls(p.target)
	for _, c := range calls {
		if !inReach(c.at, in.Lo) || !inReach(c.at, in.Lo+codeRoom) || t.held != nil && crosses(c.at+1, callBytes-1) {
			return false, nil
		}
	}
	stubs := map[uint64]uint64{}
	for _, c := range calls {
		to, ok := stubs[c.target]
		if !ok {
			q := p
			q.target = c.target
			var err error
			if to, err = t.place(in, f.Name, innerStub(q)); err != nil {
				return false, err
			}
			stubs[c.target] = to
		}
		if err := t.patch(in, c, to); err != nil {
			return false, err
		}
	}
	return len(calls) > 0, nil
}

// inReach reports whether a direct call can lead from one address to another.
func inReach(from, to uint64) bool {
	d := int64(to - from)
	return d == int64(int32(d)) && d > -1<<31+1<<12
}

// patch makes a call lead to a stub.
func (t *Tracee) patch(in *Installed, c slowCall, to uint64) error {
	return t.change(in, c.at+1, binary.LittleEndian.AppendUint32(nil, uint32(to-(c.at+callBytes))))
}

// change writes code, and remembers what stood there.
func (t *Tracee) change(in *Installed, at uint64, now []byte) error {
	p := patch{at: at, old: make([]byte, len(now)), now: now}
	if err := t.read(at, p.old); err != nil {
		return err
	}
	in.patches = append(in.patches, p)
	return t.write(at, now)
}

// patch is changed code: the distance of a call, or a jump.
type patch struct {
	at       uint64
	old, now []byte
}

// innerFrame is the room of an inner stub that waits: it keeps the stack aligned.
const innerFrame = 56

// innerStub stands for the function that makes the system call. Its caller may rely on registers
// that this function is known to keep, so the stub changes none.
//
//	wake: record(lock, _); jmp target
//	wait: start = rdtsc; call target; if rdtsc - start >= slow { record(lock, rdtsc - start) }; ret
func innerStub(p stubParams) stub {
	var a asm
	if p.slow == 0 {
		a.record(p, Enter)
		a.jumpTo(p.target)
		return stub{code: a.Code, inside: -1}
	}
	const lock, start, keepDX, keepAX, keepSI = 8, 16, 24, 32, 0
	a.SubImm(x86.RSP, innerFrame)
	a.Store(onStack(lock), x86.RDI)
	a.Store(onStack(keepDX), x86.RDX)
	a.Store(onStack(keepAX), x86.RAX)
	a.clock()
	a.Store(onStack(start), x86.RAX)
	a.Load(x86.RDX, onStack(keepDX))
	a.Load(x86.RAX, onStack(keepAX))
	a.CallMem(a.Rip(6, 2)) // the address behind the jump
	s := stub{inside: len(a.Code), frame: innerFrame}
	over := a.JmpShort()
	a.address(p.target)
	a.Bind(over)
	a.Store(onStack(keepDX), x86.RDX)
	a.Store(onStack(keepAX), x86.RAX)
	a.Store(enc.Mem{Base: x86.RSP, Index: x86.NoReg, Disp: keepSI, Least: 1}, x86.RSI)
	a.clock()
	a.SubMem(x86.RAX, onStack(start))
	a.Mov(x86.RSI, x86.RAX)
	a.Load(x86.RDI, onStack(lock))
	a.Load(x86.RDX, onStack(keepDX))
	a.Load(x86.RAX, onStack(keepAX))
	a.AddImm(x86.RSP, innerFrame)
	a.CmpImm32(x86.RSI, int32(p.slow))
	out := a.JccFar(enc.CondB)
	a.record(p, Enter)
	a.BindFar(out)
	a.Load(x86.RSI, onStack(keepSI-innerFrame)) // in the red zone
	a.Ret()
	s.code = a.Code
	return s
}

// jumpTo jumps and changes no register.
func (a *asm) jumpTo(target uint64) {
	a.JmpMem(a.Rip(6, 0))
	a.address(target)
}

// address is an address among the code.
func (a *asm) address(v uint64) { a.Code = binary.LittleEndian.AppendUint64(a.Code, v) }
