package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"lime/internal/profile"
)

// Effort is what became of the threads' time: they worked, made and moved work about (overhead: time
// in the own code of a runtime), or waited. How much of each, and what to do about it, is the
// account's to say; samples tell for which code of the program runtimes worked, and what ran while
// threads had nothing to do.
type Effort struct {
	Width         int         `json:"width"`
	Work          float64     `json:"work"`
	Overhead      float64     `json:"overhead"`
	Idleness      float64     `json:"idleness"`
	OverheadShare Interval    `json:"overhead_share"` // of the three together
	IdlenessShare Interval    `json:"idleness_share"`
	Of            EffortParts `json:"of"`
	Bounds        Interval    `json:"bounds"` // of the overhead in it
	Limit         float64     `json:"limit"`  // a share from which overhead, or waiting, is high
	Advice        string      `json:"advice"` // one of the seven
	Mostly        string      `json:"mostly"` // the term that most of the waiting is
	Unsure        bool        `json:"unsure"` // the bounds of overhead hold the limit
	Idle          []Charge    `json:"idle"`   // what ran while threads were idle, by their idleness
	Overheads     []Charge    `json:"overheads"`
	LockWait      float64     `json:"lock_wait"` // waits for locks, on the wall
	Locks         []Charge    `json:"locks"`     // where the locks are given back that others wait for
}

// EffortParts are the parts of all the time of the cores, by the account. They add up to 1.
type EffortParts struct {
	Work     float64 `json:"work"`
	Overhead float64 `json:"overhead"`
	Waiting  float64 `json:"waiting"`
	Unproved float64 `json:"unproved"`
	Locks    float64 `json:"locks"` // of the waiting
}

// The advice: by whether waiting and overhead are low or high, and what the waiting is for.
const (
	AdviceEffective = "effective" // low, low: effectively parallel
	AdviceCoarsen   = "coarsen"   // low, high: larger pieces of work
	AdviceRefine    = "refine"    // high, low: smaller pieces of work
	AdviceChange    = "change"    // high, high: another way to make it parallel
	AdviceLocks     = "locks"     // high, and it is for locks
	AdviceOffCore   = "off-core"  // high, and it is for what is outside of the program
	AdviceUnproved  = "unproved"  // low, low: threads wait, but nothing proves that to be the program's doing
)

// advice is the table of the four cases.
func advice(idleness, overhead bool) string {
	return map[[2]bool]string{
		{false, false}: AdviceEffective, {false, true}: AdviceCoarsen,
		{true, false}: AdviceRefine, {true, true}: AdviceChange,
	}[[2]bool{idleness, overhead}]
}

// Charge is the time that a place of the program answers for.
type Charge struct {
	Place
	Loop    bool    `json:"loop"`    // Place is the test of the loop that it is spent in
	Runtime string  `json:"runtime"` // whose overhead it is
	Time    float64 `json:"time"`
	Share   float64 `json:"share"` // of all the idleness, or overhead
	Least   float64 `json:"least"` // of idleness: what that is at least, by so few samples
	Path    []Frame `json:"path"`  // the call path that has most of it, outermost first
}

var effortMetrics = []string{"time", "idleness", "lock-blame"}

// effort computes the Effort, nil where the profile cannot tell.
func (r *runner) effort(width int) *Effort {
	if n := noted(r.meta, profile.NoteEffortThreads); n > 0 {
		width = int(n)
	}
	if !r.isSampled() || width < 2 {
		return nil
	}
	e := &Effort{Width: width, Limit: HighShare}
	idle, over, locks := r.newCharges(), r.newCharges(), r.newCharges()
	names := newRuntimes(r.tab)
	sites := map[profile.PathID]codeSite{}
	for i := range r.tab.PathSamples {
		s := &r.tab.PathSamples[i]
		if s.Path < 0 || !slices.Contains(effortMetrics, s.Metric) {
			continue
		}
		at, ok := sites[s.Path]
		if !ok {
			at = names.site(s.Path)
			sites[s.Path] = at
		}
		switch {
		case s.Metric == "lock-blame":
			e.LockWait += s.Value
			locks.add(at, "", s.Path, s.Value)
		case s.Metric == "idleness":
			e.Idleness += s.Value
			idle.add(at, "", s.Path, s.Value)
		case at.owner.Runtime():
			e.Overhead += s.Value
			over.add(at, at.owner.String(), s.Path, s.Value)
		default:
			e.Work += s.Value
		}
	}
	if e.Work+e.Overhead <= 0 {
		return nil
	}
	all, samples := e.Work+e.Overhead+e.Idleness, noted(r.meta, "samples")
	e.OverheadShare, e.IdlenessShare = estimate(e.Overhead/all, samples), estimate(e.Idleness/all, samples)
	e.Idle, e.Overheads, e.Locks = idle.list(e.Idleness), over.list(e.Overhead), locks.list(e.LockWait)
	return e
}

// bound says what the shares of idleness are at least. A sample stands for as many idle threads as
// there were for each that worked: for all but one, at most. By that many samples at least the
// idleness is known, however unequally it is spread over them.
func (e *Effort) bound(sums []*summary) {
	if e == nil {
		return
	}
	samples := 0.0
	for _, s := range sums {
		samples += s.samples
	}
	n := samples * min(1, ratio(e.Idleness, float64(e.Width-1)*(e.Work+e.Overhead)))
	for i := range e.Idle {
		e.Idle[i].Least = estimate(e.Idle[i].Share, n).Lo
	}
}

// addSamples counts an instance's samples.
func (s *summary) addSamples(tab *profile.Tables, in *profile.Instance) {
	for _, c := range in.Edges {
		if c.Row >= 0 && int(c.Row) < len(tab.Edges) && tab.Edges[c.Row].Kind == profile.EdgeVisit {
			s.samples += float64(c.N)
		}
	}
}

// waitingTerms are those that threads wait in.
var waitingTerms = [...]string{TermImbalance, TermSerial, TermLock, TermWait, TermOffCore}

// follow takes the shares and the advice from the account of the whole loss, so that one report has
// one answer. Samples see the threads on the cores that there were: who waits for a lock, or sleeps,
// is not among the threads that could work, and with fewer cores than threads all wait in turn.
func (e *Effort) follow(l *Loss, samples float64) {
	if e == nil {
		return
	}
	most := 0.0
	e.Width = l.Cores
	e.Of = EffortParts{Work: l.Term(TermUseful).Share + l.Term(TermMemory).Share, Overhead: l.Term(TermOverhead).Share,
		Unproved: l.Term(TermUnproved).Share, Locks: l.Term(TermLock).Share}
	for _, name := range waitingTerms {
		x := l.Term(name).Share
		if e.Of.Waiting += x; x > most {
			most, e.Mostly = x, name
		}
	}
	busy := e.Of.Work + e.Of.Overhead
	e.Bounds = estimate(min(1, ratio(e.Of.Overhead, busy)), samples).times(busy)
	e.Unsure = e.Bounds.Lo < e.Limit && e.Bounds.Hi > e.Limit
	e.Advice = advice(e.Of.Waiting >= e.Limit, e.Of.Overhead >= e.Limit)
	switch {
	case e.Advice == AdviceEffective && max(e.Of.Unproved, e.IdlenessShare.Value) >= e.Limit:
		e.Advice = AdviceUnproved
	case e.Of.Waiting < e.Limit || e.Mostly != TermLock && e.Mostly != TermOffCore:
	case e.Of.Overhead > most:
		e.Advice = AdviceCoarsen
	default:
		e.Advice = map[string]string{TermLock: AdviceLocks, TermOffCore: AdviceOffCore}[e.Mostly]
	}
}

// estimate gives a share of samples its 95 % bounds (Wilson).
func estimate(p, n float64) Interval {
	if n <= 0 {
		return Interval{Value: p, Hi: 1}
	}
	const z = 1.96
	mid, half := (p+z*z/(2*n))/(1+z*z/n), z/(1+z*z/n)*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Interval{Value: p, Lo: max(0, min(p, mid-half)), Hi: min(1, max(p, mid+half))}
}

// times is the interval of what is so many times as much.
func (i Interval) times(x float64) Interval {
	return Interval{Value: i.Value * x, Lo: i.Lo * x, Hi: i.Hi * x}
}

// noted is the collector's own count of something, 0 if it left none.
func noted(m *profile.Meta, code string) float64 {
	for _, n := range m.Notes {
		if n.Code == code {
			return float64(n.N)
		}
	}
	return 0
}

// charges adds up times by place: the innermost loop around it, or else its function.
type charges struct {
	r     *runner
	times map[chargeKey]*charged
}

type chargeKey struct {
	function profile.FunctionID
	loop     lineKey // of the loop's test: a loop that is inlined twice is one in the source
	inLoop   bool
	runtime  string
	call     lineKey // of a library, at a place
}

type charged struct {
	time  float64
	loop  profile.NodeID // a test of the loop, None
	lines map[lineKey]float64
	paths map[profile.PathID]float64
	nodes map[lineKey]codeSite
}

func (r *runner) newCharges() *charges { return &charges{r, map[chargeKey]*charged{}} }

func (c *charges) add(at codeSite, runtime string, path profile.PathID, time float64) {
	key, line := chargeKey{function: profile.None, runtime: runtime}, lineKey{file: profile.None}
	loop := profile.NodeID(profile.None)
	if at.node >= 0 {
		n := &c.r.tab.Nodes[at.node]
		key.function, loop = n.Function, c.r.procs().innermostLoop(at.node)
		if loop >= 0 && !at.calls { // a call of a library's is a place of its own in the loop
			key = chargeKey{function: profile.None, loop: c.r.prog.nodeKey(loop), inLoop: true, runtime: runtime}
		}
		line = frameKey(n.Frames[min(at.frame, len(n.Frames)):], n.LastAddr)
		if at.calls {
			key.call = line
		}
	}
	x := c.times[key]
	if x == nil {
		x = &charged{loop: loop, lines: map[lineKey]float64{}, paths: map[profile.PathID]float64{}, nodes: map[lineKey]codeSite{}}
		c.times[key] = x
	}
	x.time += time
	x.lines[line] += time
	x.paths[path] += time
	x.nodes[line] = at
}

// innermostLoop is the test of the innermost loop around a block in its function.
func (ps *procs) innermostLoop(v profile.NodeID) profile.NodeID {
	chain := ps.chain(v)
	for i := len(chain) - 1; i >= 0; i-- {
		if chain[i].kind == boundLoop {
			return chain[i].node
		}
	}
	return profile.None
}

// maxCharges is how many places are named.
const maxCharges = 5

func (c *charges) list(all float64) []Charge {
	out := []Charge{}
	for key, x := range c.times {
		if x.time > 0 && x.time >= 0.01*all {
			out = append(out, c.charge(key, x, all))
		}
	}
	slices.SortFunc(out, func(a, b Charge) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Address, b.Address))
	})
	return out[:min(len(out), maxCharges)]
}

func (c *charges) charge(key chargeKey, x *charged, all float64) Charge {
	out := Charge{Runtime: key.runtime, Time: x.time, Share: ratio(x.time, all), Loop: key.inLoop}
	at := x.nodes[largest(x.lines, compareLines)]
	switch {
	case out.Loop:
		out.Place = c.r.prog.nodePlace(x.loop)
	case at.node >= 0:
		n := &c.r.tab.Nodes[at.node]
		out.Place = c.r.prog.nodePlace(at.node)
		if at.frame > 0 && at.frame < len(n.Frames) {
			out.Place = c.r.prog.framesPlace(n.Frames[at.frame:])
		}
	}
	out.Path = c.r.pathFrames(largest(x.paths, cmp.Compare[profile.PathID]))
	return out
}

// largest is the key with the largest value, the first in order on a tie.
func largest[K comparable](m map[K]float64, order func(a, b K) int) (best K) {
	for i, k := range slices.SortedFunc(maps.Keys(m), order) {
		if i == 0 || m[k] > m[best] {
			best = k
		}
	}
	return best
}

func compareLines(a, b lineKey) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.addr, b.addr))
}

// deepestPath bounds the call paths that are shown; a longer one loses its middle.
const deepestPath = 12

// pathFrames is a call path in the program's own code, outermost first.
func (r *runner) pathFrames(p profile.PathID) []Frame {
	var out []Frame
	for _, v := range r.procs().frames(p) {
		n := &r.tab.Nodes[v]
		f := Frame{Function: r.prog.nodePlace(v).Function}
		if len(n.Frames) > 0 {
			f.File, f.Line = r.prog.file(n.Frames[0].File), int(n.Frames[0].Line)
		}
		out = append(out, f)
	}
	if len(out) > deepestPath {
		out = append(out[:deepestPath/2:deepestPath/2], out[len(out)-deepestPath/2:]...)
	}
	return out
}
