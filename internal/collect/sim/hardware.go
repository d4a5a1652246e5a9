package sim

import (
	"fmt"
	"slices"

	"lime/internal/machine"
	"lime/internal/profile"
)

// hardware adds the times and events that the machine counted in a part's pieces.
func (o *output) hardware(x *profile.Instance, spans []any, part int32) {
	mm, ok := o.r.meter.(*machineMeter)
	if !ok {
		return
	}
	var all hardware
	for _, s := range spans {
		all.add(s.(*piece).hw)
	}
	x.Times = append(x.Times, o.times(all.times, part)...)
	x.Events, x.Costs = o.hardwareEvents(mm.m, all.events, part, x)
}

// times sums the times of each block.
func (o *output) times(times []blockTime, part int32) (out []profile.Count) {
	slices.SortStableFunc(times, func(a, b blockTime) int { return int(a.block - b.block) })
	for i := 0; i < len(times); {
		b, sum := times[i].block, uint64(0)
		for ; i < len(times) && times[i].block == b; i++ {
			sum += times[i].units
		}
		out = append(out, profile.Count{Row: int32(o.node(b)), Part: part, N: sum})
	}
	return out
}

// hardwareEvents sums the events of each kind and instruction. Several blocks may hold the same instruction.
func (o *output) hardwareEvents(m *machine.Machine, events []hardwareEvent, part int32, x *profile.Instance) (counts, costs []profile.Count) {
	sums := map[int32]*hardwareEvent{}
	var order []int32
	for _, e := range events {
		row := o.hardwareEvent(m, m.Events()[e.id])
		if sums[row] == nil {
			sums[row] = &hardwareEvent{id: row}
			order = append(order, row)
		}
		sums[row].n += e.n
		sums[row].cost += e.cost
	}
	slices.Sort(order)
	counts, costs = x.Events, x.Costs
	for _, row := range order {
		e := sums[row]
		counts = append(counts, profile.Count{Row: row, Part: part, N: e.n})
		if e.cost > 0 {
			costs = append(costs, profile.Count{Row: row, Part: part, N: e.cost})
		}
	}
	return counts, costs
}

// sharing says what kind of sharing the coherence misses at an instruction are, and with which other instruction, as far as
// has been seen when the event first comes up in a section: "false sharing with 0x401136". The resolver puts the source line.
func sharing(m *machine.Machine, e machine.Event) string {
	s := m.SharingAt(e.Site)
	if e.Kind != machine.CoherenceMiss || s == nil {
		return ""
	}
	kind := "true"
	if s.False > s.True {
		kind = "false"
	}
	return fmt.Sprintf("%s sharing with %#x", kind, m.PC(s.Other))
}

// hardwareEvent gives an event of the machine its row.
func (o *output) hardwareEvent(m *machine.Machine, e machine.Event) int32 {
	if o.hwKinds == nil {
		for _, k := range machine.Kinds() {
			o.hwKinds = append(o.hwKinds, o.sink.AddKind(profile.EventKind{
				Name: k.Name, Title: k.Title, Superior: k.Superior, Unit: k.Unit, Label: profile.Modelled,
			}))
		}
	}
	pc := m.PC(e.Site)
	key := eventKey{o.hwKinds[e.Kind], pc}
	id, ok := o.events[key]
	if !ok {
		id = o.sink.AddEvent(profile.Event{Kind: key.kind, Node: o.nodeOf(pc), Addr: pc, Detail: sharing(m, e)})
		o.events[key] = id
	}
	return int32(id)
}
