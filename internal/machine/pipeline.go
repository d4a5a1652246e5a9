package machine

// latencies gives, per class, the cycles from operands to result. Loads add the first level's
// latency. Figures: A. Fog, "Instruction tables" (2022), rounded over Zen 2 and Skylake.
func latencies() [NumClasses]uint16 {
	return [NumClasses]uint16{
		ClassALU: 1, ClassMul: 3, ClassDiv: 20, ClassFAdd: 4, ClassFMul: 4, ClassFDiv: 14,
		ClassVec: 1, ClassX87: 6, ClassBranch: 1, ClassStore: 1, ClassNop: 0, ClassAtomic: 18,
		ClassSerial: 30, ClassString: 20, ClassSyscall: 100,
	}
}

// pipeline computes what a block costs when nothing misses: how far the time of retirement
// moves when its instructions go through a window of limited size at limited width, each
// waiting for its operands. Times are in units of 1/scale cycle.
type pipeline struct {
	dispatch uint64          // when the next instruction can enter
	ready    [NumRegs]uint64 // when each register's value is there
	retire   uint64          // when the last instruction retired
	ring     []uint64        // retirement of the last instructions: one that leaves the window makes room
	at       int
	lineage  lineage // the loads in flight that the registers' values hang on
}

// scale is the number of time units in a cycle; divisible by all widths up to 16 but 11 and 13.
const scale = 5040

func newPipeline(window int) pipeline {
	return pipeline{ring: make([]uint64, window), lineage: newLineage(window)}
}

// run sends a block through and returns the time it added. chase[i] is set for each instruction i
// whose load needed, for its address, what the same load brought before, while that may still have
// been in flight (a pointer chase).
func (p *pipeline) run(d *Description, lat *[NumClasses]uint16, b *Block, chase []bool) uint64 {
	before := p.retire
	step := scale / uint64(d.Core.Width)
	for i := range b.Instrs {
		in := &b.Instrs[i]
		p.dispatch = max(p.dispatch+step, p.ring[p.at])
		start := p.dispatch
		for _, regs := range [...][]uint8{in.Srcs[:], in.Addrs[:]} {
			for _, r := range regs {
				if r != NoReg {
					start = max(start, p.ready[r])
				}
			}
		}
		latency := uint64(lat[in.Class])
		if in.drains() {
			start = max(start, p.retire)
		}
		if in.Load {
			latency += uint64(d.L1D.Latency)
		}
		done := start + latency*scale
		if in.Load && in.Class == ClassALU {
			done -= scale // a plain load has no execution after it
		}
		for _, r := range in.Dsts {
			if r != NoReg {
				p.ready[r] = done
			}
		}
		if p.lineage.pass(in, b.PCs[i]) {
			chase[i] = true
		}
		if in.drains() {
			p.dispatch = done
		}
		if in.Store && !in.Load {
			done = start // leaves for the store buffer
		}
		p.retire = max(p.retire+step, done)
		p.ring[p.at] = p.retire
		if p.at++; p.at == len(p.ring) {
			p.at = 0
		}
	}
	return p.retire - before
}

// settle forgets what is in flight: used when blocks in between were not sent through.
func (p *pipeline) settle() {
	p.dispatch = p.retire
	for i := range p.ready {
		p.ready[i] = min(p.ready[i], p.retire)
	}
	for i := range p.ring {
		p.ring[i] = min(p.ring[i], p.retire)
	}
}
