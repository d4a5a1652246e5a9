// Threads of a scope in Rust: counted down, not joined. Who counts to zero wakes their creator.

package native

import (
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/profile"
	"lime/internal/section"
)

// through lists the threads that have done what they were made for, if one of them wakes their
// creator in a function that says so.
func (r *run) through(t *thread, h *hook.Record, woken []*thread) (out []section.ThreadID) {
	if t.parent == nil || !slices.Contains(woken, t.parent) || !r.site(h).through {
		return nil
	}
	for _, o := range r.threads {
		if o.parent == t.parent && !o.ended {
			out = append(out, o.id)
		}
	}
	return out
}

// mostJumps is how many functions may have jumped on to one another before a call that is recorded.
const mostJumps = 4

// saysThrough reports whether a call was made in a function that says that its thread is through.
// Compilers make jumps of such calls, so that it stands between the call on the stack and what is
// recorded.
func (r *run) saysThrough(h *hook.Record, s *site) bool {
	for _, f := range s.Stack {
		if r.code.look(uint64(f.Call)).fn.through() {
			return true
		}
	}
	b := r.code.look(h.Caller - 1).b
	if target := r.target(h.Func); b.end == h.Caller && target != 0 {
		return r.code.jumpsThrough(r.code.goesTo(b), target, mostJumps)
	}
	return false
}

func (f *function) through() bool { return f.named && f.role == known.Through }

// jumpsThrough reports whether a function jumps on to a target, over at most so many others, by one
// that says that its thread is through.
func (c *code) jumpsThrough(entry, target uint64, most int) bool {
	if entry == 0 || entry == target || most == 0 {
		return false
	}
	f := c.look(entry).fn
	for _, b := range f.blocks {
		if b.kind != profile.EndJump && b.kind != profile.EndJumpInd {
			continue
		}
		to := c.goesTo(b)
		if to == target && f.through() || to != 0 && (to < f.entry || to >= f.blocks[len(f.blocks)-1].end) && c.jumpsThrough(to, target, most-1) {
			return true
		}
	}
	return false
}
