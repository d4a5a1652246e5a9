package spin

// Touches calls f with the instructions, in the block at whose head a thread stands, that read or
// write one of the words that watched knows, as far as addresses can be told from the registers
// there.
func (f *Follower) Touches(h *Head, watched func(addr uint64, n int) uint64, found func(pc, word uint64)) {
	w := &f.w
	w.begin(f.prog, h)
	for pc := h.PC; pc < h.End; {
		in, ok := f.prog.Decode(pc)
		if !ok {
			return
		}
		next := pc + uint64(in.Len)
		w.access = in.Accesses(w.access[:0])
		for i := range w.access {
			a := &w.access[i]
			addr, ok := w.address(&a.Mem, next)
			if !ok || a.Rep {
				continue
			}
			if word := watched(addr, max(int(a.Bytes), 1)); word != 0 {
				found(pc, word)
			}
		}
		if _, ok := w.run(in, pc); !ok { // what it computes is not known
			w.forget(in)
		}
		pc = next
	}
}
