package profile

import (
	"encoding/binary"
	"sync"
)

// places gives equal stacks of frames one id, and equal frames and names one row, in order of
// appearance. The order of the first calls of intern decides the ids.
type places struct {
	mu     sync.Mutex
	names  map[string]int64
	frames map[frameRow]NodeID
	stacks map[string]int64
	fresh  placeRows // not yet written
}

// placeRows are rows of the tables name, frame and place.
type placeRows struct {
	firstName int // id of the first name
	names     []string
	frames    []frameRow
	stacks    [][]NodeID // of ids of frames
}

func (p *places) intern(fs []Frame) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frames == nil {
		p.names, p.frames, p.stacks = map[string]int64{}, map[frameRow]NodeID{}, map[string]int64{}
	}
	ids := make([]NodeID, len(fs))
	var key []byte
	for i, f := range fs {
		ids[i] = p.frame(f)
		key = binary.AppendVarint(key, int64(ids[i]))
	}
	id, ok := p.stacks[string(key)]
	if !ok {
		id = int64(len(p.stacks))
		p.stacks[string(key)] = id
		p.fresh.stacks = append(p.fresh.stacks, ids)
	}
	return id
}

func (p *places) frame(f Frame) NodeID {
	row := frameRow{f, p.name(f.Function)}
	row.Function = ""
	id, ok := p.frames[row]
	if !ok {
		id = NodeID(len(p.frames))
		p.frames[row] = id
		p.fresh.frames = append(p.fresh.frames, row)
	}
	return id
}

func (p *places) name(s string) int64 {
	id, ok := p.names[s]
	if !ok {
		id = int64(len(p.names))
		p.names[s] = id
		p.fresh.names = append(p.fresh.names, s)
	}
	return id
}

// take returns the rows that are new since the last call.
func (p *places) take() placeRows {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := p.fresh
	p.fresh = placeRows{firstName: len(p.names)}
	return rows
}
