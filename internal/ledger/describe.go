// What a row is called and where it stands: by its heaviest member, and by what is known of those
// who lead there.

package ledger

import (
	"lime/internal/origin"
	"lime/internal/profile"
)

// describer describes a book's rows.
type describer struct{ b *book }

func (d describer) describe(row *Row, e *entry, top *memberWeight) {
	g := d.b.l.guide
	if e.key.group == groupFirstCall {
		row.Kind, row.Place = FirstCalls, Place{Node: profile.None}
		return
	}
	if e.key.group == groupLoading {
		row.Kind, row.Place = Loading, Place{Node: profile.None}
		return
	}
	switch top.class {
	case classEvent:
		ev := &g.tab.Events[top.id]
		row.Kind, row.Event = g.eventKind(ev)
		row.Place = g.eventPlace(ev)
		row.Detail = d.detail(e)
	case classLock, classOff, classUnaccounted:
		row.Kind, row.Place = groupKinds[e.key.group], Place{Node: profile.None}
	case classEntry, classVisits, classTasks:
		row.Kind, row.Place = groupKinds[e.key.group], g.head(profile.NodeID(top.id))
		if top.class == classEntry && startsFunction(g.tab, profile.NodeID(top.id)) {
			row.Kind = OtherStart
		} else if s := d.workOf(e, top); s != nil {
			row.Place = s.Place
		}
	default:
		row.Kind, row.Place = g.kind(e.key, profile.NodeID(top.id)), g.place(profile.NodeID(top.id))
		if top.class == classDecision {
			d.describeDecision(row, e, profile.NodeID(top.id))
		}
	}
	if e.homed {
		row.Place, row.Inside, row.Callee = g.place(e.home), d.b.inside(e, top), g.callee(e.home)
		if top.class == classDecision {
			row.Kind = Call
		}
	}
}

// describeDecision looks for the line of the program's own to which a decision belongs, where that
// is not the test's: a function's result is tested by its caller, and where a runtime decides, the
// program has only what it does then.
func (d describer) describeDecision(row *Row, e *entry, id profile.NodeID) {
	if e.key.group == groupDealt {
		test := row.Place
		row.Place, row.Test, row.DealtLoop = d.b.l.guide.deals.loops[e.key.spot].head, &test, int(e.key.spot)+1
	} else if kind, s := d.givenWork(e, id); s != nil {
		test := row.Place
		row.Kind, row.Place, row.Test = kind, s.Place, &test
	} else if at, ok := d.b.decidedBy(id); ok && e.key.group == groupTest {
		test := row.Place
		row.Kind, row.Place, row.Test = Branch, at, &test
	}
}

// givenWork is the work that a runtime gave a thread, if the row's decision is the runtime's: which
// function a thread begins with, or who does what is done once.
func (d describer) givenWork(e *entry, id profile.NodeID) (Kind, *Spent) {
	switch {
	case e.cycles.hi <= 0:
	case d.b.homes != nil && d.b.homes.begins(d.b.nodesOf(e)):
		return Entry, d.first(id, e.cycles.hi)
	case d.b.l.guide.lots[id]:
		return Chosen, d.first(id, e.cycles.hi)
	}
	return "", nil
}

// first is the first line from a block on that leads to most of some time, or else where most of it
// is spent.
func (d describer) first(id profile.NodeID, time float64) *Spent {
	if s := d.b.parting(id, time); s != nil {
		return s
	}
	return d.b.acc.Spent
}

// workOf is where the other work stands that a thread does which entered at a place of its own:
// where its way parts from the others', or else where it spends most of it.
func (d describer) workOf(e *entry, top *memberWeight) *Spent {
	if top.class != classEntry || e.cycles.hi <= 0 {
		return nil
	}
	return d.first(profile.NodeID(top.id), e.cycles.hi)
}

// eventKind returns the kind of row for an event, and the event's name.
func (g *guide) eventKind(e *profile.Event) (Kind, string) {
	if e.Kind < 0 || int(e.Kind) >= len(g.tab.Kinds) {
		return Price, ""
	}
	k := &g.tab.Kinds[e.Kind]
	switch k.Family() {
	case profile.FamilyLock:
		return LockWait, k.Name
	case profile.FamilyWait:
		return SpinWait, k.Name
	case profile.FamilyOffCore:
		return OffCPU, k.Name
	default:
		return Price, k.Name
	}
}

// detail returns the detail of the row's events if all agree.
func (d describer) detail(e *entry) string {
	first := d.b.l.tab.Events[d.b.members[e.first].id].Detail
	for m := range d.b.membersOf(e) {
		if d.b.l.tab.Events[m.id].Detail != first {
			return ""
		}
	}
	return first
}

// lots finds the blocks that test whether a runtime has chosen this thread: behind a call that
// tells it, or at the line of a directive by which one is chosen (a compiler may test the thread's
// number for it, which it knows from before).
func lots(tab *profile.Tables) []bool {
	asked, drawn := make([]bool, len(tab.Nodes)), make([]bool, len(tab.Nodes))
	for i := range tab.Edges {
		if e := &tab.Edges[i]; isCall(e.Kind) && valid(e.From, len(asked)) && valid(e.To, len(asked)) {
			asked[e.From] = asked[e.From] || origin.Chooses(functionName(tab, e.To))
		}
	}
	for i := range tab.Edges {
		if e := &tab.Edges[i]; e.Kind == profile.EdgeReturn && valid(e.From, len(asked)) && valid(e.To, len(asked)) {
			drawn[e.To] = drawn[e.To] || asked[e.From]
		}
	}
	for v := range drawn {
		drawn[v] = drawn[v] || tab.Nodes[v].Kind == profile.EndCond && origin.ChoosingLine(lineText(tab, profile.NodeID(v)))
	}
	return drawn
}

func functionName(tab *profile.Tables, v profile.NodeID) string {
	if f := tab.Nodes[v].Function; f >= 0 && int(f) < len(tab.Functions) {
		return tab.Functions[f].Name
	}
	return ""
}

// lineText is the source of a block's last instruction, "" if that is not known.
func lineText(tab *profile.Tables, v profile.NodeID) string {
	fs := tab.Nodes[v].Frames
	if len(fs) == 0 || !valid(profile.NodeID(fs[0].File), len(tab.Files)) {
		return ""
	}
	return tab.Files[fs[0].File].Lines[fs[0].Line]
}
