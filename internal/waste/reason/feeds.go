package reason

import (
	"strings"

	"lime/internal/x86"
)

// What a store's value is computed from, by the instructions of its block alone.

// Feeds finds the instructions, by address, whose loads the value is computed from that instruction i
// of a block at pc stores. There are none if the value is a mere copy, or if anything else goes into
// it: a register from before the block, flags, what an unknown instruction leaves. A block that is a
// loop of its own may use registers that it leaves alone.
func Feeds(insts []x86.Inst, i int, pc uint64) (loads []uint64) {
	at := make([]uint64, len(insts))
	for k, next := 0, pc; k < len(insts); k++ {
		at[k] = next
		next += uint64(insts[k].Len)
	}
	last := len(insts) - 1
	list, ok := feeds(insts, i, insts[last].Branch == x86.BranchCond && insts[last].Target(at[last]) == pc)
	if !ok {
		return nil
	}
	for _, k := range list {
		loads = append(loads, at[k])
	}
	return loads
}

// feeds finds them by number.
func feeds(insts []x86.Inst, i int, loop bool) (loads []int, ok bool) {
	in := &insts[i]
	if !moves(in) || in.ImmLen > 0 {
		return nil, false
	}
	f := feeding{insts: insts, want: values(in)}
	for k := i - 1; k >= 0 && f.want != (registers{}); k-- {
		if !f.step(k) {
			return nil, false
		}
	}
	if loop {
		f.spare()
	}
	return f.loads, f.computed && len(f.loads) > 0 && f.want == registers{}
}

// spare takes off what the block leaves alone.
func (f *feeding) spare() {
	var written registers
	for k := range f.insts {
		written.gpr, written.vec = written.gpr|f.insts[k].Writes, written.vec|f.insts[k].VecWrites
	}
	f.want.gpr, f.want.vec = f.want.gpr&written.gpr, f.want.vec&written.vec
}

// registers are general and vector ones.
type registers struct {
	gpr x86.RegSet
	vec uint32
}

// values are those that an instruction reads, but for its address. What is computed in place is read
// too, where it is the address as well: add (%rax),%rax.
func values(in *x86.Inst) registers {
	r := registers{in.Reads, in.VecReads}
	if in.HasMem {
		address := regs(in.Mem.Base) | regs(in.Mem.Index)
		if arithmetical(in) {
			address &^= in.Writes
		}
		r.gpr &^= address
	}
	return r
}

// feeding goes back from a store.
type feeding struct {
	insts    []x86.Inst
	want     registers // whose values are not explained yet
	loads    []int
	computed bool // the value is no mere copy
}

// step takes the instruction before: false if it leaves something of which nothing is known.
func (f *feeding) step(k int) bool {
	in := &f.insts[k]
	if in.Writes&f.want.gpr == 0 && in.VecWrites&f.want.vec == 0 {
		return true
	}
	f.want.gpr, f.want.vec = f.want.gpr&^in.Writes, f.want.vec&^in.VecWrites
	if clears(in) {
		return true
	}
	load := loads(in)
	if in.CondWrite || in.FlagsRead != 0 || in.ImplicitRead || in.X87 || !load && !moves(in) && !arithmetical(in) {
		return false
	}
	if f.computed = f.computed || arithmetical(in); load {
		f.loads = append(f.loads, k)
	}
	from := values(in)
	if in.Name == "lea" { // whose address is its value
		from.gpr = in.Reads
	}
	f.want.gpr, f.want.vec = f.want.gpr|from.gpr, f.want.vec|from.vec
	return true
}

// clears reports whether an instruction makes all of its register zero, whatever it held.
func clears(in *x86.Inst) bool {
	if in.HasMem || in.ImmLen > 0 {
		return false
	}
	switch strings.TrimPrefix(in.Name, "v") {
	case "xor", "sub": // those of one byte or two leave the rest
		return in.Opcode&1 != 0 && !in.OpSize16 && in.Reads&^in.Writes == 0
	case "pxor", "xorps", "xorpd":
		return in.VecReads&^in.VecWrites == 0
	}
	return false
}

func loads(in *x86.Inst) bool {
	for _, a := range in.Accesses(nil) {
		if a.Read {
			return true
		}
	}
	return false
}

// moves reports whether an instruction only copies.
func moves(in *x86.Inst) bool {
	name := strings.TrimPrefix(in.Name, "v")
	return strings.HasPrefix(name, "mov") && name != "movs"
}

// arithmetical reports whether an instruction computes its result from its operands and from nothing
// else.
func arithmetical(in *x86.Inst) bool {
	name := strings.TrimPrefix(in.Name, "v")
	for _, begin := range [...]string{"add", "sub", "mul", "imul", "div", "sqrt", "min", "max", "fmadd", "fmsub", "fnmadd", "fnmsub",
		"lea", "and", "or", "xor", "not", "neg", "shl", "shr", "sar", "rol", "ror", "inc", "dec", "padd", "psub", "pmul", "pand", "por",
		"pxor", "psll", "psrl", "psra", "punpck", "pshuf", "pack", "shuf", "unpck", "cvt", "hadd", "hsub", "pmin", "pmax", "bswap"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}
