package hook

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Func is a function to hook.
type Func struct {
	Name      string
	Return    bool   // record its returns too
	StackArgs int    // bytes of arguments on the stack that it may take
	Work      bool   // one of its arguments is a function, which it runs on several threads before it returns: record that too
	Body      int    // with Work: which one, 0 or 2
	Variadic  bool   // with Work: the second argument counts the arguments behind the function, which are passed on to it
	Only      uint32 // with Return: record only calls whose first argument is this; Arg0 is then the second one, Arg1 the third, and the fourth in its upper half
	Slow      uint32 // record only calls that took so many cycles, when they return: Arg0 is the first argument, Arg1 the cycles
	Try       string // with Slow: a function that takes the same lock if it is free, without waiting
	Refused   int32  // what that one returns if the lock is taken
	Contended bool   // record only calls whose first argument points to a 32-bit word above 1: a lock for which others wait
	Fetch     bool   // a return record's Arg1 is what the first argument points to, if the result is 0; not with StackArgs
}

// ErrStatic is returned for programs without references to shared functions: linked statically, or not by the C library's rules.
var ErrStatic = errors.New("the program calls no synchronisation function of a shared library")

// ErrThreadID is returned where the thread library does not keep thread ids where lime looks for them.
var ErrThreadID = errors.New("the thread library does not tell its threads' ids")

// Installed describes what was put into the program.
type Installed struct {
	Lo, Hi uint64   // addresses of the code
	Hooked []string // functions that are watched
	frames []frame
	slots  []slot
}

// slot is a reference that was turned.
type slot struct{ at, old uint64 }

type frame struct {
	lo, hi uint64
	size   uint64
}

// Frame returns the distance from the stack pointer to the caller's return address for a return
// address inside of the hooks, as unwinding through them needs it.
func (in *Installed) Frame(pc uint64) (toReturn uint64, ok bool) {
	for _, f := range in.frames {
		if pc >= f.lo && pc <= f.hi {
			return f.size, true
		}
	}
	return 0, false
}

// Install hooks functions in a program that is stopped at its entry.
func Install(t *Tracee, r *Ring, funcs []Func) (*Installed, error) {
	ims, err := t.images(funcs)
	if err != nil {
		return nil, err
	}
	if !anyReference(ims) {
		return nil, ErrStatic
	}
	tid, err := t.threadIDOffset()
	if err != nil {
		return nil, err
	}
	ring, err := t.mapRing(r)
	if err != nil {
		return nil, err
	}
	return t.install(funcs, ims, stubParams{ring: ring, tidOffset: tid})
}

// images reads what is mapped into the program.
func (t *Tracee) images(funcs []Func) ([]image, error) {
	maps, err := Mappings(t.PID)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, f := range funcs {
		wanted[f.Name], wanted[f.Try] = true, true
	}
	delete(wanted, "")
	return images(maps, wanted), nil
}

func anyReference(ims []image) bool {
	for _, im := range ims {
		if len(im.refs) > 0 {
			return true
		}
	}
	return false
}

// install writes the stubs, then turns the references to them.
func (t *Tracee) install(funcs []Func, ims []image, params stubParams) (*Installed, error) {
	const room = 1 << 17
	base, err := t.syscall(unix.SYS_MMAP, 0, room, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uint64(0), 0)
	if err != nil {
		return nil, err
	}
	in := &Installed{Lo: base, Hi: base + ringCalls*thunkBytes}
	if err := t.write(base, thunks(params.ring)); err != nil {
		return nil, err
	}
	params.thunks = base
	for i, f := range funcs {
		target := definition(ims, f.Name)
		if target == 0 {
			continue
		}
		p := params
		p.function, p.target, p.stackArgs, p.returns, p.work, p.fetch = i, target, f.StackArgs, f.Return, f.Work, f.Fetch
		p.only = f.Only
		p.body, p.variadic = f.Body, f.Variadic
		p.slow, p.contended, p.try, p.refused = f.Slow, f.Contended, definition(ims, f.Try), f.Refused
		s := newStub(p)
		if in.Hi+uint64(len(s.code)) > base+room {
			return nil, fmt.Errorf("no room for the hook of %s", f.Name)
		}
		if err := t.write(in.Hi, s.code); err != nil {
			return nil, err
		}
		if s.inside >= 0 {
			at := in.Hi + uint64(s.inside)
			in.frames = append(in.frames, frame{lo: at, hi: at, size: uint64(s.frame)})
		}
		if s.trying > 0 {
			at := in.Hi + uint64(s.trying)
			in.frames = append(in.frames, frame{lo: at, hi: at, size: uint64(s.frame)})
		}
		if s.working > 0 {
			at := in.Hi + uint64(s.working)
			in.frames = append(in.frames, frame{lo: at, hi: at, size: uint64(s.workFrame)})
		}
		if err := t.redirect(in, ims, f.Name); err != nil {
			return nil, err
		}
		in.Hooked = append(in.Hooked, f.Name)
		in.Hi += uint64(len(s.code)+15) &^ 15
	}
	return in, nil
}

// definition finds the function that the loader would bind a name to: the first one in the order of images.
func definition(ims []image, name string) uint64 {
	for _, im := range ims {
		if a := im.defs[name]; a != 0 {
			return a
		}
	}
	return 0
}

func (t *Tracee) word(at uint64) (uint64, error) {
	var b [8]byte
	err := t.read(at, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

func (t *Tracee) writeWord(at, v uint64) error {
	return t.write(at, binary.LittleEndian.AppendUint64(nil, v))
}

// redirect turns the references to a function to the stub that was written last.
func (t *Tracee) redirect(in *Installed, ims []image, name string) error {
	for _, im := range ims {
		for _, at := range im.refs[name] {
			old, err := t.word(at)
			if err == nil {
				in.slots = append(in.slots, slot{at, old})
				err = t.writeWord(at, in.Hi)
			}
			if err != nil {
				return fmt.Errorf("%s: reference to %s: %w", im.path, name, err)
			}
		}
	}
	return nil
}

// threadIDOffset finds where, from FS, the thread library keeps a thread's id: it looks for the main thread's, which is
// the process id, in the library's own part of the thread control block.
func (t *Tracee) threadIDOffset() (int32, error) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.PID, &regs); err != nil {
		return 0, fmt.Errorf("registers of process %d: %w", t.PID, err)
	}
	if regs.Fs_base == 0 {
		return 0, ErrThreadID
	}
	const from, to = 0x30, 0x800
	b := make([]byte, to)
	if err := t.read(regs.Fs_base, b); err != nil {
		return 0, ErrThreadID
	}
	for off := from; off+4 <= to; off += 4 {
		if int(binary.LittleEndian.Uint32(b[off:])) == t.PID {
			return int32(off), nil
		}
	}
	return 0, ErrThreadID
}
