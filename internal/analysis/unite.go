package analysis

import (
	"cmp"
	"slices"

	"lime/internal/ledger"
	"lime/internal/origin"
	"lime/internal/profile"
)

// Rows that are one decision of the programmer are one cause: two loops side by side over the same
// number of things, or that do the same for two lists; a loop and the one directly inside it.
// Charged apart each may come behind what matters less, and repairing one alone is no repair.

// unite joins the postings that are one decision. The first of them in the program gives the name,
// of nested loops the one that is charged most.
func (r *runner) unite(acc *ledger.Account, posts map[causeKey]*posting, order []causeKey) []causeKey {
	rounds := map[profile.NodeID][]uint64{}
	for i := range acc.Tests {
		rounds[acc.Tests[i].Place.Node] = acc.Tests[i].Rounds
	}
	var loops []*loopPosting
	for _, key := range order {
		if p := posts[key]; p.event == EventLoop && p.share >= r.opt.MinShare {
			loops = append(loops, r.loopPosting(key, p, rounds))
		}
	}
	gone := map[causeKey]bool{}
	for i, a := range loops {
		for _, b := range loops[:i] {
			into, from := b, a
			switch {
			case gone[a.key] || gone[b.key] || a.function != b.function || a.source != b.source:
				continue
			case r.siblings(a, b):
				if compareKeys(a.key, b.key) < 0 {
					into, from = a, b
				}
			case nested(a, b) && a.post.along(b.post):
				if a.post.share > b.post.share {
					into, from = a, b
				}
			default:
				continue
			}
			into.post.take(from.key, from.post)
			gone[from.key] = true
		}
	}
	order = slices.DeleteFunc(order, func(k causeKey) bool { return gone[k] })
	slices.SortStableFunc(order, func(a, b causeKey) int { return cmp.Compare(posts[b].share, posts[a].share) })
	return order
}

// loopPosting is what is known of a loop that is charged.
type loopPosting struct {
	key      causeKey
	post     *posting
	function profile.FunctionID
	source   string  // the function of the source that it stands in, which may be inlined
	body     []int32 // its blocks, in order
	calls    []string
	rounds   []uint64 // by thread
}

func (r *runner) loopPosting(key causeKey, p *posting, rounds map[profile.NodeID][]uint64) *loopPosting {
	l := &loopPosting{key: key, post: p, function: profile.None, source: p.rows[0].Place.Function}
	v := p.rows[0].Place.Node
	if v < 0 || int(v) >= len(r.tab.Nodes) {
		return l
	}
	l.function, l.body, l.rounds = r.tab.Nodes[v].Function, r.prog.s.TestedLoop(int32(v)), rounds[v]
	l.calls = r.ownCalls(l.body, p.rows[0].Place.Function)
	return l
}

// ownCalls names the functions of the program's own that a loop calls, or that are inlined into it.
func (r *runner) ownCalls(body []int32, within string) (names []string) {
	add := func(name string) {
		if name != "" && name != within && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, v := range body {
		for _, f := range r.tab.Nodes[v].Frames {
			if f.Function == within || f.File == profile.None { // or the block's function, as no more is known
				break
			}
			if !origin.LibraryFile(r.prog.file(f.File)) {
				add(f.Function)
			}
		}
		for _, e := range r.prog.g.Out(v) {
			if isCall(r.prog.edges[e].Kind) && !r.inLibrary(r.prog.edges[e].To) {
				add(r.prog.callee(e))
			}
		}
	}
	slices.Sort(names)
	return names
}

// inLibrary reports whether a block is of a library.
func (r *runner) inLibrary(v profile.NodeID) bool {
	pl := r.prog.nodePlace(v)
	return origin.LibraryImage(pl.Image) || origin.LibraryFile(pl.File)
}

// siblings reports whether two loops stand beside each other and go round for the same reason: as
// often, in every thread, or for the same function of the program's own.
func (r *runner) siblings(a, b *loopPosting) bool {
	if len(a.body) == 0 || len(b.body) == 0 || overlap(a.body, b.body) > 0 {
		return false
	}
	same := len(a.calls) > 0 && slices.Equal(a.calls, b.calls)
	often := len(a.rounds) > 0 && slices.Max(a.rounds) > slices.Min(a.rounds) && slices.Equal(a.rounds, b.rounds)
	return same || often
}

// nested reports whether one of two loops is inside of the other.
func nested(a, b *loopPosting) bool {
	n := overlap(a.body, b.body)
	return n > 0 && len(a.body) != len(b.body) && n == min(len(a.body), len(b.body))
}

// overlap is the number of blocks in both lists, which are in order.
func overlap(a, b []int32) (n int) {
	for _, v := range a {
		if _, ok := slices.BinarySearch(b, v); ok {
			n++
		}
	}
	return n
}

// along reports whether two postings make the same threads late.
func (p *posting) along(q *posting) bool {
	return len(p.rows[0].Threads) > 1 && pearson(p.sums(), q.sums()) >= nestFit
}

// sums is what the posting put on every thread.
func (p *posting) sums() []float64 {
	sum := make([]float64, len(p.rows[0].Threads))
	for _, row := range p.rows {
		for i := range min(len(sum), len(row.Threads)) {
			sum[i] += row.Threads[i]
		}
	}
	return sum
}

// take adds another posting, which is the same decision.
func (p *posting) take(key causeKey, q *posting) {
	p.also = append(append(p.also, q.rows[0].Place), q.also...)
	p.keys = append(append(p.keys, key), q.keys...)
	p.rows = append(p.rows, q.rows...)
	p.cycles, p.share = p.cycles+q.cycles, p.share+q.share
	p.luck = plus(p.luck, q.luck)
}
