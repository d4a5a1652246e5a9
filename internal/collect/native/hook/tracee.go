package hook

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrGone is returned when the program ended before it could be prepared.
var ErrGone = errors.New("the program ended before its own code began")

// Tracee is a program that is stopped under ptrace. All methods must be called on the OS thread that traces it.
type Tracee struct {
	PID     int
	mem     *os.File
	scratch uint64                   // code that may be overwritten for a moment; 0 = where the program stands
	held    map[int][]syscall.Signal // of a seized process: its stopped threads, with the signals that wait for them
	stands  map[int]uint64           // where they stand, as far as looked at since they ran last
}

// Attach takes over a program that has just stopped at its exec.
func Attach(pid int) (*Tracee, error) {
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	return &Tracee{PID: pid, mem: mem}, nil
}

// Detach lets the program run freely.
func (t *Tracee) Detach() error {
	t.mem.Close()
	if t.held != nil {
		return t.release()
	}
	if err := unix.PtraceDetach(t.PID); err != nil {
		return fmt.Errorf("let go of process %d: %w", t.PID, err)
	}
	return nil
}

func (t *Tracee) read(addr uint64, p []byte) error {
	if _, err := t.mem.ReadAt(p, int64(addr)); err != nil {
		return fmt.Errorf("read %d bytes at %#x of process %d: %w", len(p), addr, t.PID, err)
	}
	return nil
}

// write writes even where the program itself may not.
func (t *Tracee) write(addr uint64, p []byte) error {
	if _, err := t.mem.WriteAt(p, int64(addr)); err != nil {
		return fmt.Errorf("write %d bytes at %#x of process %d: %w", len(p), addr, t.PID, err)
	}
	return nil
}

// Auxiliary vector entries (getauxval(3)).
const (
	atNull  = 0
	atEntry = 9
	atBase  = 7
)

// auxv reads the auxiliary vector.
func (t *Tracee) auxv() (map[uint64]uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", t.PID))
	if err != nil {
		return nil, fmt.Errorf("auxiliary vector: %w", err)
	}
	v := map[uint64]uint64{}
	for ; len(b) >= 16; b = b[16:] {
		key := binary.LittleEndian.Uint64(b)
		if key == atNull {
			break
		}
		v[key] = binary.LittleEndian.Uint64(b[8:])
	}
	return v, nil
}

// RunToEntry lets the dynamic loader do its work: the program stops again at its own first
// instruction, with its libraries mapped.
func (t *Tracee) RunToEntry() error {
	v, err := t.auxv()
	if err != nil {
		return err
	}
	return t.runTo(v[atEntry])
}

// runTo lets the program run until it comes to an address where an instruction begins.
func (t *Tracee) runTo(entry uint64) error {
	var old [1]byte
	if err := t.read(entry, old[:]); err != nil {
		return err
	}
	if err := t.write(entry, []byte{0xcc}); err != nil {
		return err
	}
	if err := t.untilTrap(); err != nil {
		return err
	}
	if err := t.write(entry, old[:]); err != nil {
		return err
	}
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.PID, &regs); err != nil {
		return fmt.Errorf("registers of process %d: %w", t.PID, err)
	}
	if regs.Rip != entry+1 {
		return fmt.Errorf("process %d stopped at %#x, not at %#x", t.PID, regs.Rip, entry)
	}
	regs.Rip = entry
	if err := unix.PtraceSetRegs(t.PID, &regs); err != nil {
		return fmt.Errorf("registers of process %d: %w", t.PID, err)
	}
	return nil
}

// untilTrap continues the program, passing signals on, until it traps.
func (t *Tracee) untilTrap() error {
	delete(t.stands, t.PID)
	sig := 0
	for {
		if err := unix.PtraceCont(t.PID, sig); err != nil {
			return fmt.Errorf("continue process %d: %w", t.PID, err)
		}
		ws, err := wait(t.PID)
		if err != nil {
			return err
		}
		switch {
		case ws.Exited(), ws.Signaled():
			return ErrGone
		case ws.Stopped() && eventStop(ws):
			sig = 0
			continue
		case ws.Stopped() && t.held != nil && ws.StopSignal() != syscall.SIGTRAP:
			t.held[t.PID], sig = append(t.held[t.PID], ws.StopSignal()), 0
			continue
		case ws.Stopped() && ws.StopSignal() == syscall.SIGTRAP:
			return nil
		}
		sig = int(ws.StopSignal())
	}
}

// syscall makes the program perform a system call, and restores it.
func (t *Tracee) syscall(nr uint64, args ...uint64) (uint64, error) {
	var saved unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.PID, &saved); err != nil {
		return 0, fmt.Errorf("registers of process %d: %w", t.PID, err)
	}
	regs := saved
	if t.scratch != 0 {
		regs.Rip = t.scratch
	}
	at := regs.Rip
	var code [3]byte
	if err := t.read(at, code[:]); err != nil {
		return 0, err
	}
	if err := t.write(at, []byte{0x0f, 0x05, 0xcc}); err != nil { // syscall; int3
		return 0, err
	}
	regs.Rax, regs.Orig_rax = nr, ^uint64(0)
	for i, p := range []*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10, &regs.R8, &regs.R9} {
		if i < len(args) {
			*p = args[i]
		}
	}
	if err := unix.PtraceSetRegs(t.PID, &regs); err != nil {
		return 0, fmt.Errorf("registers of process %d: %w", t.PID, err)
	}
	if err := t.untilTrap(); err != nil {
		return 0, err
	}
	if err := unix.PtraceGetRegs(t.PID, &regs); err != nil {
		return 0, fmt.Errorf("registers of process %d: %w", t.PID, err)
	}
	if err := t.write(at, code[:]); err != nil {
		return 0, err
	}
	if err := unix.PtraceSetRegs(t.PID, &saved); err != nil {
		return 0, fmt.Errorf("registers of process %d: %w", t.PID, err)
	}
	if ret := int64(regs.Rax); ret < 0 && ret > -4096 {
		return 0, fmt.Errorf("system call %d in process %d: %w", nr, t.PID, unix.Errno(-ret))
	}
	return regs.Rax, nil
}

// Outlive has the program live on when lime is gone, though it was started to die with it (prctl(2), PR_SET_PDEATHSIG).
func (t *Tracee) Outlive() error {
	_, err := t.syscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0)
	return err
}

// mapRing maps the ring into the program, which opens it through lime's /proc entry. The room for its path is lime's own, and no stack: a goroutine's may
// end there.
func (t *Tracee) mapRing(r *Ring, at uint64) (uint64, error) {
	path := append([]byte(r.Path()), 0)
	if err := t.write(at, path); err != nil {
		return 0, err
	}
	fd, err := t.syscall(unix.SYS_OPENAT, ^uint64(99), at, unix.O_RDWR|unix.O_CLOEXEC, 0) // AT_FDCWD is -100
	if err != nil {
		return 0, err
	}
	addr, err := t.syscall(unix.SYS_MMAP, 0, uint64(r.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, fd, 0)
	if err != nil {
		return 0, err
	}
	_, err = t.syscall(unix.SYS_CLOSE, fd)
	return addr, err
}

// Mapping is a mapped piece of a file.
type Mapping struct {
	Lo, Hi, Offset uint64
	Exec           bool
	Path           string
}

// Mappings reads /proc/PID/maps.
func Mappings(pid int) ([]Mapping, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, fmt.Errorf("mappings of process %d: %w", pid, err)
	}
	var out []Mapping
	for _, line := range strings.Split(string(b), "\n") {
		var m Mapping
		var perms, dev string
		var inode uint64
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.Lo, &m.Hi, &perms, &m.Offset, &dev, &inode); n < 6 {
			continue
		}
		m.Exec = strings.Contains(perms, "x")
		if i := strings.IndexByte(line, '/'); i >= 0 {
			m.Path = line[i:]
		}
		out = append(out, m)
	}
	return out, nil
}
