package profile

import (
	"encoding/binary"
	"sync"
)

// places gives equal stacks of frames one id, and equal frames one row, in order of appearance.
// The order of the first calls of intern decides the ids.
type places struct {
	mu     sync.Mutex
	frames map[Frame]int64
	stacks map[string]int64
	fresh  placeRows // not yet written
}

// placeRows are rows of the tables frame and place.
type placeRows struct {
	first  int // id of the first frame
	frames []Frame
	places []placeRow
}

type placeRow struct{ id, depth, frame int64 }

func (p *places) intern(fs []Frame) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frames == nil {
		p.frames, p.stacks = map[Frame]int64{}, map[string]int64{}
	}
	ids := make([]int64, len(fs))
	var key []byte
	for i, f := range fs {
		ids[i] = p.frame(f)
		key = binary.AppendVarint(key, ids[i])
	}
	id, ok := p.stacks[string(key)]
	if !ok {
		id = int64(len(p.stacks))
		p.stacks[string(key)] = id
		for d, f := range ids {
			p.fresh.places = append(p.fresh.places, placeRow{id, int64(d), f})
		}
	}
	return id
}

func (p *places) frame(f Frame) int64 {
	id, ok := p.frames[f]
	if !ok {
		id = int64(len(p.frames))
		p.frames[f] = id
		p.fresh.frames = append(p.fresh.frames, f)
	}
	return id
}

// take returns the rows that are new since the last call.
func (p *places) take() placeRows {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := p.fresh
	p.fresh = placeRows{first: len(p.frames)}
	return rows
}
