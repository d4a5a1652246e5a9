// How many threads have a region together. LLVM's runtime reduces in another way in small teams,
// and who comes to a reduction first may do so before the others have begun.

package sim

// smallTeam is the largest team for which LLVM's runtime reduces without a tree of barriers
// (kmp_runtime.cpp, __kmp_determine_reduction_method, x86-64).
const smallTeam = 4

// team is the threads of a region.
type team struct {
	members int // that have begun so far
	reduces reduction
}

// reduction is how a region's team reduces: all in one way.
type reduction uint8

const (
	reducesSomehow reduction = iota // nobody has yet
	reducesAlone                    // each for itself
	reducesInTree                   // together: that is a barrier
)

// enterReduce is a barrier in a large team if the runtime may use a tree.
func (rs *regions) enterReduce(t *thread, f *fn) {
	if argument(t, f.Object) == 0 || len(t.regions) == 0 {
		return
	}
	k := rs.forkWith(t.regions[len(t.regions)-1])
	if k == nil {
		return
	}
	if k.team.reduces == reducesSomehow {
		k.team.reduces = reducesAlone
		if max(k.team.members, rs.expected(k.master)) > smallTeam {
			k.team.reduces = reducesInTree
		}
	}
	if k.team.reduces == reducesInTree {
		rs.barriers.enterTeam(t, f)
	}
}

// expected is how many threads a region has that a thread opens, as far as can be told: as many as
// its last one, else all that its runtime has made for it.
func (rs *regions) expected(master *thread) int {
	if master.lastTeam > 0 {
		return master.lastTeam
	}
	n := 1
	for _, t := range rs.roster.threads {
		if t.parent == master && !t.gone && (t.idle || len(t.regions) > 0) {
			n++
		}
	}
	return n
}
