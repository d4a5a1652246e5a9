package guest

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
	"lime/internal/unit"
)

// Process is one simulated Linux process. It is not safe for use by several
// goroutines, PostSignal apart.
type Process struct {
	cfg   Config
	host  Host
	mem   *space
	cpuid cpuidTable
	files fdTable

	id      int       // the process's, and the first thread's: that of the host
	threads []*Thread // live threads, by creation
	made    int       // threads so far
	status  Status
	exec    *ExecRequest
	exe     string // what /proc/self/exe names
	args    []string
	images  []Image
	interp  Image

	now         unit.Nanos // the time of what is being handled
	bases       bases
	timers      timerQueue
	futexes     futexTable
	hostWaiters []*Thread
	poked       bool // a signal came from outside

	actions   [numSignals + 1]sigAction
	pending   sigQueue
	itimers   [3]*intervalTimer
	ptimers   map[int]*intervalTimer
	timerFDs  map[int]*intervalTimer
	nextTmr   int
	children  map[int]*child // by process id
	toldAhead bool           // a SIGCHLD from outside is on its way, of which the program knows already
	random    splitMix
	noted     map[string]bool
	limits    map[uint64][2]uint64
	scratch   [4][]byte // rewritten path arguments, while the host reads them

	signalFD    int    // readable when PostSignal was called
	parentDeath uint32 // what the program has set; it changes nothing
	undumpable  bool   // the same
	personality uint64 // the same, but for children and the program that replaces this one
	aux         []byte // the auxiliary vector, as it lies on the stack
	shown       bool   // a signal descriptor has become readable
	extMu       sync.Mutex
	external    []int
	extAny      atomic.Bool
}

// Thread is one guest thread.
type Thread struct {
	TID    int
	Nr     int // threads made before it: the same in every run
	Ctx    *cpu.Context
	Name   string  // comm, 15 bytes at most
	Parent *Thread // the thread that created it, nil for the first

	clearTID  uint64 // set to 0 and woken at exit
	robust    uint64 // head of the robust list
	mask      sigset
	savedMask *sigset // to come back after sigsuspend, ppoll, ...
	pending   sigQueue
	sigwait   sigset // what sigtimedwait waits for
	alt       altStack
	block     *blocking
	rest      rest // threads in parallel
	affinity  []byte
	standing  standing
	inCall    bool   // the last exit was a system call whose end is not settled
	callNr    uint64 // its number
	astray    bool   // no instruction has led it to where it goes on
	// Where it goes on after its signal handlers, by their frames: places to which it had come.
	interrupted map[uint64]uint64

	faultTrap, faultErr, faultCR2 uint64
}

// ExecRequest is an execve of the process itself, checked and ready to be done.
type ExecRequest struct {
	Path string
	Args []string
	Env  []string

	Found Found // after HandOn
	by    *Thread
}

// New reserves the guest's addresses and loads the program.
func New(cfg Config, host Host) (*Process, error) {
	if cfg.Layout == (Layout{}) {
		l, err := hostLayout()
		if err != nil {
			return nil, err
		}
		cfg.Layout = l
	}
	cfg.Cores = max(cfg.Cores, 1)
	path, lerr := lookPath(cfg.Path, cfg.Env)
	if lerr != nil {
		return nil, lerr
	}
	prog, lerr := openProgram(path, cfg.Args)
	if lerr != nil {
		return nil, lerr
	}
	p := newProcess(cfg, host)
	defer func() {
		p.files.unprotect(int(prog.file.Fd()))
		prog.file.Close()
	}()
	mem, err := newSpace(cfg.Layout, host.Invalidate)
	if err != nil {
		return nil, err
	}
	p.mem = mem
	if err := p.start(prog, path); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func newProcess(cfg Config, host Host) *Process {
	p := &Process{cfg: cfg, host: host, id: os.Getpid(), futexes: futexTable{}, ptimers: map[int]*intervalTimer{},
		timerFDs: map[int]*intervalTimer{},
		children: map[int]*child{}, random: splitMix(0x6c696d65), noted: map[string]bool{}, limits: map[uint64][2]uint64{}, signalFD: -1}
	p.cpuid = newCPUID(cfg)
	p.personality, _ = hostCall(unix.SYS_PERSONALITY, askPersonality)
	p.bases = bases{real: epoch, mono: bootTime, boot: bootTime}
	switch {
	case cfg.Parallel != nil:
		p.bases = hostBases()
	case cfg.FollowExec: // processes tell each other times, and leave them on files
		at := hostBases()
		p.bases = bases{real: at.real, mono: at.mono, boot: at.boot}
	}
	p.files.init()
	for i := range p.scratch {
		p.scratch[i] = make([]byte, 0, pathMax+64)
	}
	return p
}

// start loads the program and makes its first thread.
func (p *Process) start(prog *program, path string) error {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	p.signalFD = p.files.protect(fd)
	entry, sp, lerr := p.load(prog, path)
	if lerr != nil {
		return lerr
	}
	ctx, err := p.host.NewContext()
	if err != nil {
		return err
	}
	resetFP(ctx)
	ctx.GPR = [16]uint64{rsp: sp}
	ctx.RIP, ctx.RFLAGS = entry, 0x202
	t := p.addThread(ctx, nil)
	t.Name = commOf(path)
	t.standing = hostStanding()
	p.cfg.Found.begin(p, t)
	for _, img := range p.images {
		p.host.ImageMapped(img)
	}
	return nil
}

// load maps the program, its interpreter and its stack.
func (p *Process) load(prog *program, path string) (entry, sp uint64, e *LoadError) {
	if prog.elf.typ.String() == "ET_DYN" && prog.elf.entry == 0 {
		return 0, 0, &LoadError{Path: prog.path, Why: "a shared library, not a program (no entry point)", Status: 126}
	}
	main, e := p.mem.loadELF(prog.path, prog.file, prog.elf)
	if e != nil {
		return 0, 0, e
	}
	p.exe, p.args, p.images = main.img.Path, prog.args, append(p.images, main.img)
	entry, base := main.entry, uint64(0)
	if prog.elf.interp != "" {
		ld, e := p.loadInterp(prog)
		if e != nil {
			return 0, 0, e
		}
		entry, base = ld.entry, ld.img.Bias
		p.interp, p.images = ld.img, append(p.images, ld.img)
	}
	p.mem.startHeap(prog.elf.heapAfter(main.img.Hi))
	im := stackImage{args: prog.args, env: p.cfg.Env, execfn: path, random: fixedRandom, aux: p.auxv(main, base, p.mem.mapVDSO())}
	sp, e = p.mem.mapStack(im, prog.elf.execStack)
	p.aux = auxOnStack(sp)
	return entry, sp, e
}

func (p *Process) loadInterp(prog *program) (*loaded, *LoadError) {
	file, f, e := openInterp(prog)
	if e != nil {
		return nil, e
	}
	defer file.Close()
	return p.mem.loadELF(prog.elf.interp, file, f)
}

// fixedRandom is what AT_RANDOM points to: the same in every run.
var fixedRandom = [16]byte{0x6c, 0x69, 0x6d, 0x65, 0x5f, 0xa3, 0x19, 0xc7, 0x42, 0x8e, 0xd1, 0x0b, 0x77, 0x3a, 0x95, 0x60}

// auxv is the auxiliary vector, less what points into the stack.
func (p *Process) auxv(main *loaded, base, vdso uint64) [][2]uint64 {
	id := func(n int) uint64 { return uint64(uint32(n)) }
	return [][2]uint64{
		{atSysinfoEhdr, vdso}, {atMinsigstksz, uint64(p.cpuid.xsaveSize) + 4 + 64 + frameSize + redZone + 16},
		{atHwcap, uint64(p.cpuid.lookup(1, 0, 0)[3])}, {atPagesz, pageSize}, {atClktck, 100},
		{atPhdr, main.phdr}, {atPhent, phdrSize}, {atPhnum, uint64(main.phnum)}, {atBase, base}, {atFlags, 0}, {atEntry, main.entry},
		{atUID, id(os.Getuid())}, {atEUID, id(os.Geteuid())}, {atGID, id(os.Getgid())}, {atEGID, id(os.Getegid())},
		{atSecure, 0}, {atHwcap2, 0},
	}
}

// Main is the first thread.
func (p *Process) Main() *Thread { return p.threads[0] }

// Threads are the live threads in order of creation.
func (p *Process) Threads() []*Thread { return p.threads }

// Images are the ELF files mapped so far, in order.
func (p *Process) Images() []Image { return p.images }

// Status says how the process ended, after ProcessExit.
func (p *Process) Status() Status { return p.status }

// Exec is the request behind the outcome Replace.
func (p *Process) Exec() *ExecRequest { return p.exec }

// Readable is the part of [lo, lo+n) from lo on that may be read (code to be decoded, stacks).
func (p *Process) Readable(lo, n uint64) []byte {
	end := lo
	for end < lo+n {
		m, ok := p.mem.maps.find(end)
		if !ok || m.prot&unix.PROT_READ == 0 {
			break
		}
		end = m.hi
	}
	if end == lo {
		return nil
	}
	return bytesAt(lo, min(end, lo+n)-lo)
}

// Close gives the guest's memory and descriptors back; only tests go on after it.
func (p *Process) Close() {
	if p.mem != nil {
		p.mem.release()
	}
	if p.signalFD >= 0 {
		unix.Close(p.signalFD)
	}
	for _, pid := range p.childPIDs() {
		p.dropChild(pid)
	}
}

// DoExec replaces this OS process by the program of an exec request, natively. A
// collector that wants the new program simulated too starts itself again instead:
// descriptors, working directory and process id stay the same.
func (p *Process) DoExec(r *ExecRequest) error {
	r.HandOn(p)
	for sig := 1; sig <= numSignals; sig++ {
		if p.actions[sig].handler == sigIgn {
			signal.Ignore(unix.Signal(sig))
		}
	}
	mask := unix.Sigset_t{Val: [16]uint64{r.Found.Blocked}}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &mask, nil)
	return unix.Exec(r.Path, r.Args, r.Env)
}

// note reports something to the user, once.
func (p *Process) note(code, text string) {
	if !p.noted[code+text] {
		p.noted[code+text] = true
		p.host.Note(code, text)
	}
}

// Enter ends a blocked call of t and delivers its signals; to be called before each slice.
func (p *Process) Enter(t *Thread) (out Outcome) {
	if p.extAny.Load() {
		p.takeSignals()
	}
	b := t.block
	if b == nil && p.deliverable(t) == 0 {
		return Outcome{}
	}
	defer p.guard(t, &out)
	p.now = max(p.now, p.host.Now(t))
	if b == nil {
		return p.deliver(t, Outcome{})
	}
	if b.cause == causeNone {
		return Outcome{Kind: Blocked, Wait: b.wait}
	}
	r, again := b.unblock()
	t.block = nil
	if again {
		return p.doCall(t, t.callNr, b)
	}
	return p.endSyscall(t, r)
}

// HandleSyscall does the system call at which t stopped.
func (p *Process) HandleSyscall(t *Thread) (out Outcome) {
	defer p.guard(t, &out)
	p.now = max(p.now, p.host.Now(t))
	c := t.Ctx
	nr := c.GPR[rax]
	c.GPR[rcx], c.GPR[r11] = c.RIP, c.RFLAGS
	t.inCall, t.callNr = true, nr
	return p.doCall(t, nr, nil)
}

// endSyscall gives t a call's result.
func (p *Process) endSyscall(t *Thread, r int64) Outcome {
	t.Ctx.GPR[rax] = uint64(r)
	return p.deliver(t, Outcome{})
}

// guard turns a fault of lime's own in guest memory (a file cut short behind a
// map) into EFAULT.
func (p *Process) guard(t *Thread, out *Outcome) {
	e := recover()
	if e == nil {
		return
	}
	err, ok := e.(runtime.Error)
	var at interface{ Addr() uintptr }
	if !ok || !errors.As(err, &at) {
		panic(e)
	}
	t.block = nil
	t.Ctx.GPR[rax] = uint64(errRes(unix.EFAULT))
	*out = Outcome{}
}

// Mapped is what is mapped at an address.
type Mapped struct {
	Lo, Hi      uint64
	Write, Exec bool
	Shared      bool // other processes may change it
	File        string
	Twins       []Twin // where else it may be written
}

// Mapping tells what is mapped at an address.
func (p *Process) Mapping(a uint64) (Mapped, bool) {
	if p.mem == nil {
		return Mapped{}, false
	}
	m, ok := p.mem.maps.find(a)
	out := Mapped{Lo: m.lo, Hi: m.hi, Write: m.prot&unix.PROT_WRITE != 0, Exec: m.prot&unix.PROT_EXEC != 0, Shared: m.shared, File: m.name}
	if m.file != nil {
		out.File, out.Twins = m.file.path, p.mem.maps.twins(m)
	}
	return out, ok
}

// CallName is the name of a system call.
func CallName(nr uint64) string {
	if r := rowOf(nr); r != nil {
		return r.name
	}
	return fmt.Sprintf("syscall %d", nr)
}
