// A function's code, cut into blocks, and how control goes through them.

package busywait

import (
	"lime/internal/graph"
	"lime/internal/x86"
)

// Insn is what cutting needs of an instruction.
type Insn struct {
	Addr, End, Target, Slot uint64
	Branch                  x86.Branch
}

// Part is a basic block of a function.
type Part struct {
	Addr, End, Last uint64 // Last: its last instruction
	Instrs          uint32
	Target          uint64     // of a direct branch or call, 0 if none
	Slot            uint64     // where the target of an indirect one is read, if that is one word of the image
	Branch          x86.Branch // at its end; BranchTrap if control goes no further
}

// Cut turns code into blocks. lo is where it begins.
func Cut(text []byte, lo uint64) (out []Part) {
	list := Sweep(text, lo)
	hi := lo + uint64(len(text))
	head := map[uint64]bool{lo: true}
	for _, i := range list {
		if i.Target >= lo && i.Target < hi && i.Branch != x86.BranchCall {
			head[i.Target] = true
		}
		if i.Branch != x86.BranchNone {
			head[i.End] = true
		}
	}
	for _, i := range list {
		if n := len(out); n == 0 || head[i.Addr] || out[n-1].End != i.Addr {
			out = append(out, Part{Addr: i.Addr})
		}
		p := &out[len(out)-1]
		p.End, p.Last, p.Target, p.Slot, p.Branch = i.End, i.Addr, i.Target, i.Slot, i.Branch
		p.Instrs++
	}
	return out
}

// Sweep decodes from the start; bytes that are no instruction are passed over.
func Sweep(text []byte, lo uint64) (out []Insn) {
	var in x86.Inst
	for at := 0; at < len(text); {
		if x86.Decode(text[at:], &in) != nil {
			at++
			continue
		}
		pc := lo + uint64(at)
		i := Insn{Addr: pc, End: pc + uint64(in.Len), Branch: in.Branch}
		switch in.Branch {
		case x86.BranchCond, x86.BranchLoop, x86.BranchJump, x86.BranchCall, x86.BranchTxn:
			i.Target = in.Target(pc)
		case x86.BranchJumpInd, x86.BranchCallInd:
			if in.HasMem && in.Mem.Base == x86.RIP {
				i.Slot = i.End + uint64(int64(in.Mem.Disp))
			}
		}
		out = append(out, i)
		at += int(in.Len)
	}
	return out
}

// Flow is the control-flow graph of a function's blocks. A jump through one word of the image leads
// to the one place that the loader has filled in, another function: only a table has several words.
// The linkage tables of the dynamic linker are thousands of such jumps.
func Flow(parts []Part) *graph.Proc {
	index := map[uint64]int32{}
	for i := range parts {
		index[parts[i].Addr] = int32(i)
	}
	succ, ends := make([][]int32, len(parts)), make([]graph.ProcBlock, len(parts))
	for i := range parts {
		p := &parts[i]
		ends[i] = graph.ProcBlock{Cond: p.chooses(), Indirect: p.Branch == x86.BranchJumpInd && p.Slot == 0, Fails: p.fails()}
		if to, ok := index[p.Target]; ok && p.jumps() {
			succ[i] = append(succ[i], to)
		}
		if to, ok := index[p.End]; ok && p.falls() {
			succ[i] = append(succ[i], to)
		}
	}
	return graph.NewProc(succ, ends)
}

// chooses reports whether there are two ways on behind a block.
func (p *Part) chooses() bool {
	return p.Branch == x86.BranchCond || p.Branch == x86.BranchLoop || p.Branch == x86.BranchTxn
}

// jumps reports whether control may go on where a block's branch says.
func (p *Part) jumps() bool { return p.chooses() || p.Branch == x86.BranchJump }

// fails reports whether control goes no further.
func (p *Part) fails() bool { return p.Branch == x86.BranchFar || p.Branch == x86.BranchTrap }

// falls reports whether control can go on behind the block.
func (p *Part) falls() bool {
	return p.Branch != x86.BranchJump && p.Branch != x86.BranchJumpInd && p.Branch != x86.BranchRet && !p.fails()
}

// Insts is a block's instructions. text is the code from an address on.
func (p *Part) Insts(text []byte, from uint64) ([]x86.Inst, bool) {
	list := make([]x86.Inst, 0, p.Instrs)
	for pc := p.Addr; pc <= p.Last; {
		var in x86.Inst
		at := pc - from
		if at >= uint64(len(text)) || x86.Decode(text[at:], &in) != nil {
			return nil, false
		}
		list, pc = append(list, in), pc+uint64(in.Len)
	}
	return list, true
}
