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
func (pl *places) through(t *thread, h *hook.Record, woken []*thread) (out []section.ThreadID) {
	if t.parent == nil || !slices.Contains(woken, t.parent) || !pl.site(h).through {
		return nil
	}
	for _, o := range pl.roster.threads {
		if o.parent == t.parent && !o.ended {
			out = append(out, o.id)
		}
	}
	return out
}

// mostJumps is how many functions may have jumped on to one another before a call that is recorded.
const mostJumps = 4

// saysThrough reports whether a call was made in a function that says that its thread is through.
func (pl *places) saysThrough(h *hook.Record, s *site) bool {
	for _, f := range s.Stack {
		if pl.program.code.look(uint64(f.Call)).fn.through() {
			return true
		}
	}
	return pl.program.code.jumpedFrom(h.Caller, pl.program.target(h.Func), (*function).through)
}

func (f *function) through() bool { return f.named && f.role == known.Through }

// locking reports whether a function, by its name, is one of a lock.
func (f *function) locking() bool { return known.Locking(f.name) }

// jumpedFrom reports whether a call of a target was made in a function of a kind that is not on the
// stack: compilers make jumps of calls with which functions end, so that it stands between the call
// on the stack, which returns to ret, and what is recorded.
func (c *code) jumpedFrom(ret, target uint64, is func(*function) bool) bool {
	b := c.look(ret - 1).b
	return b.end == ret && target != 0 && c.jumpsBy(c.goesTo(b), target, mostJumps, is)
}

// jumpsBy reports whether a function jumps on to a target, over at most so many others, one of which
// (or itself) is of a kind.
func (c *code) jumpsBy(entry, target uint64, most int, is func(*function) bool) bool {
	if entry == 0 || entry == target || most == 0 {
		return false
	}
	f := c.look(entry).fn
	if is(f) {
		is = func(*function) bool { return true }
	}
	for _, b := range f.blocks {
		if b.kind != profile.EndJump && b.kind != profile.EndJumpInd {
			continue
		}
		to := c.goesTo(b)
		if to == target && is(f) || to != 0 && !f.holds(to) && c.jumpsBy(to, target, most-1, is) {
			return true
		}
	}
	return false
}

// holds reports whether an address lies in the function.
func (f *function) holds(addr uint64) bool {
	return len(f.blocks) > 0 && addr >= f.blocks[0].addr && addr < f.end()
}
