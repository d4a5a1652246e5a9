package resolve

import "lime/internal/profile"

// waste names the places of wasted memory work, and the data.
func (r *resolver) waste() {
	for i := range r.t.WastePairs {
		p := &r.t.WastePairs[i]
		r.side(&p.First)
		r.side(&p.Second)
		p.Data = r.detail(p.Data)
	}
}

// locks names the locks, and the places where threads waited for them and held them.
func (r *resolver) locks() {
	for i := range r.t.Locks {
		r.t.Locks[i].Name = r.detail(r.t.Locks[i].Name)
	}
	for i := range r.t.LockWaits {
		r.side(&r.t.LockWaits[i].At)
	}
	for i := range r.t.LockHolds {
		r.side(&r.t.LockHolds[i].At)
	}
}

// side finds the source of a place on a call path.
func (r *resolver) side(s *profile.WasteSide) {
	if loc, ok := r.at(profile.None, s.Addr); ok {
		s.Frames = loc.frames
	}
}
