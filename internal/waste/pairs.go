package waste

// Pair is what two contexts waste together: the second stores over, or repeats, what the first did.
type Pair struct {
	Kind          Kind
	First, Second Context
	Bytes, Count  uint64 // Count is accesses of the second
}

// pairs sums up what is found. The runs of one access stand in found until the access is over.
type pairs struct {
	list  []Pair
	by    index
	found []run
}

// run is a run of bytes of the present access with the same first context.
type run struct {
	kind  Kind
	first Context
	addr  uint64
	n     uint32
}

// add tells of n bytes at addr.
func (p *pairs) add(k Kind, first Context, addr uint64, n uint32) {
	for i := range p.found {
		if r := &p.found[i]; r.first == first && r.kind == k {
			r.n += n
			return
		}
	}
	p.found = append(p.found, run{k, first, addr, n})
}

// flush ends an access at context c.
func (p *pairs) flush(d *Detector, c Context) {
	if len(p.found) == 0 {
		return
	}
	var seen Set
	for _, r := range p.found {
		d.sum(r.kind, r.first, c, r.addr, r.n)
		if !seen.Has(r.kind) {
			seen |= Of(r.kind)
			d.note(r.kind, c)
		}
	}
	p.found = p.found[:0]
}

// hit tells of an access all of which makes a pair with one context: sum and note in one.
func (d *Detector) hit(k Kind, first, second Context, addr uint64, n uint32) int {
	s := &d.sites[second]
	at := int(s.recent[k]) - 1
	if at < 0 || d.index.list[at].First != first {
		at = d.index.of(s, k, first, second)
	}
	x := &d.index.list[at]
	x.Bytes += uint64(n)
	x.Count++
	d.totals[s.thread].Wasted[k] += uint64(n)
	if x.Count&(x.Count-1) == 0 && d.Sample != nil {
		d.Sample(at, second, addr)
	}
	if s.since[k]++; s.since[k] == 1 {
		d.dirty[s.thread] = append(d.dirty[s.thread], Site{Context: second, Kind: k})
	}
	return at
}

// sum adds to a pair.
func (d *Detector) sum(k Kind, first, second Context, addr uint64, n uint32) {
	d.settlePair(k, first, second)
	s := &d.sites[second]
	at := d.index.of(s, k, first, second)
	x := &d.index.list[at]
	x.Bytes += uint64(n)
	x.Count++
	d.totals[s.thread].Wasted[k] += uint64(n)
	if d.Sample != nil && x.Count&(x.Count-1) == 0 {
		d.Sample(at, second, addr)
	}
}

// note counts an access for Drain.
func (d *Detector) note(k Kind, c Context) {
	s := &d.sites[c]
	if s.since[k] == 0 {
		d.dirty[s.thread] = append(d.dirty[s.thread], Site{Context: c, Kind: k})
	}
	s.since[k]++
}

// of is the index of a pair.
func (p *pairs) of(s *site, k Kind, first, second Context) int {
	if at := s.recent[k] - 1; at >= 0 && p.list[at].First == first {
		return int(at)
	}
	key := keyOfPair(k, first, second)
	slot := p.by.find(key)
	if slot.at == 0 {
		p.by.put(slot, key, len(p.list))
		p.list = append(p.list, Pair{Kind: k, First: first, Second: second})
	}
	s.recent[k] = slot.at
	return int(slot.at) - 1
}
