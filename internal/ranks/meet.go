package ranks

import (
	"encoding/binary"

	"lime/internal/profile"
)

// A meet is one collective operation of one communicator: what all its ranks have of it, packed.
type meet struct {
	section profile.SectionID
	meeting profile.Meeting
	who     []int32 // the ranks' lines, by part
	nth     []int32 // which of the line's visits it is, by part
	packed  []byte  // the parts
	also    []end   // ranks that do not wait for all others, whose parts stand elsewhere
	columns [4]map[int32]*column
	least   uint64 // the shortest stay of a rank in the call: what the operation itself takes
	came    int    // ranks that stand at it
	done    bool
	guests  []waiter // who waited for a message of somebody's who was on the way to the meeting
	cause   end      // who came last of those for whom others wait
}

// visit is a rank's passage through a meeting. Its times are on the clock that all ranks have in
// common, once they are known.
type visit struct {
	meet            *meet
	mail            *mail // not everybody waits for everybody
	here            bool  // it stands at the meet, and is counted there
	before          *joined
	lead            []profile.EdgeID
	work, early     uint64
	role            profile.MeetRole
	came, local     uint64 // when it came and when it left, on its own clock
	arrive, release uint64
}

// start is when the rank began with what it did before.
func (v *visit) start() uint64 { return v.arrive - min(v.work, v.arrive) }

// stacks keeps each stack of calls once: ranks mostly have the same.
type stacks struct {
	ids  map[string]uint64
	list [][]profile.NodeID
}

func (s *stacks) id(stack []profile.NodeID) uint64 {
	if stack == nil {
		return 0
	}
	var b []byte
	for _, n := range stack {
		b = binary.AppendVarint(b, int64(n))
	}
	if s.ids == nil {
		s.ids = map[string]uint64{}
	}
	return known(s.ids, string(b), func() uint64 {
		s.list = append(s.list, stack)
		return uint64(len(s.list))
	})
}

func (s *stacks) of(id uint64) []profile.NodeID {
	if id == 0 {
		return nil
	}
	return s.list[id-1]
}

// add appends a rank's part, whose ids are the union's, and returns its number. How long the rank
// stayed in the call tells what the operation takes.
func (m *meet) add(l *line, p *profile.Part, stay uint64, s *stacks) (part int32) {
	if len(m.who) == 0 || stay < m.least {
		m.least = stay
	}
	part = int32(len(m.who))
	m.who, m.nth = append(m.who, l.index), append(m.nth, int32(len(l.visits)))
	for _, v := range [...]uint64{uint64(p.Thread), p.LockWait, p.OffCPU, uint64(p.Entry + 1), uint64(p.Exit + 1),
		s.id(p.EntryStack), s.id(p.ExitStack)} {
		m.packed = binary.AppendUvarint(m.packed, v)
	}
	return part
}

// count adds to a cell of one of the four matrices.
func (m *meet) count(matrix int, row, part int32, n uint64) {
	if m.columns[matrix] == nil {
		m.columns[matrix] = map[int32]*column{}
	}
	known(m.columns[matrix], row, func() *column { return &column{} }).add(part, n)
}

// instance is the meeting with all its parts; their times stand in the ranks' lines.
func (m *meet) instance(lines []*line, s *stacks) *profile.Instance {
	in := &profile.Instance{Section: m.section, Meeting: &m.meeting, Parts: make([]profile.Part, len(m.who))}
	b := m.packed
	for i := range in.Parts {
		var n [7]uint64
		for k := range n {
			v, size := binary.Uvarint(b)
			n[k], b = v, b[size:]
		}
		v := &lines[m.who[i]].visits[m.nth[i]]
		in.Parts[i] = profile.Part{
			Thread: profile.ThreadID(n[0]), Start: v.arrive - v.work, Arrive: v.arrive, Release: v.release, LockWait: n[1], OffCPU: n[2],
			Entry: profile.NodeID(n[3]) - 1, Exit: profile.NodeID(n[4]) - 1, EntryStack: s.of(n[5]),
			ExitStack: s.of(n[6]), Meets: v.role, Early: v.early,
		}
	}
	for i, to := range matrices(in) {
		for row, c := range m.columns[i] {
			*to = c.cells(*to, row)
		}
	}
	for i := range in.Parts {
		lines[m.who[i]].visits[m.nth[i]].before.addTo(in, int32(i))
	}
	for i := range m.guests {
		m.guests[i].addTo(in)
	}
	in.Sort()
	return in
}

// free gives back what the meeting took.
func (m *meet) free() {
	m.packed, m.columns, m.who, m.nth, m.guests = nil, [4]map[int32]*column{}, nil, nil, nil
}
