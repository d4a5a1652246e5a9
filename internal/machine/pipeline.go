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
	origin   [NumRegs]uint64 // set of loads (hashed) that the register's value hangs on by address
}

// scale is the number of time units in a cycle; divisible by all widths up to 16 but 11 and 13.
const scale = 5040

func newPipeline(window int) pipeline { return pipeline{ring: make([]uint64, window)} }

// run sends a block through and returns the time it added. chase[i] is set for each instruction i
// whose load needs, for its address, what the same load brought before (a pointer chase).
func (p *pipeline) run(d *Description, lat *[NumClasses]uint16, b *Block, chase []bool) uint64 {
	before := p.retire
	step := scale / uint64(d.Core.Width)
	for i := range b.Instrs {
		in := &b.Instrs[i]
		p.dispatch = max(p.dispatch+step, p.ring[p.at])
		start := p.dispatch
		var hangs uint64
		for _, r := range in.Srcs {
			if r != NoReg {
				start = max(start, p.ready[r])
				hangs |= p.origin[r]
			}
		}
		var address uint64
		for _, r := range in.Addrs {
			if r != NoReg {
				start = max(start, p.ready[r])
				address |= p.origin[r]
			}
		}
		latency := uint64(lat[in.Class])
		if in.drains() {
			start = max(start, p.retire)
		}
		if in.Load {
			latency += uint64(d.L1D.Latency)
			me := loadBit(b.Addr, i)
			if address&me != 0 {
				chase[i] = true
			}
			hangs |= address | me
		}
		done := start + latency*scale
		if in.Load && in.Class == ClassALU {
			done -= scale // a plain load has no execution after it
		}
		for _, r := range in.Dsts {
			if r != NoReg {
				p.ready[r] = done
				p.origin[r] = hangs
			}
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

// loadBit hashes a load to one of 64 bits. Two loads on one bit can make a chase of what
// is none, never hide one.
func loadBit(addr uint64, i int) uint64 {
	return 1 << ((addr*31 + uint64(i)) * 0x9e3779b97f4a7c15 >> 58)
}
