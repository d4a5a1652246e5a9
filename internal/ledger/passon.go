package ledger

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"lime/internal/profile"
	"lime/internal/stat"
)

// The values of a function's code are means over all its callers. Where the callers pass different
// amounts of work (busy(10) here, busy(1000) there), a loop in the callee would be charged for what
// the choice between the call sites has decided. The counts show it: the loop's charge is then, in
// all threads alike, a sum over the call sites of (traversals x a cost of that site). Such a charge
// is passed on: each call edge is worth its own cost more or less than the mean, the values are
// solved anew with it, and the decisions between the sites get what they have decided. The account
// stays exact: what the edges are worth extra adds up to nil over all threads, and a thread's sum
// of it is taken off the charge that it comes from.

// Limits of passing on.
const (
	passRounds  = 4 // up the call chain
	passExact   = 1e-18
	passChain   = 64 // single call sites in a row
	passSites   = 64 // the most different ones
	passSteps   = 6  // sites in one explanation
	passCharges = 32 // looked at in one round, the largest
)

// passOn passes charges on to callers until none is left that can be.
func (a *accountant) passOn(reg *regions) {
	if a.f.parts < fewestFitted {
		return
	}
	p := &passer{accountant: a, reg: reg, alike: a.alike(), sets: map[int32]*siteSet{}}
	for range passRounds {
		if !p.round() {
			return
		}
		a.r.values = a.sys.solve(a.fac, a.cost)
	}
}

// passer looks for charges to pass on.
type passer struct {
	*accountant
	reg   *regions
	alike []int   // parts that entered the section in the same way
	index []int32 // EdgeID -> index into flow.edges
	sets  map[int32]*siteSet
}

// siteSet is how a function is called: by which edges, and how often by each part.
type siteSet struct {
	edges  []int32
	counts [][]float64 // [site][part]
	calls  []float64   // by part
	total  float64
	z      [][]float64 // [site][part]: calls beyond the site's mean share
	varied []int       // sites with the largest z
}

// alike returns the largest set of parts whose flows start at the same places: only between those
// can call sites explain what starts do not.
func (a *accountant) alike() []int {
	sets := a.f.startSets()
	var best []int
	for _, s := range sets {
		if len(s) > len(best) || len(s) == len(best) && len(s) > 0 && s[0] < best[0] {
			best = s
		}
	}
	return best
}

// round passes on every charge that can be, and reports whether there was one.
func (p *passer) round() bool {
	if len(p.alike) < fewestFitted {
		return false
	}
	floor := passWeight * norm(p.deviations())
	found := false
	for _, c := range p.largest(floor) {
		if set := p.sitesOf(profile.NodeID(c.id)); set != nil && p.pass(&c, set) {
			found = true
		}
	}
	return found
}

// largest returns what the decisions that weigh most are charged with, none below floor.
func (p *passer) largest(floor float64) []charge {
	type sized struct {
		*choice
		size float64
	}
	var found []sized
	for i := range p.chosen {
		c := &p.chosen[i]
		if c.class != classDecision {
			continue
		}
		if n := p.sizeOf(c); n >= floor && n > p.tiny {
			found = append(found, sized{c, n})
		}
	}
	var cs []charge
	for _, f := range first(found, passCharges, func(x, y sized) int { return cmp.Compare(y.size, x.size) }) {
		cs = append(cs, charge{f.class, f.id, p.weigh(f.choice, make([]float64, p.f.parts))})
	}
	return cs
}

func (p *passer) deviations() []float64 {
	d := slices.Clone(p.r.times)
	for i := range d {
		d[i] -= p.r.mean
	}
	return d
}

func norm(xs []float64) float64 { return math.Sqrt(dot(xs, xs)) }

func dot(xs, ys []float64) float64 { return stat.Dot(xs, ys) }

// sitesOf returns the call sites of the function that a node is in, or of its caller if it has one
// call site only, and so on; nil if there is no choice between sites.
func (p *passer) sitesOf(id profile.NodeID) *siteSet {
	g := p.reg.group[id]
	for range passChain {
		if g < 0 {
			return nil
		}
		set := p.set(g)
		if len(set.edges) != 1 {
			break
		}
		from := p.f.edges[set.edges[0]].from
		g = p.reg.group[p.f.nodes[from]]
	}
	if set := p.set(g); len(set.edges) > 1 {
		return set
	}
	return nil
}

func (p *passer) set(g int32) *siteSet {
	if s := p.sets[g]; s != nil {
		return s
	}
	s := &siteSet{calls: make([]float64, p.f.parts)}
	for _, id := range p.reg.sites[g] {
		if i := p.edgeOf(id); i >= 0 && p.f.edges[i].total > 0 && p.f.edges[i].from >= 0 {
			s.edges = append(s.edges, i)
		}
	}
	p.sets[g] = s
	if len(s.edges) > 1 {
		p.fill(s)
	}
	return s
}

func (p *passer) edgeOf(id profile.EdgeID) int32 {
	if p.index == nil {
		p.index = make([]int32, len(p.f.tab.Edges))
		for i := range p.index {
			p.index[i] = -1
		}
		for i := range p.f.edges {
			if id := p.f.edges[i].id; id >= 0 {
				p.index[id] = int32(i)
			}
		}
	}
	return p.index[id]
}

func (p *passer) fill(s *siteSet) {
	for _, i := range s.edges {
		n := make([]float64, p.f.parts)
		for _, c := range p.counts(i) {
			n[c.Part] += float64(c.N)
		}
		for _, x := range p.subsOf(i) {
			n[x.part]--
		}
		s.counts = append(s.counts, n)
		s.total += float64(p.f.edges[i].total)
		for q, x := range n {
			s.calls[q] += x
		}
	}
	for k, i := range s.edges {
		z := slices.Clone(s.counts[k])
		for q := range z {
			z[q] -= s.calls[q] * float64(p.f.edges[i].total) / s.total
		}
		s.z = append(s.z, z)
		s.varied = append(s.varied, k)
	}
	slices.SortStableFunc(s.varied, func(i, j int) int { return cmp.Compare(norm(s.z[j]), norm(s.z[i])) })
	s.varied = s.varied[:min(len(s.varied), passSites)]
	slices.Sort(s.varied)
}

// pass passes a charge on to the call sites, if they explain it.
func (p *passer) pass(c *charge, s *siteSet) bool {
	sites, w := p.fit(c.dev, s)
	if len(sites) == 0 {
		return false
	}
	x := make([]float64, len(s.edges))
	for k, j := range sites {
		x[j] = w[k]
	}
	var mean float64
	for j, i := range s.edges {
		mean += x[j] * float64(p.f.edges[i].total) / s.total
	}
	for j := range x {
		x[j] -= mean
	}
	if !p.possible(s, x) {
		return false
	}
	p.apply(c, s, x)
	return true
}

// possible says whether calls at every site still cost something.
func (p *passer) possible(s *siteSet, x []float64) bool {
	for j, i := range s.edges {
		if v := p.better(i, -1); v+x[j] < -1e-9*v {
			return false
		}
	}
	return true
}

func (p *passer) apply(c *charge, s *siteSet, x []float64) {
	a := p.accountant
	if a.extra == nil {
		a.extra, a.passed = make([]float64, len(p.f.edges)), map[member][]float64{}
	}
	m := member{c.class, c.id}
	given := a.passed[m]
	if given == nil {
		given = make([]float64, p.f.parts)
		a.passed[m] = given
		a.r.passed = append(a.r.passed, charge{m.class, m.id, given})
	}
	for j, i := range s.edges {
		e := &p.f.edges[i]
		a.extra[i] += x[j]
		a.cost[a.lumps.index(e.from)] += float64(e.total) * x[j]
		for q, n := range s.counts[j] {
			given[q] += n * x[j]
		}
	}
}

// fit looks for a few sites whose calls explain the charge of every part, one after the other
// the one that explains most of what is left. It returns none if they may do so by chance.
func (p *passer) fit(dev []float64, s *siteSet) (sites []int, w []float64) {
	rest := p.pick(dev)
	whole := dot(rest, rest)
	cols := make([][]float64, len(s.z))
	for _, j := range s.varied {
		cols[j] = p.pick(s.z[j])
	}
	free := len(p.alike) - 1
	if len(p.alike) < p.f.parts { // the others may have moved the mean
		calls := p.pick(s.calls)
		remove(rest, calls)
		for j := range cols {
			remove(cols[j], calls)
		}
		free--
	}
	size := make([]float64, len(cols))
	for _, j := range s.varied {
		size[j] = norm(p.pick(s.counts[j]))
	}
	var best []int
	last := 1.0
	for len(sites) < passSteps && len(sites) < free-1 {
		j := strongest(cols, rest, size)
		if j < 0 {
			break
		}
		sites = append(sites, j)
		q := slices.Clone(cols[j])
		remove(rest, q)
		for k := range cols {
			remove(cols[k], q)
		}
		left := dot(rest, rest) / whole
		if explains(left, free-len(sites), len(sites), len(s.varied)) && left < last/10 {
			best, last = slices.Clone(sites), left
		}
		if left < passExact {
			break
		}
	}
	return p.coefficients(dev, s, best)
}

// explains says whether a fit is good, and no chance.
func explains(left float64, freedom, chosen, of int) bool {
	chance := math.Pow(float64(of), float64(chosen)) * math.Pow(left, float64(freedom)/2)
	return left <= 1-passFit && chance <= passChance
}

// strongest returns the column that explains most of y, -1 if none explains anything. Of columns
// that explain as much (sites that no thread tells apart) one is taken whose calls cost more than
// those at other sites, not less.
func strongest(cols [][]float64, y, size []float64) int {
	best, most, up := -1, 0.0, false
	for j, c := range cols {
		n := norm(c)
		if n == 0 || n <= 1e-9*size[j] {
			continue
		}
		d := dot(c, y)
		x := math.Abs(d) / n
		if x > most*(1+1e-9) || x >= most*(1-1e-9) && d > 0 && !up {
			best, most, up = j, x, d > 0
		}
	}
	return best
}

// remove takes the projection on q off y.
func remove(y, q []float64) {
	n := dot(q, q)
	if n == 0 {
		return
	}
	f := dot(y, q) / n
	for i := range y {
		y[i] -= f * q[i]
	}
}

func (p *passer) pick(xs []float64) []float64 {
	out := make([]float64, len(p.alike))
	for i, q := range p.alike {
		out[i] = xs[q]
	}
	return out
}

// coefficients returns what one call at each of the sites costs.
func (p *passer) coefficients(dev []float64, s *siteSet, sites []int) ([]int, []float64) {
	if len(sites) == 0 {
		return nil, nil
	}
	cols := len(sites)
	if len(p.alike) < p.f.parts {
		cols++
	}
	m := mat.NewDense(len(p.alike), cols, nil)
	for k, j := range sites {
		m.SetCol(k, p.pick(s.z[j]))
	}
	if cols > len(sites) {
		m.SetCol(cols-1, p.pick(s.calls))
	}
	var w mat.VecDense
	if err := w.SolveVec(m, mat.NewVecDense(len(p.alike), p.pick(dev))); err != nil {
		return nil, nil // the sites cannot be told apart
	}
	return sites, w.RawVector().Data[:len(sites)]
}
