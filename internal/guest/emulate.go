package guest

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
	"lime/internal/unit"
)

// instruction is an instruction to be emulated, taken apart as far as needed.
type instruction struct {
	rep, word, addr32 bool
	seg               byte
	rex               byte
	op                [2]byte
	rest              []byte // from the ModRM byte on
	end               uint64 // address behind it
	takes             unit.Nanos
}

func (in *instruction) modrm() byte {
	if len(in.rest) == 0 {
		return 0
	}
	return in.rest[0]
}

// emulations are the instructions of cpu.ExitEmulate by their opcode (Intel SDM vol. 2).
var emulations = map[[2]byte]func(p *Process, t *Thread, in *instruction) bool{
	{0x0f, 0xa2}: emulateCPUID,
	{0x0f, 0x31}: emulateRdtsc,
	{0x0f, 0x01}: emulate0F01,
	{0x0f, 0xc7}: emulate0FC7,
	{0x0f, 0xae}: emulateXsave,
}

// HandleEmulate does cpuid, rdtsc and the like, and steps over them.
func (p *Process) HandleEmulate(t *Thread, e cpu.Exit) (out Outcome) {
	defer p.guard(t, &out)
	p.now = max(p.now, p.host.Now(t))
	in, ok := takeApart(p.Readable(t.Ctx.RIP, uint64(e.Len)), t.Ctx.RIP)
	do := emulations[in.op]
	t.faultTrap = 0
	if !ok || do == nil || !do(p, t, &in) {
		t.astray = true       // its block counts as left
		if t.faultTrap != 0 { // the instruction's own fault
			return p.deliver(t, Outcome{})
		}
		return p.HandleFault(t, cpu.Exit{Reason: cpu.ExitFault, Signal: int(unix.SIGILL), Code: 2, Addr: t.Ctx.RIP, Trapno: 6})
	}
	t.Ctx.RIP = in.end
	return p.deliver(t, Outcome{Takes: in.takes})
}

func emulateRdtsc(p *Process, t *Thread, in *instruction) bool {
	p.setTSC(t)
	in.takes = tscTakes
	return true
}

// takeApart reads prefixes and the opcode.
func takeApart(code []byte, pc uint64) (in instruction, ok bool) {
	in.end = pc + uint64(len(code))
	for i, b := range code {
		switch {
		case b == 0x66:
			in.word = true
		case b == 0x67:
			in.addr32 = true
		case b == 0xf3:
			in.rep = true
		case b == 0x64 || b == 0x65:
			in.seg = b
		case b == 0xf2 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26:
		case b&0xf0 == 0x40:
			in.rex = b
			continue
		default:
			if i+2 > len(code) {
				return in, false
			}
			in.op, in.rest = [2]byte{b, code[i+1]}, code[i+2:]
			return in, true
		}
		in.rex = 0
	}
	return in, false
}

// address is the effective address of the memory operand (Intel SDM vol. 2A, 2.1.5).
func (in *instruction) address(c *cpu.Context) (uint64, bool) {
	b := in.rest
	mod, rm := in.modrm()>>6, int(in.modrm()&7)
	if len(b) == 0 || mod == 3 {
		return 0, false
	}
	b = b[1:]
	at, disp := uint64(0), 0
	switch {
	case rm == 4:
		if len(b) == 0 {
			return 0, false
		}
		at, disp = in.sib(c, b[0], mod)
		b = b[1:]
	case rm == 5 && mod == 0:
		at, disp = in.end, 4
	default:
		at = c.GPR[rm|int(in.rex&1)<<3]
	}
	disp = max(disp, [3]int{0, 1, 4}[mod])
	if len(b) < disp {
		return 0, false
	}
	switch disp {
	case 1:
		at += uint64(int64(int8(b[0])))
	case 4:
		at += uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	}
	return in.inSegment(c, at), true
}

func (in *instruction) sib(c *cpu.Context, s, mod byte) (at uint64, disp int) {
	base, index := int(s&7), int(s>>3&7)|int(in.rex>>1&1)<<3
	if base == 5 && mod == 0 {
		disp = 4
	} else {
		at = c.GPR[base|int(in.rex&1)<<3]
	}
	if index != 4 {
		at += c.GPR[index] << (s >> 6)
	}
	return at, disp
}

func (in *instruction) inSegment(c *cpu.Context, at uint64) uint64 {
	if in.addr32 {
		at &= 0xffffffff
	}
	switch in.seg {
	case 0x64:
		at += c.FSBase
	case 0x65:
		at += c.GSBase
	}
	return at
}

func emulateCPUID(p *Process, t *Thread, _ *instruction) bool {
	g := &t.Ctx.GPR
	v := p.cpuid.lookup(uint32(g[rax]), uint32(g[rcx]), p.apicID(t))
	g[rax], g[rbx], g[rcx], g[rdx] = uint64(v[0]), uint64(v[1]), uint64(v[2]), uint64(v[3])
	return true
}

func (p *Process) setTSC(t *Thread) {
	v := uint64(p.host.Now(t) + bootTime)
	t.Ctx.GPR[rax], t.Ctx.GPR[rdx] = v&0xffffffff, v>>32
}

// emulate0F01 is xgetbv (d0) and rdtscp (f9).
func emulate0F01(p *Process, t *Thread, in *instruction) bool {
	g := &t.Ctx.GPR
	switch {
	case in.modrm() == 0xd0 && uint32(g[rcx]) == 0:
		g[rax], g[rdx] = p.cpuid.xcr0&0xffffffff, p.cpuid.xcr0>>32
		return true
	case in.modrm() == 0xf9:
		emulateRdtsc(p, t, in)
		g[rcx] = uint64(p.host.Core(t))
		return true
	}
	return false
}

// emulate0FC7 is rdrand (/6), rdseed (/7) and, with F3, rdpid.
func emulate0FC7(p *Process, t *Thread, in *instruction) bool {
	modrm := in.modrm()
	if modrm < 0xf0 {
		return false
	}
	r := int(modrm&7) | int(in.rex&1)<<3
	g := &t.Ctx.GPR
	const cf, status = 1, 0x8d5
	switch {
	case in.rep && modrm>>3&7 == 7:
		g[r] = uint64(p.host.Core(t))
		return true
	case in.rex&8 != 0:
		g[r] = p.random.next()
	case in.word:
		g[r] = g[r]&^0xffff | p.random.next()&0xffff
	default:
		g[r] = p.random.next() & 0xffffffff
	}
	t.Ctx.RFLAGS = t.Ctx.RFLAGS&^status | cf
	return true
}

// emulateXsave is xsave (/4), xsaveopt (/6) and xrstor (/5), limited to the
// components that the guest's XCR0 has (Intel SDM vol. 1, 13.7 and 13.8).
func emulateXsave(p *Process, t *Thread, in *instruction) bool {
	c := t.Ctx
	at, ok := in.address(c)
	if !ok {
		return false
	}
	want := (c.GPR[rax]&0xffffffff | c.GPR[rdx]<<32) & p.cpuid.xcr0
	switch in.modrm() >> 3 & 7 {
	case 4, 6:
		ok = p.xsaveTo(c, at, want)
	case 5:
		ok = p.xrstorFrom(c, at, want)
	default:
		return false
	}
	if !ok || at%64 != 0 {
		p.forceFault(t, cpu.Exit{Signal: int(unix.SIGSEGV), Code: siKernel, Trapno: 13})
		return false
	}
	return true
}

// xpart is a piece of the XSAVE area in the standard format.
type xpart struct {
	need   uint64 // components of which at least one must be asked for
	lo, hi int
}

// xparts are the pieces for the components of xcr0.
func (t *cpuidTable) xparts() []xpart {
	out := []xpart{{1, 0, 24}, {6, 24, 32}, {1, 32, 160}, {2, 160, 416}}
	for i := uint32(2); i < 63; i++ {
		if t.xcr0>>i&1 != 0 {
			n, off, _, _ := cpu.CPUID(0xd, i)
			out = append(out, xpart{1 << i, int(off), int(off + n)})
		}
	}
	return out
}

func (p *Process) xsaveTo(c *cpu.Context, at, want uint64) bool {
	bv, ok := p.mem.load64(at + xsaveHeader)
	for _, x := range p.cpuid.xparts() {
		if want&x.need != 0 {
			ok = ok && p.mem.write(at+uint64(x.lo), c.XSave[x.lo:x.hi])
		}
	}
	return ok && p.mem.store64(at+xsaveHeader, bv&^want|le64(c.XSave[xsaveHeader:])&want)
}

func (p *Process) xrstorFrom(c *cpu.Context, at, want uint64) bool {
	var h [64]byte
	if !p.mem.read(at+xsaveHeader, h[:]) || le64(h[8:]) != 0 || le64(h[:])&^p.cpuid.xcr0 != 0 {
		return false
	}
	have := le64(h[:])
	for _, x := range p.cpuid.xparts() {
		switch part := c.XSave[x.lo:x.hi]; {
		case want&x.need == 0:
		case have&x.need != 0 || x.lo == 24:
			if !p.mem.read(at+uint64(x.lo), part) {
				return false
			}
		default:
			clear(part)
		}
	}
	if want&^have&1 != 0 {
		c.XSave[0], c.XSave[1] = 0x7f, 0x03
	}
	putLE32(c.XSave[24:], le32(c.XSave[24:])&0xffff)
	putLE64(c.XSave[xsaveHeader:], le64(c.XSave[xsaveHeader:])&^want|have&want)
	return true
}
