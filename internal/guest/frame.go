package guest

import (
	"golang.org/x/sys/unix"

	"lime/internal/cpu"
)

// The signal frame, as the kernel lays it out on x86-64 (arch/x86/include/asm/sigframe.h
// and uapi/asm/sigcontext.h): return address, ucontext, siginfo; above it the
// XSAVE image on a 64-byte boundary.
const (
	frameUC       = 8
	ucFlags       = frameUC + 0
	ucStack       = frameUC + 16
	ucMcontext    = frameUC + 40
	ucSigmask     = ucMcontext + 256
	frameInfo     = ucSigmask + 8
	frameSize     = frameInfo + 128
	redZone       = 128
	ucFPXstate    = 1
	ucSigcontext  = 2
	ucStrictSS    = 4
	mcRIP         = ucMcontext + 128
	mcEflags      = ucMcontext + 136
	mcSegments    = ucMcontext + 144
	mcErr         = ucMcontext + 152
	mcTrapno      = ucMcontext + 160
	mcOldmask     = ucMcontext + 168
	mcCR2         = ucMcontext + 176
	mcFpstate     = ucMcontext + 184
	userCS        = 0x33
	userSS        = 0x2b
	fpMagic1      = 0x46505853
	fpMagic2      = 0x46505845
	fpSoftware    = 464 // sw_reserved inside the FXSAVE area
	xsaveHeader   = 512
	xsaveExtended = 576
	flagTF        = 0x100
	flagDF        = 0x400
	flagRF        = 0x10000
	userFlags     = 0x50dd5 | 0x200000 // what sigreturn may set: CF PF AF ZF SF TF DF OF RF AC ID
)

// Guest register numbers in Context.GPR.
const (
	rax = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15
)

// mcOrder is the order of the registers in struct sigcontext.
var mcOrder = [16]int{r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp}

// altStack is a sigaltstack.
type altStack struct {
	sp, size uint64
	flags    uint32
}

func (a altStack) on(sp uint64) bool {
	return a.flags&ssDisable == 0 && a.flags&ssAutodisarm == 0 && sp > a.sp && sp-a.sp <= a.size
}

// status is what ss_flags says.
func (a altStack) status(sp uint64) uint32 {
	switch {
	case a.size == 0 || a.flags&ssDisable != 0:
		return ssDisable
	case a.on(sp):
		return ssOnstack | a.flags
	}
	return a.flags
}

func (a altStack) usable() bool { return a.size != 0 && a.flags&ssDisable == 0 }

// frameAddrs places the frame and the XSAVE image.
func (p *Process) frameAddrs(t *Thread, a *sigAction) (frame, fp uint64, ok bool) {
	sp := t.Ctx.GPR[rsp] - redZone
	onAlt := t.alt.on(t.Ctx.GPR[rsp])
	if a.flags&saOnstack != 0 && t.alt.usable() && !onAlt {
		sp, onAlt = t.alt.sp+t.alt.size, true
	}
	fp = (sp - uint64(p.cpuid.xsaveSize) - 4) &^ 63
	frame = (fp-frameSize)&^15 - 8
	if onAlt && t.alt.usable() && frame < t.alt.sp {
		return 0, 0, false
	}
	return frame, fp, true
}

// pushFrame makes t run a handler.
func (p *Process) pushFrame(t *Thread, a *sigAction, info sigInfo) bool {
	at, fp, ok := p.frameAddrs(t, a)
	if !ok || a.flags&saRestorer == 0 {
		return false
	}
	var f [frameSize]byte
	p.fillFrame(t, f[:], fp)
	putLE64(f[0:], a.restorer)
	copy(f[frameInfo:], info[:])
	if !p.mem.write(at, f[:]) || !p.mem.write(fp, p.xsaveImage(t.Ctx)) {
		return false
	}
	p.enterHandler(t, a, info.sig(), at)
	return true
}

// fillFrame writes the ucontext.
func (p *Process) fillFrame(t *Thread, f []byte, fp uint64) {
	c := t.Ctx
	putLE64(f[ucFlags:], ucFPXstate|ucSigcontext|ucStrictSS)
	putLE64(f[ucStack:], t.alt.sp)
	putLE32(f[ucStack+8:], t.alt.status(c.GPR[rsp]))
	putLE64(f[ucStack+16:], t.alt.size)
	for i, r := range mcOrder {
		putLE64(f[ucMcontext+8*i:], c.GPR[r])
	}
	putLE64(f[mcRIP:], c.RIP)
	putLE64(f[mcEflags:], c.RFLAGS)
	putLE64(f[mcSegments:], userCS|userSS<<48)
	putLE64(f[mcErr:], t.faultErr)
	putLE64(f[mcTrapno:], t.faultTrap)
	mask := t.mask
	if t.savedMask != nil {
		mask = *t.savedMask
	}
	putLE64(f[mcOldmask:], uint64(mask))
	putLE64(f[mcCR2:], t.faultCR2)
	putLE64(f[mcFpstate:], fp)
	putLE64(f[ucSigmask:], uint64(mask))
}

// xsaveImage is the XSAVE image with the kernel's marks in it.
func (p *Process) xsaveImage(c *cpu.Context) []byte {
	n := p.cpuid.xsaveSize
	b := make([]byte, n+4)
	copy(b, c.XSave[:n])
	putLE32(b[fpSoftware:], fpMagic1)
	putLE32(b[fpSoftware+4:], uint32(n+4))
	putLE64(b[fpSoftware+8:], p.cpuid.xcr0)
	putLE32(b[fpSoftware+16:], uint32(n))
	clear(b[fpSoftware+20 : xsaveHeader])
	putLE64(b[xsaveHeader:], le64(b[xsaveHeader:])&p.cpuid.xcr0)
	clear(b[xsaveHeader+8 : xsaveExtended])
	putLE32(b[n:], fpMagic2)
	return b
}

// enterHandler sets the registers for a handler, its mask and its flags.
func (p *Process) enterHandler(t *Thread, a *sigAction, sig int, at uint64) {
	c := t.Ctx
	t.interruptedIn(at)
	c.GPR[rsp], c.RIP = at, a.handler
	c.GPR[rdi], c.GPR[rsi], c.GPR[rdx] = uint64(sig), at+frameInfo, at+frameUC
	c.GPR[rax] = 0
	c.RFLAGS &^= flagDF | flagRF | flagTF
	if a.flags&saOnstack != 0 && t.alt.flags&ssAutodisarm != 0 {
		t.alt = altStack{flags: ssDisable}
	}
	t.savedMask = nil
	t.mask |= a.mask
	if a.flags&saNodefer == 0 {
		t.mask |= setOf(sig)
	}
	t.mask &^= unblockable
	if a.flags&saResethand != 0 {
		*a = sigAction{}
	}
}

// interruptedIn notes where t has been interrupted, for when it comes back from the frame.
func (t *Thread) interruptedIn(frame uint64) {
	delete(t.interrupted, frame) // of a handler that never came back
	if t.astray {
		t.astray = false
		return
	}
	if t.interrupted == nil {
		t.interrupted = map[uint64]uint64{}
	}
	t.interrupted[frame] = t.Ctx.RIP
}

// backFrom notes that t has come back from a frame, perhaps to where the handler wanted.
func (t *Thread) backFrom(frame uint64) {
	pc, ok := t.interrupted[frame]
	delete(t.interrupted, frame)
	t.astray = !ok || pc != t.Ctx.RIP
}

// sysRtSigreturn takes the registers back from the frame.
func sysRtSigreturn(c *call) int64 {
	t, p := c.t, c.p
	at := t.Ctx.GPR[rsp] - 8
	var f [frameSize]byte
	if !p.mem.read(at, f[:]) || !p.restoreFP(t.Ctx, le64(f[mcFpstate:])) {
		info := newInfo(int(unix.SIGSEGV), siKernel)
		p.force(t, info)
		return c.keepRegisters()
	}
	for i, r := range mcOrder {
		t.Ctx.GPR[r] = le64(f[ucMcontext+8*i:])
	}
	t.Ctx.RIP = le64(f[mcRIP:])
	t.backFrom(at)
	t.Ctx.RFLAGS = t.Ctx.RFLAGS&^uint64(userFlags&^flagTF) | le64(f[mcEflags:])&(userFlags&^flagTF)
	t.mask = sigset(le64(f[ucSigmask:])) &^ unblockable
	if st := le32(f[ucStack+8:]); t.alt.status(t.Ctx.GPR[rsp])&ssOnstack == 0 {
		t.alt = altStack{sp: le64(f[ucStack:]), size: le64(f[ucStack+16:]), flags: st &^ ssOnstack}
	}
	return c.keepRegisters()
}

// restoreFP takes the vector state back; no state means the initial one.
func (p *Process) restoreFP(c *cpu.Context, at uint64) bool {
	if at == 0 {
		resetFP(c)
		return true
	}
	n := p.cpuid.xsaveSize
	var legacy [xsaveHeader]byte
	if !p.mem.read(at, legacy[:]) {
		return false
	}
	extended := le32(legacy[fpSoftware:]) == fpMagic1 && le32(legacy[fpSoftware+16:]) >= xsaveExtended &&
		int(le32(legacy[fpSoftware+16:])) <= n
	if !extended {
		copy(c.XSave[:], legacy[:fpSoftware])
		putLE64(c.XSave[xsaveHeader:], 3)
	} else {
		size := int(le32(legacy[fpSoftware+16:]))
		if !p.mem.read(at, c.XSave[:size]) {
			return false
		}
		features := le64(legacy[fpSoftware+8:]) & p.cpuid.xcr0
		putLE64(c.XSave[xsaveHeader:], le64(c.XSave[xsaveHeader:])&features)
	}
	clear(c.XSave[fpSoftware:xsaveHeader])
	clear(c.XSave[xsaveHeader+8 : xsaveExtended])
	putLE32(c.XSave[24:], le32(c.XSave[24:])&0xffff)
	return true
}

// resetFP is the state in which a program starts.
func resetFP(c *cpu.Context) {
	clear(c.XSave[:])
	c.XSave[0], c.XSave[1] = 0x7f, 0x03 // x87 control word 0x37f
	putLE32(c.XSave[24:], 0x1f80)       // MXCSR
}
