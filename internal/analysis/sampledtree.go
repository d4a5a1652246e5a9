package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"lime/internal/origin"
	"lime/internal/profile"
)

// mass is what samples say of a part of the program: their number, and their covariance with the
// threads' times with its variance.
type mass struct {
	n         float64 // samples
	cov, vari float64
}

func (m *mass) add(o mass, w float64) {
	m.n += w * o.n
	m.cov += w * o.cov
	m.vari += w * o.vari
}

// part is a part of the program, inside of a boundary, in one calling context.
type part struct {
	b       boundary
	up      *part
	kids    []*part
	index   map[boundary]*part
	m       mass // all samples inside
	threads map[profile.ThreadID]float64
	ends    bool // the section's end lies in it: every thread passes through it
}

func (q *part) kid(b boundary) *part {
	if k := q.index[b]; k != nil {
		return k
	}
	if q.index == nil {
		q.index = map[boundary]*part{}
	}
	k := &part{b: b, up: q}
	q.index[b] = k
	q.kids = append(q.kids, k)
	return k
}

func (q *part) add(m mass, w float64, times map[profile.ThreadID]float64) {
	q.m.add(m, w)
	if q.threads == nil {
		q.threads = map[profile.ThreadID]float64{}
	}
	for id, t := range times {
		q.threads[id] += t
	}
}

// procs makes the functions' graphs when they are needed.
type procs struct {
	tab   *profile.Tables
	nodes map[profile.FunctionID][]profile.NodeID
	outs  [][]int32
	done  map[profile.FunctionID]*proc
	again map[profile.FunctionID]profile.NodeID // the call by which a function was seen to lead to itself, one for each
	roots map[profile.FunctionID]bool           // functions in which created threads begin
	begun map[beginning]profile.NodeID
}

func newProcs(tab *profile.Tables) *procs {
	ps := &procs{tab: tab, nodes: map[profile.FunctionID][]profile.NodeID{}, outs: make([][]int32, len(tab.Nodes)),
		done:  map[profile.FunctionID]*proc{},
		again: map[profile.FunctionID]profile.NodeID{}}
	for v := range tab.Nodes {
		f := tab.Nodes[v].Function
		ps.nodes[f] = append(ps.nodes[f], profile.NodeID(v))
	}
	for e := range tab.Edges {
		if from := tab.Edges[e].From; from >= 0 && tab.Edges[e].To >= 0 {
			ps.outs[from] = append(ps.outs[from], int32(e))
		}
	}
	return ps
}

func (ps *procs) of(f profile.FunctionID) *proc {
	if f < 0 {
		return nil
	}
	p := ps.done[f]
	if p == nil {
		p = newProc(ps.tab, ps.nodes[f], ps.outs)
		ps.done[f] = p
	}
	return p
}

// chain lists the boundaries around a node in its function; a branch that guards a loop against
// running not at all stands on the loop's own line, and is left out. Where lines are not known, it
// leads to nothing but the loop, or to where that ends.
func (ps *procs) chain(v profile.NodeID) []boundary {
	p := ps.of(ps.tab.Nodes[v].Function)
	if p == nil {
		return nil
	}
	all := p.chain(ps.tab, v)
	if ps.outlined(v) { // a thread that gets no share of a parallel loop skips it, by a branch on the directive's line
		first := ps.tab.Nodes[p.nodes[0]]
		directive := frameKey(first.First, first.Addr)
		for len(all) > 0 && all[0].kind == boundBranch && ps.line(all[0].node) == directive {
			all = all[1:]
		}
	}
	for i := len(all) - 2; i >= 0; i-- {
		if ps.line(all[i].node).line == 0 && p.guards(all[i], all[i+1]) {
			all = slices.Delete(all, i, i+1)
		}
	}
	return slices.DeleteFunc(all, func(b boundary) bool {
		if !ps.own(b.node) {
			return true
		}
		if b.kind != boundBranch {
			return false
		}
		line := ps.line(b.node)
		return line.line != 0 && slices.ContainsFunc(all, func(l boundary) bool { return l.kind == boundLoop && ps.line(l.node) == line })
	})
}

// outlined reports whether a block belongs to the body of a parallel region, which compilers make a
// function of its own.
func (ps *procs) outlined(v profile.NodeID) bool {
	f := ps.tab.Nodes[v].Function
	if f < 0 {
		return false
	}
	name := ps.tab.Functions[f].Link + " " + ps.tab.Functions[f].Name
	return strings.Contains(name, "._omp_fn.") || strings.Contains(name, "omp_outlined")
}

func (ps *procs) line(v profile.NodeID) lineKey {
	n := &ps.tab.Nodes[v]
	return frameKey(n.Frames, n.LastAddr)
}

// own reports whether a node belongs to the program and not to a library of the system or of its
// language, which may be compiled into it, and whose insides are nobody's cause. Code of the program
// that was inlined into such a function is the program's: a thread's body, a comparison for a sort.
func (ps *procs) own(v profile.NodeID) bool {
	n := &ps.tab.Nodes[v]
	if n.Image < 0 {
		return false
	}
	if n.Function >= 0 {
		f := &ps.tab.Functions[n.Function]
		if symbol := cmp.Or(f.Link, f.Name); origin.LanguageFunction(symbol) || origin.GoStandard(symbol) {
			return ps.inlined(n)
		}
	}
	return !origin.LibraryImage(ps.tab.Images[n.Image].Path)
}

// inlined reports whether a line of the program's own was inlined where a node stands.
func (ps *procs) inlined(n *profile.Node) bool {
	return slices.ContainsFunc(n.Frames, func(f profile.Frame) bool {
		return f.File >= 0 && f.Line > 0 && !origin.LibraryFile(ps.tab.Files[f.File].Path)
	})
}

// frames is a call path, outermost first: the blocks of the calls, and the block that was sampled.
func (ps *procs) frames(path profile.PathID) []profile.NodeID {
	var out []profile.NodeID
	for p := path; p >= 0; p = ps.tab.Paths[p].Parent {
		if v := ps.tab.Paths[p].Node; v >= 0 && ps.own(v) {
			out = append(out, v)
		}
	}
	slices.Reverse(out)
	return out
}

// rooted drops the frames around the function in which created threads begin: a thread that calls
// it by itself, as the first one does in parallel regions, then has the same path as they. And it
// drops those around the body of a task: in which wait of its own a thread does it is the runtime's
// choice, and no call of the program's.
func (ps *procs) rooted(frames []profile.NodeID) []profile.NodeID {
	for i, v := range slices.Backward(frames) {
		if ps.outlined(v) {
			return frames[i:]
		}
	}
	if ps.roots == nil {
		ps.roots = ps.findRoots()
	}
	for i, v := range frames {
		if ps.roots[ps.tab.Nodes[v].Function] {
			return frames[i:]
		}
	}
	return frames
}

// leastRoot is the share of the created threads' time that a function must hold to be a beginning,
// and not a stack that was cut off.
const leastRoot = 0.05

func (ps *procs) findRoots() map[profile.FunctionID]bool {
	time, all := map[profile.FunctionID]float64{}, 0.0
	for i := range ps.tab.PathSamples {
		s := &ps.tab.PathSamples[i]
		if s.Metric != "time" || s.Thread < 0 || ps.tab.Threads[s.Thread].Parent < 0 {
			continue
		}
		if frames := ps.frames(s.Path); len(frames) > 0 {
			time[ps.tab.Nodes[frames[0]].Function] += s.Value
			all += s.Value
		}
	}
	roots := map[profile.FunctionID]bool{}
	for f, t := range time {
		roots[f] = f >= 0 && t >= leastRoot*all
	}
	return roots
}

// insert adds a call path's samples to every part that holds them.
func (ps *procs) insert(root *part, frames []profile.NodeID, m mass, w float64, times map[profile.ThreadID]float64) {
	frames, recursive := ps.folded(frames)
	q := root
	q.add(m, w, times)
	step := func(b boundary) {
		q = q.kid(b)
		q.add(m, w, times)
	}
	for i, v := range frames {
		if c, ok := recursive[i]; ok {
			step(boundary{kind: boundRecursion, node: c, callee: ps.tab.Nodes[v].Function})
		}
		if _, ok := recursive[i+1]; ok && i < len(frames)-1 {
			v = ps.begins(v, ps.tab.Nodes[frames[i+1]].Function)
		}
		for _, b := range ps.chain(v) {
			step(b)
		}
		if i < len(frames)-1 {
			step(boundary{kind: boundCall, node: v, callee: ps.tab.Nodes[frames[i+1]].Function})
		}
	}
	if n := len(frames); n > 0 {
		step(boundary{kind: boundLeaf, node: frames[n-1]})
	}
}

// Thresholds of the walk, in standard errors and shares.
const (
	sureZ     = 2.0  // an estimate that is so many standard errors from nil is no chance
	surelyZ   = 3.0  // the same where many are looked at, one after the other
	mostOf    = 0.75 // of the effect in one part: it lies there
	worthOf   = 0.1  // of the effect: a part worth a cause of its own
	evenRatio = 0.35 // of the density inside: less outside is even
)

// density is the covariance per sample.
func (m mass) density() float64 {
	if m.n <= 0 {
		return 0
	}
	return m.cov / m.n
}

// spread is the variance of one sample.
func (m mass) spread() float64 {
	if m.n <= 0 {
		return 0
	}
	return max(0, m.vari/m.n-m.density()*m.density())
}

// judge tells whether the samples in rest, which lie around those of inside, are as uneven as these
// (1), even (-1), or too few to tell (0). Few samples may have fallen to the shorter threads by chance,
// all alike: what they differ by themselves says nothing of that, what those inside do does.
func (w *walker) judge(rest, inside mass) int {
	want := inside.density() * rest.n
	se := math.Sqrt(w.variance(rest))
	alike := math.Sqrt(rest.n * inside.spread())
	switch {
	case want <= 0 || rest.n < 3:
	case rest.cov < evenRatio*want && want-rest.cov > surelyZ*max(se, alike):
		return -1
	case rest.cov >= evenRatio*want && rest.cov > surelyZ*se:
		return 1
	}
	return 0
}

// walker looks for the boundaries at which unevenness begins.
type walker struct {
	ps     *procs
	total  mass
	loop   func(b boundary) length // what samples tell of a loop's length
	onCPU  float64                 // share of the uneven time that is not spent waiting for locks
	found  []*found
	price  float64 // the part of the effect that lies in code which all threads run equally often
	prices []*part // that code
	once   bool    // each thread has one row
	sums   bool    // it is the threads that differ, and not a thread's rows among themselves
	unsure bool    // samples do not show that the loops around it go round as often in all threads
}

// found is a boundary that explains a part of the effect, with those that explain it as well.
type found struct {
	cause  *part
	others []*part
	m      mass
	vague  bool // it is a loop, and samples do not tell how often it goes round
}

// variance is that of a part's covariance: which of a row's samples fall into the part is chance,
// their number is not.
func (w *walker) variance(m mass) float64 {
	return max(0, m.vari*(1-m.n/max(w.total.n, 1e-300)))
}

// walk goes inwards from q, along the part that holds most of the effect, and remembers the
// boundaries since the last part that was even.
func (w *walker) walk(q *part, since []*part) {
	for {
		kids := w.heavy(q)
		if len(kids) == 0 {
			w.name(q, since)
			return
		}
		k := kids[0]
		if k.m.cov < mostOf*q.m.cov {
			w.split(q, kids, since)
			return
		}
		rest := q.m
		rest.add(k.m, -1)
		verdict := w.judge(rest, k.m)
		switch {
		case q.ends || verdict < 0 && k.b.kind != boundLeaf: // nothing decides between a block and those beside it
			since = nil
		case verdict > 0 && len(since) > 0:
			w.name(q, since)
			return
		}
		since = append(since, k)
		q = k
	}
}

// heavy lists the parts in q that hold a share of the effect worth a cause, the heaviest first.
func (w *walker) heavy(q *part) []*part {
	var out []*part
	for _, k := range q.kids {
		if k.m.cov >= worthOf*w.total.cov && k.m.cov >= sureZ*math.Sqrt(w.variance(k.m)) {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b *part) int {
		switch {
		case a.m.cov > b.m.cov:
			return -1
		case a.m.cov < b.m.cov:
			return 1
		}
		return 0
	})
	return out
}

// split is where the effect is spread over several parts: either what they have in common is
// uneven, or each has a cause of its own.
func (w *walker) split(q *part, kids []*part, since []*part) {
	var inside mass
	for _, k := range kids {
		inside.add(k.m, 1)
	}
	rest := q.m
	rest.add(inside, -1)
	uneven := w.judge(rest, inside) > 0 || similar(kids)
	if !q.ends && uneven && len(since) > 0 {
		w.name(q, since)
		return
	}
	for _, k := range kids {
		w.walk(k, []*part{k})
	}
}

// similar reports whether several parts are equally uneven, as those of one uneven whole are.
func similar(kids []*part) bool {
	if len(kids) < 2 {
		return false
	}
	lo, hi := math.Inf(1), 0.0
	for _, k := range kids {
		lo, hi = min(lo, k.m.density()), max(hi, k.m.density())
	}
	return lo > 0.5*hi
}

// name picks the boundary that begins the unevenness among those that samples cannot tell apart: a
// loop that goes round more often the longer a thread takes, if all threads come to it; else a
// recursion; else a branch whose two ways come together again, the innermost one of the outermost
// function that has any; else the innermost loop of unknown length; else another branch; else a
// call; never a loop that is even.
func (w *walker) name(q *part, since []*part) {
	if len(since) == 0 {
		if q.up == nil { // all of the program: samples do not tell which part of it
			return
		}
		since = []*part{q}
	}
	best, most, missed := since[0], -1, w.missed(q)
	for _, s := range since {
		r := w.rank(s)
		if r == rankUneven && missed {
			r = rankUnknown
		}
		if r > most || r == most && w.inner(best, s, r) {
			best, most = s, r
		}
	}
	if most <= rankCall && w.decided(since) {
		outer := loopsAround(since[0])
		if i := slices.IndexFunc(outer, func(s *part) bool { return w.rank(s) == rankUneven }); i >= 0 && !missed {
			w.found = append(w.found, &found{cause: outer[i], m: q.m})
			return
		}
		w.unsure = w.unsure || slices.ContainsFunc(append(outer, since...), func(s *part) bool { return s.b.kind == boundLoop && !w.loop(s.b).sure })
		w.price += q.m.cov
		w.prices = append(w.prices, q)
		return
	}
	f := &found{cause: best, m: q.m, vague: most == rankUnknown && !missed}
	for _, s := range since {
		if p := w.rank(s); s != best && p > rankCall && most < rankUneven {
			f.others = append(f.others, s)
		}
	}
	w.found = append(w.found, f)
}

// missed reports whether some threads never come to a part in which the others have so many samples
// that this is no chance. How often a loop goes round there does not tell why: it may be called
// from elsewhere, too.
func (w *walker) missed(q *part) bool {
	root := q
	for root.up != nil {
		root = root.up
	}
	there := 0
	for _, t := range q.threads {
		if t > 0 {
			there++
		}
	}
	return there < len(root.threads) && q.m.n >= leastMissed*float64(max(there, 1))
}

// leastMissed is how many samples the threads that come to a part have there, on average, for one
// without any to be no chance: it has e^-12 of them by chance.
const leastMissed = 12

// Ranks of boundaries by how likely unevenness begins there, as far as samples tell.
const (
	rankNone     = iota // what all threads pass: straight code, a loop that is even
	rankCall            // a call of one function
	rankIndirect        // a call that may lead to several
	rankBranch          // a branch whose ways part for good
	rankUnknown         // a loop of which samples tell nothing
	rankJoin            // a branch whose two ways come together again
	rankRecursion
	rankUneven // a loop that goes round more often in threads that take longer
)

// inner reports whether of two boundaries of one rank the inner one is named: of loops of unknown
// length, unless samples say for sure that the outer one is likelier to go round more often, which
// the one or two that happened to fall between them do not; of those that do go round more often,
// if they say for sure that the inner one is likelier to: where in a chunk of rows a long row
// stands is always the same, and makes the loop over the chunk look uneven; of branches, if they
// stand in one function.
func (w *walker) inner(outer, inner *part, rank int) bool {
	switch rank {
	case rankUneven:
		return w.loop(inner.b).odds-w.loop(outer.b).odds > sureOdds
	case rankUnknown:
		return w.loop(outer.b).odds-w.loop(inner.b).odds <= sureOdds
	case rankJoin:
		return w.sameFunction(outer, inner)
	}
	return false
}

// sameFunction reports whether two boundaries stand in one function of the source.
func (w *walker) sameFunction(a, b *part) bool {
	name := func(v profile.NodeID) string {
		if n := &w.ps.tab.Nodes[v]; len(n.Frames) > 0 {
			return n.Frames[0].Function
		}
		return ""
	}
	return name(a.b.node) == name(b.b.node)
}

func (w *walker) preference(b boundary) int {
	switch {
	case b.kind == boundLoop:
		return [...]int{rankNone, rankUnknown, rankUneven}[w.loop(b).verdict+1]
	case b.kind == boundRecursion:
		return rankRecursion
	case b.kind == boundBranch && b.join:
		return rankJoin
	case b.kind == boundBranch:
		return rankBranch
	case b.kind == boundCall && w.ps.tab.Nodes[b.node].Kind == profile.EndCall:
		return rankCall
	case b.kind == boundCall:
		return rankIndirect
	}
	return rankNone
}

// around reports whether code next to a branch, which it does not decide over, is about as uneven
// as what lies behind it.
func (w *walker) around(s *part) bool {
	if s.up == nil {
		return false
	}
	rest := s.up.m
	rest.add(s.m, -1)
	return rest.n >= 3 && rest.density() > 0.5*s.m.density() && rest.cov > sureZ*math.Sqrt(w.variance(rest))
}

// decided reports whether samples tell of every loop among the boundaries that it is even, and
// there is one.
func (w *walker) decided(since []*part) bool {
	loops := 0
	for _, s := range since {
		if s.b.kind == boundLoop {
			loops++
		}
	}
	return loops > 0
}
