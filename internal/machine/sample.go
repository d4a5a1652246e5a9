package machine

// Sample is one of the accesses that missed, to tell what data an instruction misses on.
type Sample struct {
	Site  Site
	Addr  uint64
	Other uint64 // where another core has written the line, if that core took it; else 0
	// Contended says that the access is a coherence miss.
	Contended bool
	// Behind says that it missed behind the first level, where lines are known by page frames;
	// Conflict, that the line left for want of room in its set: with its page in another frame it
	// might not have.
	Behind, Conflict bool
}

// Of the accesses that miss at an instruction, the first few and then one in many are kept.
const (
	firstSamples = 4
	sampleEvery  = 64 // a power of two
)

// sample keeps an access that has missed, if it is its turn. f is nil if it did so in the data TLB
// only.
func (r *runner) sample(b *blockState, site Site, addr uint64, f *found) {
	if b.missed == nil {
		b.missed = make([]uint32, 2*len(b.Instrs))
	}
	contended := f != nil && f.contended()
	n := &b.missed[2*int(site.Instr)+int(bit(contended))]
	*n++
	if *n > firstSamples && *n%sampleEvery != 0 {
		return
	}
	s := Sample{Site: site, Addr: addr, Contended: contended, Behind: f != nil && f.l2Miss, Conflict: f != nil && f.conflict}
	if contended && f.lostLine && f.wrote != 0 {
		s.Other = addr>>r.m.shift<<r.m.shift + uint64(trailingZeros(f.wrote))
	}
	r.m.samples = append(r.m.samples, s)
}

// Samples returns the accesses that were kept since the last call. They are valid until the next
// Run.
func (m *Machine) Samples() []Sample {
	s := m.samples
	m.samples = m.samples[:0]
	return s
}
