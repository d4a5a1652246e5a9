package perf

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Clock is what drives the sampling.
type Clock struct {
	Name   string // "cycles", "cpu-clock", "task-clock"
	Type   uint32
	Config uint64
}

// Clocks lists the sampling clocks, best first.
func Clocks() []Clock {
	return []Clock{
		{"cycles", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
		{"cpu-clock", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK},
		{"task-clock", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK},
	}
}

// Tasks is an event that counts nothing, and delivers the records of a Leader alone.
func Tasks() Clock { return Clock{"tasks", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_DUMMY} }

// Switches is an event that happens whenever a thread leaves its core, in the kernel: it needs
// Options.Kernel, and the right to that (perf_event_paranoid of 1 or less, or CAP_PERFMON).
func Switches() Clock {
	return Clock{"context-switches", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES}
}

// HardwareEvents lists the counters that are sampled next to the clock where the machine has them,
// by the kinds' names in profiles.
func HardwareEvents() []Clock {
	cache := func(level, op, result uint64) uint64 { return level | op<<8 | result<<16 }
	return []Clock{
		{"llc-miss", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
		{"branch-miss", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES},
		{"l1d-miss", unix.PERF_TYPE_HW_CACHE,
			cache(unix.PERF_COUNT_HW_CACHE_L1D, unix.PERF_COUNT_HW_CACHE_OP_READ, unix.PERF_COUNT_HW_CACHE_RESULT_MISS)},
		{"tlb-miss", unix.PERF_TYPE_HW_CACHE,
			cache(unix.PERF_COUNT_HW_CACHE_DTLB, unix.PERF_COUNT_HW_CACHE_OP_READ, unix.PERF_COUNT_HW_CACHE_RESULT_MISS)},
	}
}

// Events lists all that can be sampled next to the clock: the counters, and what the kernel counts
// on every machine.
func Events() []Clock {
	return append(HardwareEvents(), Clock{"page-fault", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS})
}

// Options describe what to open.
type Options struct {
	PID       int    // process (its main thread), and everything that it starts from then on
	TID       int    // 0, or one existing thread to attach to instead of PID
	Frequency uint64 // samples per second and thread
	Clock     Clock
	Layout    Layout
	Pages     int    // of each ring buffer at most, a power of two; 0 = 1024. It has as many of them as the limit allows
	OnExec    bool   // start at the next exec
	Leader    bool   // this event also delivers comm, mmap, task and switch records
	Execs     bool   // this event also delivers comm records, and each of them is notified at once (Notify)
	Period    uint64 // sample every so many events instead of by frequency
	Kernel    bool   // sample what happens in the kernel, too; registers and stack are the program's all the same
}

// UnsupportedError tells that the machine or the rights of the user do not allow an event.
type UnsupportedError struct {
	Event string
	Err   error
	Hint  string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("perf event %s: %v: %s", e.Event, e.Err, e.Hint)
}

func (e *UnsupportedError) Unwrap() error { return e.Err }

// hint says what to do about an error of perf_event_open.
func hint(err error) string {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "not allowed: set kernel.perf_event_paranoid to 2 or less (sysctl), grant CAP_PERFMON, or allow " +
			"perf_event_open in the container's seccomp profile"
	case errors.Is(err, unix.ENOSYS):
		return "the kernel has no perf events, or a seccomp filter hides them"
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return "this machine has no such counter (usual in virtual machines)"
	case errors.Is(err, errNeverTraps):
		return "the virtual machine does not give its programs the processor's debug registers"
	case errors.Is(err, unix.EMFILE):
		return "too many open files: raise ulimit -n"
	case errors.Is(err, unix.EINVAL):
		return "the kernel does not know this combination of options"
	}
	return "see perf_event_open(2)"
}

// Paranoid returns kernel.perf_event_paranoid, and false where the kernel has no perf events.
func Paranoid() (int, bool) {
	b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return n, err == nil
}

// Session is a set of events and their ring buffers: one for each CPU, because inherited events
// cannot share one otherwise.
type Session struct {
	rings []*ring
	fds   []int // of events without a ring of their own
	dec   *Decoder
	ids   map[uint64]string // event id -> name of the clock
}

const sampleType = unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID |
	unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CPU | unix.PERF_SAMPLE_PERIOD

// fixed reports whether all samples stand for as many events. They must not tell so: of an event of
// software's whose samples hold their period, the kernel samples every single one
// (perf_swevent_event in kernel/events/core.c).
func (o *Options) fixed() bool { return o.Period > 1 }

func attrOf(o Options) unix.PerfEventAttr {
	a := unix.PerfEventAttr{
		Type: o.Clock.Type, Config: o.Clock.Config,
		Sample: o.Frequency, Sample_type: sampleType,
		Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitFreq,
		Clockid: unix.CLOCK_MONOTONIC,
	}
	if o.Period > 0 {
		a.Sample = o.Period
		a.Bits &^= unix.PerfBitFreq
	}
	if o.fixed() {
		a.Sample_type &^= unix.PERF_SAMPLE_PERIOD
	}
	if o.Kernel {
		a.Bits &^= unix.PerfBitExcludeKernel
	}
	if o.OnExec {
		a.Bits |= unix.PerfBitEnableOnExec
	}
	if o.Leader {
		a.Bits |= unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask | unix.PerfBitContextSwitch
	}
	if o.Execs {
		a.Bits |= unix.PerfBitComm | unix.PerfBitCommExec
		a.Wakeup = 1
	}
	if o.Layout.Addr {
		a.Sample_type |= unix.PERF_SAMPLE_ADDR
	}
	if o.Layout.Chain {
		a.Sample_type |= unix.PERF_SAMPLE_CALLCHAIN
		a.Bits |= unix.PerfBitExcludeCallchainKernel
	}
	if o.Layout.Stack > 0 {
		a.Sample_type |= unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER
		a.Sample_regs_user = regsMask
		a.Sample_stack_user = o.Layout.Stack
	}
	a.Size = uint32(unsafe.Sizeof(a))
	return a
}

// Open opens the event on every CPU. The session delivers nothing before Enable, or the exec.
func Open(o Options) (*Session, error) {
	s := &Session{dec: NewDecoder(o.Layout), ids: map[uint64]string{}}
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		if err := s.openOn(o, cpu); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *Session) openOn(o Options, cpu int) error {
	attr := attrOf(o)
	target := o.PID
	if o.TID != 0 {
		target = o.TID
	}
	fd, err := unix.PerfEventOpen(&attr, target, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return &UnsupportedError{Event: o.Clock.Name, Err: err, Hint: hint(err)}
	}
	s.fds = append(s.fds, fd)
	r, err := newRing(fd, o.Pages)
	if err != nil {
		return err
	}
	_ = unix.SetNonblock(fd, true) // so that Go's poller takes it
	s.fds = s.fds[:len(s.fds)-1]
	r.file = os.NewFile(uintptr(fd), "perf event")
	s.rings = append(s.rings, r)
	s.name(fd, &o)
	return nil
}

// name remembers what the samples of an event look like.
func (s *Session) name(fd int, o *Options) {
	if id, err := eventID(fd); err == nil {
		s.ids[id] = o.Clock.Name
		if o.fixed() {
			s.dec.periods[id] = o.Period
		}
	}
}

// Add opens a further event on the same CPUs, whose samples arrive through the session's rings. All
// events of a session share one Layout, but for the size of the stack. The addresses of hardware
// events are as precise as the machine has them.
func (s *Session) Add(o Options) error {
	_, err := s.AddGroup(o)
	return err
}

// Group is an event on all CPUs that can be started and stopped apart from its session.
type Group struct{ fds []int }

// AddGroup is Add, for an event that begins when the group is enabled, whatever the session does
// afterwards.
func (s *Session) AddGroup(o Options) (*Group, error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	g, attr := &Group{}, attrOf(o)
	target := o.PID
	if o.TID != 0 {
		target = o.TID
	}
	for i, cpu := range cpus {
		fd, err := openPrecise(&attr, target, cpu, o.Clock.Type == unix.PERF_TYPE_HARDWARE || o.Clock.Type == unix.PERF_TYPE_HW_CACHE)
		if err != nil {
			return nil, &UnsupportedError{Event: o.Clock.Name, Err: err, Hint: hint(err)}
		}
		s.fds, g.fds = append(s.fds, fd), append(g.fds, fd)
		if i < len(s.rings) {
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, s.rings[i].fd); err != nil {
				return nil, fmt.Errorf("perf event %s: send to the ring of CPU %d: %w", o.Clock.Name, cpu, err)
			}
		}
		s.name(fd, &o)
	}
	return g, nil
}

// Enable starts the event, also in the threads that have inherited it.
func (g *Group) Enable() error { return control(g.fds, unix.PERF_EVENT_IOC_ENABLE) }

// Disable stops it until the next Enable.
func (g *Group) Disable() error { return control(g.fds, unix.PERF_EVENT_IOC_DISABLE) }

// openPrecise asks for addresses without skid first, then for less (precise_ip of
// perf_event_open(2)).
func openPrecise(attr *unix.PerfEventAttr, pid, cpu int, hardware bool) (fd int, err error) {
	levels := []uint64{0}
	if hardware {
		levels = []uint64{unix.PerfBitPreciseIPBit2, unix.PerfBitPreciseIPBit1, 0}
	}
	for _, level := range levels {
		a := *attr
		a.Bits |= level
		if fd, err = unix.PerfEventOpen(&a, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC); err == nil {
			return fd, nil
		}
	}
	return fd, err
}

// eventID asks the kernel for the id that the event's samples carry.
func eventID(fd int) (id uint64, err error) {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id)))
	if errno != 0 {
		return 0, errno
	}
	return id, nil
}

// EventName returns the name of the clock or counter that a sample's Event id belongs to.
func (s *Session) EventName(id uint64) string { return s.ids[id] }

// Enable starts all events, those of threads and processes that have inherited them included.
func (s *Session) Enable() error { return s.control(unix.PERF_EVENT_IOC_ENABLE) }

// Disable stops them until the next Enable.
func (s *Session) Disable() error { return s.control(unix.PERF_EVENT_IOC_DISABLE) }

func (s *Session) control(req uint) error {
	fds := slices.Clone(s.fds)
	for _, r := range s.rings {
		fds = append(fds, r.fd)
	}
	return control(fds, req)
}

// Period sets the period of a clock in the threads that are made from now on; the others keep
// theirs.
func (g *Group) Period(ns uint64) error {
	for _, fd := range g.fds {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_PERIOD, uintptr(unsafe.Pointer(&ns))); errno != 0 {
			return fmt.Errorf("perf event: %w", errno)
		}
	}
	return nil
}

func control(fds []int, req uint) error {
	for _, fd := range fds {
		if err := unix.IoctlSetInt(fd, req, 0); err != nil {
			return fmt.Errorf("perf event: %w", err)
		}
	}
	return nil
}

// Notify sends to ch, if there is room in it, whenever a ring is half full (with Options.Execs,
// whenever there is a record) or its threads are gone, until the session is closed. It blocks no
// thread of the operating system meanwhile, as poll(2) would: the Go scheduler watches those.
func (s *Session) Notify(ch chan<- struct{}) {
	for _, r := range s.rings {
		if c, err := r.file.SyscallConn(); err == nil {
			go notify(c, ch)
		}
	}
}

func notify(c syscall.RawConn, ch chan<- struct{}) {
	for {
		asked := false
		err := c.Read(func(uintptr) bool { again := asked; asked = true; return again })
		if err != nil {
			return
		}
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Drain hands every record that is waiting to visit, ring by ring: in the order of time within
// a ring only. The record and what it points to are valid during the call. A
// record that cannot be decoded ends its ring's turn with an error; the records behind it
// are delivered at the next call.
func (s *Session) Drain(visit func(*Record)) error {
	var rec Record
	var first error
	for _, r := range s.rings {
		if err := r.drain(s.dec, &rec, visit); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Close closes all events.
func (s *Session) Close() {
	for _, r := range s.rings {
		r.close()
	}
	for _, fd := range s.fds {
		unix.Close(fd)
	}
	s.rings, s.fds = nil, nil
}

// onlineCPUs reads the list of CPUs that are online.
func onlineCPUs() ([]int, error) {
	const path = "/sys/devices/system/cpu/online"
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("which CPUs there are: %w", err)
	}
	cpus, err := parseCPUs(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cpus, nil
}

// parseCPUs reads a list such as "0-3,8".
func parseCPUs(list string) (cpus []int, err error) {
	for _, part := range strings.Split(list, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || b < a || b > 1<<16 {
			return nil, fmt.Errorf("%q is no list of CPUs", list)
		}
		for c := a; c <= b; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}
