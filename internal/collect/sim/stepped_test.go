package sim_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

// Native single-stepping: what each thread of a program executes between two marks, instruction by
// instruction, as the processor does it. A repeated string instruction, which the processor stops at
// in each of its rounds, is one instruction; its rounds are counted apart.

// The marks are one-byte instructions of the program; breakpoints take their places.
const (
	beginMark = "oracle_begin"
	endMark   = "oracle_end"
)

// steps is what one thread did between the marks.
type steps struct {
	all    int64
	at     map[uint64]uint64 // by address in the program's file: how often; other files' at 0
	rounds int64             // of repeated string instructions
	found  int64             // of these, such as ended as they had found what they looked for
}

// stepper steps the threads of a program.
type stepper struct {
	t          *testing.T
	pid        int
	base       uint64 // what is added to the file's addresses
	size       uint64 // of its image
	begin, end uint64 // addresses at run time
	rep        map[uint64]repeat
	threads    map[int]*stepping
	done       map[int]*steps // by the first argument of what is between the marks
}

// stepping is a thread: outside of the marks prev is 0.
type stepping struct {
	steps
	prev, count uint64 // where it was, and its register of repetitions
}

// stepped runs a program natively with this environment, and returns what its threads did between
// the marks and what it printed.
func stepped(t *testing.T, env []string, bin string, args ...string) (threads map[int]*steps, printed string) {
	t.Helper()
	runtime.LockOSThread() // ptrace answers the thread that started the program
	defer runtime.UnlockOSThread()
	defer oneCore(t)()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(bin, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, out
	cmd.SysProcAttr = &unix.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		testenv.Skip(t, testenv.NoTracing, err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	s := &stepper{t: t, pid: cmd.Process.Pid, rep: map[uint64]repeat{}, threads: map[int]*stepping{},
		done: map[int]*steps{}}
	var status unix.WaitStatus
	if _, err := unix.Wait4(s.pid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		t.Fatalf("%s: status %#x, %v", bin, status, err)
	}
	s.check(unix.PtraceSetOptions(s.pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL))
	s.place(bin)
	s.check(unix.PtraceCont(s.pid, 0))
	if code := s.run(); code != 0 {
		text, _ := os.ReadFile(out.Name())
		t.Fatalf("%s: status %d: %s", bin, code, text)
	}
	text, err := os.ReadFile(out.Name())
	s.check(err)
	return s.done, string(text)
}

func (s *stepper) check(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}

// place sets the breakpoints.
func (s *stepper) place(bin string) {
	f, err := elf.Open(bin)
	s.check(err)
	defer f.Close()
	aux, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", s.pid))
	s.check(err)
	for ; len(aux) >= 16; aux = aux[16:] {
		if binary.LittleEndian.Uint64(aux) == 9 { // AT_ENTRY
			s.base = binary.LittleEndian.Uint64(aux[8:]) - f.Entry
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			s.size = max(s.size, p.Vaddr+p.Memsz)
		}
	}
	symbols, err := f.Symbols()
	s.check(err)
	for _, sym := range symbols {
		switch sym.Name {
		case beginMark:
			s.begin = s.base + sym.Value
		case endMark:
			s.end = s.base + sym.Value
		}
	}
	for _, at := range []uint64{s.begin, s.end} {
		_, err := unix.PtracePokeData(s.pid, uintptr(at), []byte{0xcc})
		s.check(err)
	}
}

// run follows all threads to the program's end.
func (s *stepper) run() (code int) {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-s.pid, &status, unix.WALL, nil) // of its group: other tests have other children
		if err == unix.EINTR {
			continue
		}
		s.check(err)
		switch {
		case status.Exited() && tid == s.pid:
			return status.ExitStatus()
		case status.Signaled() && tid == s.pid:
			return 128 + int(status.Signal())
		case !status.Stopped():
			continue
		}
		s.stop(tid, status)
	}
}

// stop is a thread's stop: a step, a mark, or something that is none of ours.
func (s *stepper) stop(tid int, status unix.WaitStatus) {
	th := s.threads[tid]
	switch {
	case status.TrapCause() > 0: // a thread was made
		s.check(unix.PtraceCont(tid, 0))
	case status.StopSignal() == unix.SIGSTOP && th == nil: // a new one
		s.threads[tid] = &stepping{}
		s.check(unix.PtraceCont(tid, 0))
	case status.StopSignal() != unix.SIGTRAP:
		s.check(unix.PtraceCont(tid, int(status.StopSignal())))
	default:
		if th == nil {
			th = &stepping{}
			s.threads[tid] = th
		}
		s.trap(tid, th)
	}
}

// trap is the stop after a step, or at a mark.
func (s *stepper) trap(tid int, th *stepping) {
	var r unix.PtraceRegs
	s.check(unix.PtraceGetRegs(tid, &r))
	if th.prev == 0 {
		if r.Rip != s.begin+1 || th.at != nil {
			s.t.Fatalf("thread %d stopped at %#x, which is no mark, or once too often", tid, r.Rip)
		}
		th.at = map[uint64]uint64{}
		s.done[int(r.Rdi)] = &th.steps
	} else {
		s.step(tid, th, &r)
	}
	if th.prev, th.count = r.Rip, r.Rcx; r.Rip != s.end {
		s.check(unix.PtraceSingleStep(tid))
		return
	}
	th.prev, r.Rip = 0, s.end+1
	s.check(unix.PtraceSetRegs(tid, &r))
	s.check(unix.PtraceCont(tid, 0))
}

// step is a thread's stop after a step.
func (s *stepper) step(tid int, th *stepping, now *unix.PtraceRegs) {
	if kind := s.repeats(tid, th.prev); kind != once {
		th.rounds += int64(th.count - now.Rcx)
		if now.Rip == th.prev {
			return
		}
		const zf = 1 << 6
		if equal := now.Eflags&zf != 0; th.count > 0 && (kind == untilEqual && equal || kind == whileEqual && !equal) {
			th.found++
		}
	}
	th.all++
	at := th.prev - s.base
	if at >= s.size {
		at = 0
	}
	th.at[at]++
}

// repeat is how an instruction repeats itself.
type repeat uint8

const (
	once repeat = iota
	always
	whileEqual
	untilEqual
)

// repeats tells how the instruction at an address repeats itself: f2 or f3 among the prefixes, opcodes
// a4 to a7 and aa to af (Intel SDM vol. 2, REP).
func (s *stepper) repeats(tid int, at uint64) repeat {
	kind, known := s.rep[at]
	if known {
		return kind
	}
	code := make([]byte, 8)
	if n, err := unix.PtracePeekData(tid, uintptr(at), code); err != nil || n < len(code) {
		s.t.Fatalf("code at %#x: %v", at, err)
	}
	i, prefix := 0, byte(0)
	for ; code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x66 || code[i]&0xf0 == 0x40; i++ {
		if code[i]&0xf0 == 0xf0 {
			prefix = code[i]
		}
	}
	switch b := code[i]; {
	case prefix == 0:
	case b == 0xa6 || b == 0xa7 || b == 0xae || b == 0xaf:
		kind = map[byte]repeat{0xf2: untilEqual, 0xf3: whileEqual}[prefix]
	case b == 0xa4 || b == 0xa5 || b >= 0xaa && b <= 0xad:
		kind = always
	}
	s.rep[at] = kind
	return kind
}

// oneCore keeps the calling thread, and what it starts, on one of its cores, and returns what undoes
// that: to hand a step over to another core takes many times as long.
func oneCore(t *testing.T) (undo func()) {
	t.Helper()
	var usual, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &usual); err != nil {
		t.Fatal(err)
	}
	at := rand.IntN(usual.Count())
	for core := 0; ; core++ {
		if !usual.IsSet(core) {
			continue
		}
		if at--; at < 0 {
			one.Set(core)
			break
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	return func() { _ = unix.SchedSetaffinity(0, &usual) }
}
