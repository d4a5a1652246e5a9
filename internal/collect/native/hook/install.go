package hook

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Func is a function to hook.
type Func struct {
	Name      string
	Return    bool // record its returns too
	StackArgs int  // bytes of arguments on the stack that it may take
	Work      bool // one of its arguments is a function, which it runs on several threads before it returns: record that too
	Body      int  // with Work: which one, 0 or 2; with Task: the number of an argument that comes in a register
	// one of its arguments is the function of a task, which some thread runs once, now or later: record
	// the first call with each such function, its Arg0, and the ends of tasks that took Slow cycles
	Task     bool
	Variadic bool // with Work: the second argument counts the arguments behind the function, which are passed on to it
	// with Return: record only calls whose first argument is this; Arg0 is then the second one,
	// Arg1 the third, and the fourth in its upper half
	Only      uint32
	Slow      uint32 // record only calls that took so many cycles, when they return: Arg0 is the first argument, Arg1 the cycles
	Try       string // with Slow: a function that takes the same lock if it is free, without waiting
	Refused   int32  // what that one returns if the lock is taken
	Contended bool   // record only calls whose first argument points to a 32-bit word above 1: a lock for which others wait
	// with Slow or Contended: record the calls inside of the function that wait in the kernel or
	// wake others there, if they can be found
	Inner bool
	Same  string  // what is recorded of this function, too, when it is hooked inside: leave this one out then
	Go    *GoCall // a function of Go's: only its calls are recorded
	// a return record's Arg1 is what argument Of points to, if the result is 0: 8 bytes, or 4 that
	// do not lie at a multiple of 8; not with StackArgs
	Fetch bool
	Of    int // with Fetch: 0 to 5
	// which arguments of a plain call are Arg0 and Arg1, if not the first two; of a third one the
	// lower half is the upper one of Arg1
	Pick [3]Pick
}

// ErrStatic is returned for programs without references to shared functions, and without symbols by
// which functions of their own could be found.
var ErrStatic = errors.New("the program calls no synchronisation function of a shared library, and has no symbols of " +
	"its own by which lime could find them")

// ErrThreadID is returned where the thread library does not keep thread ids where lime looks for
// them.
var ErrThreadID = errors.New("the thread library does not tell its threads' ids")

// Installed describes what was put into the program.
type Installed struct {
	Lo, Hi uint64   // addresses of the code
	Hooked []string // functions that are watched
	// Refused are functions of a static program that are not, because of how they begin.
	Refused []string
	// Go: the program is one of Go's. Goroutine is the one on its first thread, if that stands at
	// the beginning of the program.
	Go        bool
	Goroutine uint64
	frames    []frame
	slots     []slot
	patches   []patch
	inner     map[int]bool // functions that are hooked inside

	overwritten map[uint64]bool // functions of a static program that begin with a jump

	params     stubParams // what all records have in common
	candidates candidates
}

// Inner reports whether the records of a function come from inside of it: their caller is the
// function itself, or what it goes on as.
func (in *Installed) Inner(function int) bool { return in.inner[function] }

// Turned is what a reference said before it was turned.
func (in *Installed) Turned(at uint64) (was uint64, ok bool) {
	i := slices.IndexFunc(in.slots, func(s slot) bool { return s.at == at })
	if i < 0 {
		return 0, false
	}
	return in.slots[i].old, true
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
	if im := staticImage(ims); im != nil && !im.golang {
		err = t.prepareStatic(im)
	} else if im == nil && !anyReference(ims) {
		err = ErrStatic
	}
	if err != nil {
		return nil, err
	}
	var tid int32
	var main uint64
	if im := goImage(ims); im != nil {
		tid, main, err = t.prepareGo(im)
	} else {
		tid, err = t.threadIDOffset()
	}
	if err != nil {
		return nil, err
	}
	base, err := t.mapCode(ims)
	if err != nil {
		return nil, err
	}
	ring, err := t.mapRing(r, base)
	if err != nil {
		return nil, err
	}
	in, err := t.install(funcs, ims, base, stubParams{ring: ring, tidOffset: tid})
	if err == nil {
		in.Go, in.Goroutine = goImage(ims) != nil, main
	}
	return in, err
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

// calledAtAll reports whether anything in the program may call a function.
func calledAtAll(ims []image, name string) bool {
	return staticImage(ims) != nil || slices.ContainsFunc(ims, func(im image) bool { return len(im.refs[name]) > 0 })
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
func (t *Tracee) install(funcs []Func, ims []image, base uint64, params stubParams) (_ *Installed, err error) {
	in := &Installed{Lo: base, Hi: base + (ringCalls+ringTasks)*thunkBytes, inner: map[int]bool{}, overwritten: map[uint64]bool{}, params: params}
	if err := t.write(base, thunks(params.ring)); err != nil {
		return nil, err
	}
	params.thunks = base
	inside := map[string]bool{}
	for i := range funcs {
		f := &funcs[i]
		p := params.of(i, f, ims)
		if p.target == 0 || inside[f.Same] || (f.Go != nil) != (goImage(ims) != nil) {
			continue
		}
		if f.Inner && calledAtAll(ims, f.Name) {
			if in.inner[i], err = t.slowPath(in, ims, f, p); err != nil {
				return nil, err
			}
			inside[f.Name] = in.inner[i]
		}
		hooked := in.inner[i]
		if !hooked {
			if hooked, err = t.hook(in, ims, f.Name, p); err != nil {
				return nil, err
			}
		}
		if hooked {
			in.Hooked = append(in.Hooked, f.Name)
		}
	}
	return in, nil
}

// of completes the parameters for one function.
func (p stubParams) of(i int, f *Func, ims []image) stubParams {
	p.function, p.target, p.stackArgs, p.returns, p.work, p.fetch = i, definition(ims, f.Name), f.StackArgs, f.Return, f.Work, f.Fetch
	p.pointer, p.pick = f.Of, f.Pick
	p.task = f.Task
	p.only, p.body, p.variadic = f.Only, f.Body, f.Variadic
	p.goCall, p.slow, p.contended, p.try, p.refused = f.Go, f.Slow, f.Contended, definition(ims, f.Try), f.Refused
	return p
}

// hook puts a stub in the place of a function.
func (t *Tracee) hook(in *Installed, ims []image, name string, p stubParams) (hooked bool, err error) {
	if im := staticImage(ims); im != nil {
		return t.overwrite(in, im, name, p)
	}
	at, err := t.place(in, name, newStub(p))
	if err != nil {
		return false, err
	}
	return true, t.redirect(in, ims, name, at)
}

// place writes a stub behind those that are there, and returns its address.
func (t *Tracee) place(in *Installed, name string, s stub) (uint64, error) {
	at := in.Hi
	if at+uint64(len(s.code)) > in.Lo+stubRoom {
		return 0, fmt.Errorf("no room for the hook of %s", name)
	}
	if err := t.write(at, s.code); err != nil {
		return 0, err
	}
	for _, ret := range []struct{ off, frame int }{{s.inside, s.frame}, {s.trying, s.frame}, {s.working, s.workFrame}} {
		if ret.off > 0 {
			pc := at + uint64(ret.off)
			in.frames = append(in.frames, frame{lo: pc, hi: pc, size: uint64(ret.frame)})
		}
	}
	if s.popped > 0 {
		in.frames = append(in.frames, frame{at, at, 0}, frame{at + pushBytes, at + uint64(s.popped) - popBytes, recordSaves},
			frame{at + uint64(s.popped), at + uint64(len(s.code)) - 1, 0})
	}
	in.Hi += uint64(len(s.code)+15) &^ 15
	return at, nil
}

// definition finds the function that the loader would bind a name to: the first one in the order of
// images.
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

// redirect turns the references to a function to a stub.
func (t *Tracee) redirect(in *Installed, ims []image, name string, to uint64) error {
	for _, im := range ims {
		for _, at := range im.refs[name] {
			old, err := t.word(at)
			if err == nil {
				in.slots = append(in.slots, slot{at, old})
				err = t.writeWord(at, to)
			}
			if err != nil {
				return fmt.Errorf("%s: reference to %s: %w", im.path, name, err)
			}
		}
	}
	return nil
}

// threadIDOffset finds where, from FS, the thread library keeps a thread's id: it looks for the
// main thread's, which is the process id, in the library's own part of the thread control block.
func (t *Tracee) threadIDOffset() (int32, error) {
	regs, err := t.registers(t.PID)
	if err != nil {
		return 0, err
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
