// The addresses at which threads leave the engine, to be looked at.

package sim

import "lime/internal/engine"

// probes are the addresses at which threads leave the engine, to be looked at.
type probes struct {
	eng      *engine.Engine
	counting *counting
	placed   map[uint64]bool
}

func (p *probes) setProbe(at uint64) {
	if !p.placed[at] && !p.counting.over() {
		p.placed[at] = true
		p.eng.SetProbe(at)
	}
}

func (p *probes) clearProbe(at uint64) {
	if p.placed[at] {
		delete(p.placed, at)
		p.eng.ClearProbe(at)
	}
}
