// The machine's times and events, in the profile.

package sim

import (
	"fmt"
	"slices"
	"strings"

	"lime/internal/machine"
	"lime/internal/profile"
)

// hardware adds the times and events that the machine counted in a part's segments.
func (o *output) hardware(x *profile.Instance, spans []any, part int32) {
	mm, ok := o.meter.(*machineMeter)
	if !ok && o.waste == nil {
		return
	}
	var all hardware
	for _, s := range spans {
		all.add(s.(*segment).hw)
	}
	if !ok {
		x.Events = append(x.Events, o.wasteEvents(all.events, part)...)
		return
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
		out = append(out, profile.Count{Row: int32(o.tables.node(b)), Part: part, N: sum})
	}
	return out
}

// hardwareEvents sums the events of each kind and instruction. Several blocks may hold the same
// instruction.
func (o *output) hardwareEvents(m *machine.Machine, events []hardwareEvent, part int32, x *profile.Instance) (counts,
	costs []profile.Count) {
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

// machineKinds are the names of the machine's kinds.
func machineKinds() []string { return machine.KindNames() }

// hardwareEvent gives an event of the machine its row.
func (o *output) hardwareEvent(m *machine.Machine, e machine.Event) int32 {
	if o.hwKinds == nil {
		for _, k := range profile.NewKinds(profile.Modelled, machineKinds()...) {
			o.hwKinds = append(o.hwKinds, o.sink.AddKind(k))
		}
	}
	pc := m.PC(e.Site)
	key := eventKey{o.hwKinds[e.Kind], pc}
	id, ok := o.tables.events[key]
	if !ok {
		detail := o.dataFinder.detail(m, e.Kind, pc, m.SharingAt(e.Site))
		id = o.sink.AddEvent(profile.Event{Kind: key.kind, Node: o.tables.nodeOf(pc), Addr: pc, Detail: detail})
		o.tables.events[key] = id
	}
	return int32(id)
}

// detail says what is known of the events of a kind at an instruction: of coherence misses what
// kind of sharing they are, and with which other instruction; of all that concern data, what data:
// "false sharing with 0x401136; on counters+0x8". The resolver puts source lines.
func (f *dataFinder) detail(m *machine.Machine, k machine.Kind, pc uint64, s *machine.Sharing) string {
	switch {
	case k == machine.L1IMiss || k == machine.ITLBMiss || k == machine.BranchMiss || k.InPlacement():
		return ""
	case k == machine.CoherenceMiss:
		return f.sharing(m, pc, s)
	}
	on := f.data.on(f.data.missed[pc], f.data.fought[pc])
	if k == machine.L1DMiss || k == machine.DTLBMiss || !f.data.missed[pc].conflicted() {
		return on
	}
	return strings.TrimPrefix(on+"; "+profile.DetailConflict, "; ")
}

func (f *dataFinder) sharing(m *machine.Machine, pc uint64, s *machine.Sharing) string {
	on := f.data.on(f.data.fought[pc])
	if s == nil {
		return on
	}
	kind := "true"
	if s.False > s.True {
		kind = "false"
	}
	clauses := []string{fmt.Sprintf("%s sharing with %#x", kind, m.PC(s.Other))}
	if on != "" {
		clauses = append(clauses, on)
	}
	if v := f.data.against[pc]; v != nil && v.words() != "" {
		clauses = append(clauses, "against "+v.words())
	}
	return strings.Join(clauses, "; ")
}

// on names the data of the first votes that are there.
func (d *dataBook) on(of ...*votes) string {
	for _, v := range of {
		if v == nil {
			continue
		}
		if w := v.words(); w != "" {
			return "on " + w
		}
	}
	return ""
}

// details tells anew what the events are, now that all have happened. Several blocks may hold one
// instruction.
func (o *output) details(m *machine.Machine) {
	shared := map[uint64]*machine.Sharing{}
	for _, e := range m.Events() {
		s := m.SharingAt(e.Site)
		if e.Kind != machine.CoherenceMiss || s == nil {
			continue
		}
		sum := shared[m.PC(e.Site)]
		if sum == nil {
			sum = &machine.Sharing{}
			shared[m.PC(e.Site)] = sum
		}
		if s.True+s.False > sum.True+sum.False {
			sum.Other = s.Other
		}
		sum.True, sum.False = sum.True+s.True, sum.False+s.False
	}
	told := map[profile.EventID]bool{}
	for _, e := range m.Events() {
		pc := m.PC(e.Site)
		if id, ok := o.hardwareRow(e.Kind, pc); ok && !told[id] {
			told[id] = true
			o.sink.SetEventDetail(id, o.dataFinder.detail(m, e.Kind, pc, shared[pc]))
		}
	}
}

func (o *output) hardwareRow(k machine.Kind, pc uint64) (profile.EventID, bool) {
	if o.hwKinds == nil {
		return 0, false
	}
	id, ok := o.tables.events[eventKey{o.hwKinds[k], pc}]
	return id, ok
}
