// An identity of profiles whose clock counts instructions: what a part's thread has executed, and
// what is told of its waits, make up the part's length.

package profile

// Length is a part's length by the clock, beside what it is made of.
type Length struct {
	Section SectionID
	Part    Part
	Worked  uint64 // instructions that are counted in it
}

// Beyond is by how much the part is longer than what is told of it: the clock went on for a wait
// that nobody has told, say. It is negative if more is told than the part is long.
func (l *Length) Beyond() int64 {
	return int64(l.Part.Time()) - int64(l.Worked+l.Part.LockWait+l.Part.OffCPU)
}

// Lengths lists those of all parts.
func Lengths(s Source) (out []Length, err error) {
	t := s.Tables()
	for id := range t.Sections {
		for in, err := range s.Instances(SectionID(id)) {
			if err != nil {
				return nil, err
			}
			worked := in.executed(t)
			for i := range in.Parts {
				out = append(out, Length{SectionID(id), in.Parts[i], worked[i]})
			}
		}
	}
	return out, nil
}

// executed is the number of instructions of each part.
func (in *Instance) executed(t *Tables) []uint64 {
	worked := make([]uint64, len(in.Parts))
	for _, c := range in.Edges {
		if e := &t.Edges[c.Row]; e.From != None && e.Kind != EdgeReturn {
			worked[c.Part] += c.N * uint64(t.Nodes[e.From].Instrs)
		}
	}
	return worked
}
