package resolve

import "lime/internal/profile"

// waste names the places of wasted memory work, and the data.
func (r *resolver) waste() {
	for i := range r.t.WastePairs {
		p := &r.t.WastePairs[i]
		for _, s := range [...]*profile.WasteSide{&p.First, &p.Second} {
			if loc, ok := r.at(profile.None, s.Addr); ok {
				s.Frames = loc.frames
			}
		}
		p.Data = r.detail(p.Data)
	}
}
