package watch

// A tracer follows all threads of a process by ptrace, and takes their stops.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
	"lime/internal/waste"
	"lime/internal/waste/calls"
)

// Host knows the program. Its methods are called from the tracer's thread only, while the thread
// that they are about is stopped.
type Host interface {
	// Place is the number of an instruction and the calls that are open there; regs.Rip need not be
	// at it.
	Place(pc uint64, regs *unix.PtraceRegs) Place
	// Before is the address of the instruction that ends at pc, if the code there is known.
	Before(pc uint64) (at uint64, ok bool)
	// Wasted says that an access of a thread wasted memory work at a place just now, and for how many
	// samples it stands.
	Wasted(tid int, kind waste.Kind, at Place, samples uint64)
}

// Options say what to look for.
type Options struct {
	Kinds     waste.Set
	Period    time.Duration // of a thread's running time between two samples
	Budget    float64       // the share of the program's running time for which its threads may be stopped
	Tolerance float64       // floating-point numbers that differ by this share of the larger are the same
	Seed      uint64
}

// Tracer watches a process. Run does all the work; Stop may be called from anywhere.
type Tracer struct {
	memory
	o       Options
	host    Host
	threads map[int]*thread
	lives   []Life
	latest  map[int]int32 // by thread id: the number of its life
	slots   slots
	line    *line  // that threads may share falsely; nil: none is looked at
	wants   []want // samples are taken of in turn
	turn    int
	sums    *sums
	cost    Cost
	budget  budget
	rng     *rand.Rand
	calls   calls.Table
	stop    chan struct{}
	why     error
}

// thread is a thread that is traced.
type thread struct {
	tid     int
	clock   perf.Trap
	ticking bool
	target  *target // where it is led, nil: nowhere
}

// target is an access to which a thread is led.
type target struct {
	step
	ticks float64 // for which it stands
	want
	trap perf.Trap
}

// New prepares to watch a process. Its disposition of SIGTRAP must be to ignore it, or a trap would
// end it should the tracer die.
func New(pid int, host Host, o Options) *Tracer {
	return &Tracer{memory: memory{pid: pid}, o: o, host: host, threads: map[int]*thread{}, latest: map[int]int32{},
		sums: newSums(), wants: wantsOf(o.Kinds), budget: budget{share: o.Budget},
		rng: rand.New(rand.NewPCG(o.Seed, 0)), calls: calls.NewTable(), stop: make(chan struct{})}
}

// Supported reports why this machine cannot watch, nil if it can: a watchpoint that can be had, and
// does not trap, is none.
func Supported() error {
	const place = 4096 // any: there need be no memory
	tid := unix.Gettid()
	t, err := perf.OpenTick(tid, uint64(time.Hour), 0)
	if err != nil {
		return err
	}
	t.Close()
	if t, err = perf.OpenWatch(tid, perf.Watchpoint{Addr: place, Bytes: 8, Reads: true}, 0); err != nil {
		return err
	}
	t.Close()
	return perf.WatchTraps()
}

// Stop ends the watching; the program goes on. It returns at once.
func (t *Tracer) Stop() {
	select {
	case <-t.stop:
	default:
		close(t.stop)
	}
	_ = unix.Tgkill(t.pid, t.pid, unix.SIGTRAP) // wakes the tracer; it is not passed on
}

// Run watches until the process ends, replaces its program, or Stop is called. What was found so far
// comes back whatever happens.
func (t *Tracer) Run() (s Sums, err error) {
	onAThread(func() { s, err = t.run() })
	return s, err
}

// onAThread runs f on a thread that ends with it, whereupon the kernel lets go of all that is traced.
// The process's first thread never ends before the process: Go keeps it.
func onAThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return // and never unlocked
		}
		defer runtime.UnlockOSThread()
		onAThread(f) // on another one: this one is taken meanwhile
	}()
	<-done
}

func (t *Tracer) run() (Sums, error) {
	err := t.seize()
	for err == nil {
		if err = t.next(); err != nil {
			break
		}
	}
	t.finish()
	s := t.sums.result(t.o.Kinds)
	s.Cost, s.Lives = t.cost, t.lives
	if errors.Is(err, errOver) {
		err = t.why
	}
	return s, err
}

// errOver ends the loop.
var errOver = errors.New("over")

// traceOptions have new threads traced from their first instruction on, and stops at system calls
// told from traps.
const traceOptions = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD

// callStop is the signal of a stop at a system call.
const callStop = unix.SIGTRAP | 0x80

// seize begins to trace all threads that there are.
func (t *Tracer) seize() error {
	for {
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.pid))
		if err != nil {
			return fmt.Errorf("threads of process %d: %w", t.pid, err)
		}
		fresh := 0
		for _, e := range list {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || t.threads[tid] != nil {
				continue
			}
			if err := ptrace(unix.PTRACE_SEIZE, tid, 0, traceOptions); err == nil {
				fresh++
				t.add(tid)
			} else if len(t.threads) == 0 {
				return fmt.Errorf("trace process %d: %w", t.pid, err)
			}
		}
		if fresh == 0 {
			return nil
		}
	}
}

// add begins to sample a thread, and has it watch what is watched.
func (t *Tracer) add(tid int) *thread {
	th := &thread{tid: tid}
	t.threads[tid], t.latest[tid] = th, int32(len(t.lives))
	t.lives = append(t.lives, Life{tid, monotonic()})
	tick, err := perf.OpenTick(tid, uint64(t.o.Period), tickData)
	if err == nil {
		th.clock, th.ticking = tick, true
	} else if t.why == nil && !errors.Is(err, unix.ESRCH) {
		t.why = fmt.Errorf("thread %d is not sampled: %w", tid, err)
	}
	t.lend()
	for _, p := range t.slots.points {
		if p != nil {
			p.watch(tid)
		}
	}
	t.lineJoined(tid)
	return th
}

// What traps of threads bring along: watchpoints bring their slots.
const (
	tickData  = 1 << 32
	breakData = 2 << 32
	wordData  = 3 << 32
	homeData  = 4 << 32
)

// next takes one stop, or one end of a thread.
func (t *Tracer) next() error {
	tid, ended, err := waitAny()
	switch {
	case errors.Is(err, unix.EINTR):
		return nil
	case errors.Is(err, unix.ECHILD):
		return errOver
	case err != nil:
		return fmt.Errorf("wait for process %d: %w", t.pid, err)
	case ended && tid == t.pid:
		return errOver // who started it will want its status
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(tid, &ws, unix.WALL, nil); err != nil {
		return nil
	}
	t.code.n = 0
	begin := ownTime()
	defer func() { t.cost.Stopped += ownTime() - begin }()
	return t.stopped(tid, ws)
}

// ownTime is the CPU time of this thread in seconds: what a busy machine makes the program wait for
// the tracer is not the tracer's.
func ownTime() float64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return float64(ts.Nano()) / 1e9
}

// monotonic is the time of the clock by which the kernel tells of threads.
func monotonic() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail
	return uint64(ts.Nano())
}

// waitAny waits until something happened to a thread that this thread traces, and leaves it to be
// reaped.
func waitAny() (tid int, ended bool, err error) {
	const pAll, exited, killed, dumped = 0, 1, 2, 3
	var info struct {
		signo, errno, code int32
		_                  int32
		pid                int32
		_                  [108]byte
	}
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, pAll, 0, uintptr(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, 0, 0)
	if errno != 0 {
		return 0, false, errno
	}
	return int(info.pid), info.code == exited || info.code == killed || info.code == dumped, nil
}

// stopped takes a thread's stop and lets it go on.
func (t *Tracer) stopped(tid int, ws unix.WaitStatus) error {
	if ws.Exited() || ws.Signaled() {
		t.gone(tid)
		return nil
	}
	if !ws.Stopped() {
		return nil
	}
	th := t.threads[tid]
	if th == nil {
		th = t.add(tid)
	}
	select {
	case <-t.stop:
		_ = ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(heldBack(tid, ws)))
		return errOver
	default:
	}
	sig := ws.StopSignal()
	switch event := int(ws) >> 16; {
	case event == unix.PTRACE_EVENT_EXEC:
		t.why = errors.New("the program replaced itself by another one: of that, nothing was looked at")
		return errOver
	case event == unix.PTRACE_EVENT_STOP && stops(sig):
		return t.orGone(ptrace(unix.PTRACE_LISTEN, tid, 0, 0))
	case event != 0:
		return t.goOn(tid, 0)
	case sig == callStop:
		t.called(th)
		return t.goOn(tid, 0)
	case sig == unix.SIGTRAP:
		return t.trapped(th)
	}
	return t.goOn(tid, sig)
}

// heldBack is the signal of the program's own that a stop holds back, 0 if it is for another reason.
func heldBack(tid int, ws unix.WaitStatus) unix.Signal {
	sig := ws.StopSignal()
	if int(ws)>>16 != 0 || sig == callStop {
		return 0
	}
	if info, ok := signalInfo(tid); sig == unix.SIGTRAP && (!ok || info.ours()) {
		return 0
	}
	return sig
}

// signal is what the kernel tells of a signal (siginfo_t).
type signal [128]byte

// signalInfo is what it tells of the one for which a thread stands.
func signalInfo(tid int) (s signal, ok bool) {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0, uintptr(unsafe.Pointer(&s)), 0, 0)
	return s, e == 0
}

// ours reports whether a SIGTRAP is of a watch or a clock, or Stop's.
func (s *signal) ours() bool {
	const code, sender, byTgkill = 8, 16, -6 // SI_TKILL
	if _, _, ok := perf.TrapInfo(s[:]); ok {
		return true
	}
	word := binary.NativeEndian
	return int32(word.Uint32(s[code:])) == byTgkill && int(word.Uint32(s[sender:])) == os.Getpid()
}

// stops tells the signals that stop a process as a whole.
func stops(sig unix.Signal) bool {
	return sig == unix.SIGSTOP || sig == unix.SIGTSTP || sig == unix.SIGTTIN || sig == unix.SIGTTOU
}

// trapped takes a SIGTRAP: one of ours ends here, the program's own goes on to it.
func (t *Tracer) trapped(th *thread) error {
	info, ok := signalInfo(th.tid)
	if !ok {
		return t.goOn(th.tid, 0)
	}
	data, late, ok := perf.TrapInfo(info[:])
	switch {
	case !ok:
		return t.goOn(th.tid, unix.SIGTRAP)
	case data == tickData:
		t.cost.Ticks++
		t.cost.Ran += t.o.Period.Seconds()
		if !late {
			t.tick(th)
		}
	case data == breakData:
		t.arrived(th, late)
	case data == wordData || data == homeData:
		t.lineHit(th, data, late)
	case data < points:
		t.hit(th, int(data), late)
	}
	return t.goOn(th.tid, 0)
}

// goOn lets a thread run, with a signal or without: to its next system call if that may use what is
// watched for it. That it is gone is no error.
func (t *Tracer) goOn(tid int, sig unix.Signal) error {
	request := unix.PTRACE_CONT
	if t.slots.of(tid) {
		request = unix.PTRACE_SYSCALL
	}
	return t.orGone(ptrace(request, tid, 0, uintptr(sig)))
}

func (t *Tracer) orGone(err error) error {
	if err == nil || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return fmt.Errorf("let a thread of process %d go on: %w", t.pid, err)
}

// gone forgets a thread that has ended; what it owned has not been repeated.
func (t *Tracer) gone(tid int) {
	th := t.threads[tid]
	if th == nil {
		return
	}
	delete(t.threads, tid)
	if th.ticking {
		th.clock.Close()
	}
	th.astray()
	t.lineLeft(tid)
	for i, p := range t.slots.points {
		if p == nil {
			continue
		}
		p.remove(tid)
		if p.owner == tid {
			t.conclude(p, p.not(p.open), func() Place { return p.at })
			t.drop(i)
		}
	}
}

// finish decides what is still watched: nobody has repeated it.
func (t *Tracer) finish() {
	for _, tid := range t.tids() {
		t.gone(tid)
	}
}

func (t *Tracer) tids() (list []int) {
	for tid := range t.threads {
		list = append(list, tid)
	}
	return list
}

// ptrace is the system call.
func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
