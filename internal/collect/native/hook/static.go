package hook

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"lime/internal/binfile"
	"lime/internal/x86"
)

// A program that is linked statically has no references that could be turned. Its functions are
// found by its symbols, and begin with a jump to their stubs; the instructions that stood there are
// moved behind these.

// errMoved is why the beginning of a function cannot be moved.
var errMoved = errors.New("its first instructions cannot be moved")

// readStatic takes in the symbols of a static program; a stripped one defines nothing by name.
func (im *image) readStatic(f *binfile.File, wanted map[string]bool) {
	im.static = true
	for _, s := range f.Symbols() {
		if s.Kind != binfile.SymFunc || s.Addr == 0 {
			continue
		}
		at := s.Addr + im.bias
		im.starts = append(im.starts, at)
		switch {
		case s.Name == "main":
			im.main = at
		case wanted[s.Name] && s.Global:
			im.defs[s.Name] = at
		}
	}
	im.starts = slices.Compact(im.starts)
}

// staticImage returns the program if it is linked statically, or one of Go's, whose functions call
// each other directly as well.
func staticImage(ims []image) *image {
	if len(ims) > 0 && (ims[0].static || ims[0].golang) {
		return &ims[0]
	}
	return nil
}

// prepareStatic lets a static program run up to its main function: before that, its thread library
// is not ready. One that runs already is beyond that when the library knows its thread.
func (t *Tracee) prepareStatic(im *image) error {
	if len(im.defs) == 0 || im.main == 0 {
		return ErrStatic
	}
	im.code = &codeMap{starts: im.starts, read: t.read}
	if t.held != nil {
		if _, err := t.threadIDOffset(); err == nil || len(t.held) > 1 {
			return nil
		}
	}
	return t.runTo(im.main)
}

// below finds room for code under an image, in reach of its calls and jumps.
func (t *Tracee) below(im *image, size uint64) (uint64, error) {
	const align, lowest, farthest = 1 << 16, 1 << 16, 1 << 30
	maps, err := Mappings(t.PID)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(maps, func(a, b Mapping) int { return cmp.Compare(b.Lo, a.Lo) })
	at := (im.lo - size) &^ (align - 1)
	for _, m := range maps {
		if at < m.Hi && m.Lo < at+size {
			at = (m.Lo - size) &^ (align - 1)
		}
	}
	if at >= lowest && at < im.lo && im.lo-at < farthest {
		return at, nil
	}
	return 0, fmt.Errorf("%s: no room for the hooks under %#x", im.path, im.lo)
}

// mapCode makes room for the stubs.
func (t *Tracee) mapCode(ims []image) (base uint64, err error) {
	if t.code != 0 {
		return t.code, nil
	}
	at, flags := uint64(0), uint64(0)
	if im := staticImage(ims); im != nil {
		if at, err = t.below(im, codeRoom); err != nil {
			return 0, err
		}
		flags = unix.MAP_FIXED_NOREPLACE
	}
	err = t.mapCodeAt(at, flags)
	return t.code, err
}

// overwrite hooks a function at its beginning. A function that cannot be hooked so stays as it is,
// and is named.
func (t *Tracee) overwrite(in *Installed, im *image, name string, p stubParams) (hooked bool, err error) {
	if in.overwritten[p.target] {
		return false, nil // another name of a function that is hooked
	}
	fn := p.target
	body, entry := im.code.body(fn), fn
	if im.golang {
		check := stackCheck(body)
		body, entry = body[check:], entry+uint64(check)
	}
	n, err := movable(body)
	if t.held != nil && crosses(entry, jumpBytes) {
		err = errMoved
	}
	var moved relocated
	if err == nil {
		moved, err = relocate(body[:n], entry, in.Hi)
	}
	if err != nil || !inReach(entry, in.Lo) || !inReach(entry, in.Lo+codeRoom) {
		in.Refused = append(in.Refused, name)
		return false, nil
	}
	if p.target, err = t.place(in, name, stub{code: moved.code}); err != nil {
		return false, err
	}
	to, err := t.place(in, name, newStub(p))
	if err != nil {
		return false, err
	}
	in.overwritten[fn] = true
	if err := t.leadOut(entry, p.target, moved); err != nil {
		return false, err
	}
	return true, t.change(in, entry, binary.LittleEndian.AppendUint32([]byte{jumpOpcode}, uint32(to-(entry+jumpBytes))))
}

// The direct jump.
const (
	jumpOpcode = 0xe9
	jumpBytes  = 5
)

// movable returns how many bytes at the beginning of a function make room for a jump. Nothing in
// the function may lead to them, and they may call nothing, nor the system: the call would return
// to where they were moved.
func movable(body []byte) (n int, err error) {
	var in x86.Inst
	for n < jumpBytes {
		if n >= len(body) || x86.Decode(body[n:], &in) != nil || in.Branch == x86.BranchCall ||
			in.Branch == x86.BranchCallInd || in.Branch == x86.BranchSyscall {
			return 0, errMoved
		}
		n += int(in.Len)
		if n < jumpBytes && in.EndsBlock() && in.Branch != x86.BranchCond {
			return 0, errMoved // another function may begin behind it
		}
	}
	for at := 0; at < len(body) && x86.Decode(body[at:], &in) == nil; at += int(in.Len) {
		if to := in.Target(uint64(at)); direct(in.Branch) && to < uint64(n) && (to > 0 || in.Branch != x86.BranchCall) {
			return 0, errMoved // a call of the function by itself is one like others
		}
	}
	return n, nil
}

func direct(b x86.Branch) bool {
	switch b {
	case x86.BranchCond, x86.BranchLoop, x86.BranchJump, x86.BranchCall, x86.BranchTxn:
		return true
	}
	return false
}

// relocated is instructions that were moved, and where each of them went: offsets by offsets.
type relocated struct {
	code []byte
	at   map[uint64]uint64
}

// relocate moves whole instructions from one address to another and lets them go on behind where
// they stood.
func relocate(code []byte, from, to uint64) (out relocated, err error) {
	a, starts := asm{}, map[uint64]uint64{}
	var in x86.Inst
	for at := 0; at < len(code); at += int(in.Len) {
		if x86.Decode(code[at:], &in) != nil {
			return out, errMoved
		}
		starts[uint64(at)] = uint64(len(a.Code))
		one, rel := distance(code[at:at+int(in.Len)], &in)
		if rel < 0 {
			return out, errMoved
		}
		if rel > 0 {
			target := in.Target(from + uint64(at))
			if !direct(in.Branch) {
				target = from + uint64(at) + uint64(in.Len) + uint64(int64(in.Mem.Disp))
			}
			d := int64(target - (to + uint64(len(a.Code)+len(one))))
			if d != int64(int32(d)) {
				return out, errMoved
			}
			binary.LittleEndian.PutUint32(one[rel:], uint32(d))
		}
		a.Bytes(one...)
	}
	a.jumpTo(from + uint64(len(code)))
	return relocated{a.Code, starts}, nil
}

// distance returns a copy of an instruction, with room for a far distance in the place of a near
// one, and where its distance stands: 0 if it has none, less if it has one that cannot be far.
func distance(code []byte, in *x86.Inst) (one []byte, rel int) {
	one = slices.Clone(code)
	switch {
	case !direct(in.Branch) && in.HasMem && in.Mem.Base == x86.RIP:
		return one, int(in.DispOff)
	case !direct(in.Branch):
		return one, 0
	case in.Branch == x86.BranchCond && len(one) == 2:
		return []byte{0x0f, 0x80 | in.Cond, 0, 0, 0, 0}, 2
	case in.Branch == x86.BranchJump && len(one) == 2:
		return []byte{jumpOpcode, 0, 0, 0, 0}, 1
	case (in.Branch == x86.BranchCond || in.Branch == x86.BranchJump) && len(one) >= jumpBytes:
		return one, len(one) - 4
	}
	return one, -1
}
