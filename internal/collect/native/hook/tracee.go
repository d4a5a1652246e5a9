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

// Tracee is a program that is stopped under ptrace. All methods must be called on the OS thread
// that traces it.
type Tracee struct {
	PID      int
	mem      *os.File
	held     map[int]bool   // of a seized process: its stopped threads; nil: the program was started by lime, and dies with it
	stands   map[int]uint64 // where they stand, as far as looked at since they ran last
	code     uint64         // the room for code; 0: not yet made
	room     uint64         // of a seized process: where the code of jobs goes; 0: not yet known
	borrowed bool           // it is no mapping of lime's own
	before   func()         // called before each operation; nil: nothing
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
	defer t.mem.Close()
	if t.held != nil {
		return t.release()
	}
	return t.detach(t.PID)
}

// Auxiliary vector entries (getauxval(3)).
const (
	atNull  = 0
	atBase  = 7
	atEntry = 9
	atVDSO  = 33 // AT_SYSINFO_EHDR
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
	if t.held != nil {
		return t.arrive(entry)
	}
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
	regs, err := t.registers(t.PID)
	if err != nil {
		return err
	}
	if regs.Rip != entry+1 {
		return fmt.Errorf("process %d stopped at %#x, not at %#x", t.PID, regs.Rip, entry)
	}
	regs.Rip = entry
	return t.setRegisters(t.PID, &regs)
}

// untilTrap continues the program, passing signals on, until it traps.
func (t *Tracee) untilTrap() error {
	sig := 0
	for {
		if err := t.resume(t.PID, sig); err != nil {
			return err
		}
		ws, err := wait(t.PID)
		if err != nil {
			return err
		}
		switch {
		case ws.Exited(), ws.Signaled():
			return ErrGone
		case ws.Stopped() && ws.StopSignal() == syscall.SIGTRAP:
			return nil
		}
		sig = int(ws.StopSignal())
	}
}

// borrow makes a program that lime has started perform a system call, by code that is written where
// it stands, and restores it.
func (t *Tracee) borrow(nr uint64, args ...uint64) (uint64, error) {
	saved, err := t.registers(t.PID)
	if err != nil {
		return 0, err
	}
	regs := saved
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
	if err := t.setRegisters(t.PID, &regs); err != nil {
		return 0, err
	}
	if err := t.untilTrap(); err != nil {
		return 0, err
	}
	if regs, err = t.registers(t.PID); err != nil {
		return 0, err
	}
	if err := t.write(at, code[:]); err != nil {
		return 0, err
	}
	if err := t.setRegisters(t.PID, &saved); err != nil {
		return 0, err
	}
	return result(nr, regs.Rax, t.PID)
}

// Outlive has the program live on when lime is gone, though it was started to die with it
// (prctl(2), PR_SET_PDEATHSIG).
func (t *Tracee) Outlive() error {
	_, err := t.syscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0)
	return err
}

// mapRing maps the ring into the program, which opens it through lime's /proc entry. The room for
// its path is lime's own, and no stack: a goroutine's may end there.
func (t *Tracee) mapRing(r *Ring, at uint64) (uint64, error) {
	path := append([]byte(r.Path()), 0)
	if err := t.write(at, path); err != nil {
		return 0, err
	}
	j := newJob(unix.SYS_OPENAT, ^uint64(99), at, unix.O_RDWR|unix.O_CLOEXEC, 0).mapFile(r.Size()) // AT_FDCWD is -100
	if t.held == nil {
		return t.mapBorrowed(j.first, r.Size())
	}
	out, err := t.perform(j)
	if err != nil {
		return 0, err
	}
	if _, err := result(unix.SYS_OPENAT, out.R8, t.PID); err != nil {
		return 0, err
	}
	return result(unix.SYS_MMAP, out.R9, t.PID)
}

// mapBorrowed does the same, step by step.
func (t *Tracee) mapBorrowed(open call, size int) (uint64, error) {
	fd, err := t.borrow(open.nr, open.args...)
	if err != nil {
		return 0, err
	}
	addr, err := t.borrow(unix.SYS_MMAP, 0, uint64(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, fd, 0)
	if err != nil {
		return 0, err
	}
	_, err = t.borrow(unix.SYS_CLOSE, fd)
	return addr, err
}

// Mapping is a mapped piece of a file.
type Mapping struct {
	Lo, Hi, Offset uint64
	Exec, Shared   bool
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
		m.Exec, m.Shared = strings.Contains(perms, "x"), strings.Contains(perms, "s")
		if i := strings.IndexByte(line, '/'); i >= 0 {
			m.Path = line[i:]
		}
		out = append(out, m)
	}
	return out, nil
}
