package analysis

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lime/internal/analysis/synth"
	"lime/internal/profile"
)

// The paper's worked example (Figure 4): correlations and coefficients are given, scores follow.
func TestFigure4(t *testing.T) {
	const A, B, C, D, E, F, G, H, I, J, K, L, entry = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
	b := newBuilder(2, 13, A, G)
	in := b.edge(entry, A, profile.EdgeFall)
	ab, ae := b.edge(A, B, profile.EdgeTaken), b.edge(A, E, profile.EdgeFall)
	bc, ef := b.edge(B, C, profile.EdgeFall), b.edge(E, F, profile.EdgeFall)
	cd, fd := b.edge(C, D, profile.EdgeFall), b.edge(F, D, profile.EdgeFall)
	dg := b.edge(D, G, profile.EdgeFall)
	gh, gk := b.edge(G, H, profile.EdgeTaken), b.edge(G, K, profile.EdgeFall)
	hi, kl := b.edge(H, I, profile.EdgeFall), b.edge(K, L, profile.EdgeFall)
	ij, lj := b.edge(I, J, profile.EdgeFall), b.edge(L, J, profile.EdgeFall)

	r := &runner{tab: b.p.Tables(), meta: b.p.Meta(), prog: newProgram(b.p.Tables())}
	o := &outcome{m: &matrix{byEdge: map[int32]int32{}}}
	// Clusters 0 and 1 are C1 and C2; every other edge is alone.
	clusters := map[int]int32{ab: 0, bc: 0, cd: 0, ae: 1, ef: 1, fd: 1, gk: 1, kl: 1, lj: 1}
	corr := map[int]float64{in: 0.1, ab: 0.4, bc: 0.4, cd: 0.4, ae: 0.9, ef: 0.9, fd: 0.9, dg: 0.1, gk: 0.92, kl: 0.92, lj: 0.92}
	for g, e := range []int{in, ab, ae, bc, ef, cd, fd, dg, gh, gk, hi, kl, ij, lj} {
		c, ok := clusters[e]
		if !ok {
			c = int32(10 + g)
		}
		o.label = append(o.label, c)
		o.m.corr = append(o.m.corr, corr[e])
		o.m.byEdge[int32(e)] = int32(g)
		o.m.events = append(o.m.events, event{row: int32(e), group: int32(g)})
	}
	for _, tt := range []struct {
		cluster int32
		beta    float64
		want    map[int32]float64
	}{
		{0, 0.22, map[int32]float64{A: 0.066}},
		{1, 0.91, map[int32]float64{A: 0.728, G: 0.7462}},
	} {
		got := map[int32]float64{}
		for _, f := range r.leaders(o, finding{cluster: tt.cluster, beta: tt.beta}) {
			got[f.node] = f.score
		}
		if len(got) != len(tt.want) {
			t.Errorf("C%d: leaders %v, want %v", tt.cluster+1, got, tt.want)
		}
		for v, s := range tt.want {
			if math.Abs(got[v]-s) > 1e-12 {
				t.Errorf("C%d: node %d scores %v, want %v", tt.cluster+1, v, got[v], s)
			}
		}
	}
}

// hardwareProfile: all threads run the same code; misses at node 2 are their own, those at node 1
// follow the executions.
func hardwareProfile(threads int) *builder {
	b := newBuilder(threads, 5, 1)
	b.p.UpdateMeta(profile.Meta{ClockUnit: "cycles", RunTime: 100000, Complete: true, CountLabel: profile.Sampled})
	enter, again, leave := b.edge(0, 1, profile.EdgeFall), b.edge(1, 1, profile.EdgeTaken), b.edge(1, 2, profile.EdgeFall)
	twice, end := b.edge(2, 3, profile.EdgeFall), b.edge(3, 4, profile.EdgeFall)
	l1, l2 := b.kind("l1d-miss", ""), b.kind("l2-miss", "l1d-miss")
	follow, own, below := b.event(l1, 1), b.event(l1, 2), b.event(l2, 2)
	var times []uint64
	edges, events := map[int][]uint64{}, map[int][]uint64{}
	for i := range threads {
		n, m := uint64(50+i*37%11), uint64(10+i*i*7919%97)
		times = append(times, 5000+20*m)
		for e, c := range map[int]uint64{enter: 1, again: n, leave: 1, twice: 1000, end: 1} {
			edges[e] = append(edges[e], c)
		}
		for e, c := range map[int]uint64{follow: 3 * (n + 1), own: m, below: 2 * m} {
			events[e] = append(events[e], c)
		}
	}
	b.instance(times, edges, events)
	return b
}

func TestHardwareCause(t *testing.T) {
	res, err := Run(hardwareProfile(16).p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sec := res.Sections[0]
	if len(sec.Causes) == 0 {
		t.Fatalf("no causes: %+v %+v", sec.Candidates, sec.Verdicts)
	}
	c := sec.Causes[0]
	if c.Family != FamilyHardware || c.Event != "l1d-miss" || c.Line != 12 || math.Abs(c.Score-1) > 1e-6 {
		t.Errorf("first cause %s %s at line %d, score %v", c.Family, c.Event, c.Line, c.Score)
	}
	if sec.Events.Caused != 2 {
		t.Errorf("%v events were explained by their superiors, want 2: the misses that follow executions, and the "+
			"second level", sec.Events.Caused)
	}
}

// shuffledProfile has the counts of a synthetic profile and times that have nothing to do with
// them.
func shuffledProfile(seed uint64, threads int) *profile.Profile {
	s := synth.Default(300, threads)
	s.Seed, s.Patterns = seed, 40
	p := synth.Profile(s)
	r := rand.New(rand.NewPCG(seed, 99))
	for in := range p.Instances(0) {
		r.Shuffle(len(in.Parts), func(i, j int) {
			in.Parts[i].Arrive, in.Parts[j].Arrive = in.Parts[j].Arrive, in.Parts[i].Arrive
		})
	}
	return p
}

// With shuffled times, false causes appear at no more than the stated rate.
func TestShuffledTimesHaveNoCauses(t *testing.T) {
	const runs = 120
	for _, threads := range []int{6, 8, 32} {
		falseRuns, candidates := 0, 0
		for seed := range uint64(runs) {
			p := shuffledProfile(seed+1, threads)
			r := &runner{src: p, meta: p.Meta(), tab: p.Tables(), opt: Options{Workers: 1}.withDefaults(), prog: newProgram(p.Tables())}
			for in := range p.Instances(0) {
				o, err := r.analyse(in, 1)
				if err != nil {
					t.Fatal(err)
				}
				if len(o.findings) > 0 {
					candidates++
				}
				if slices.ContainsFunc(o.findings, func(f finding) bool { return f.pFam < r.opt.Alpha }) {
					falseRuns++
				}
			}
		}
		// At most 6 expected; 13 is three standard deviations above.
		if falseRuns > 13 {
			t.Errorf("%d threads: %d of %d shuffled runs have a cause", threads, falseRuns, runs)
		}
		if candidates < runs/4 {
			t.Errorf("%d threads: only %d of %d have a candidate: the test shows little", threads, candidates, runs)
		}
	}
}

func TestBalancedHasNoImportantCauses(t *testing.T) {
	b := loopProfile(8)
	for in := range b.p.Instances(0) {
		for i := range in.Parts {
			in.Parts[i].Arrive = 100_000 + uint64(i)
		}
	}
	res, err := Run(b.p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := res.Sections[0]
	if !s.Balanced || s.Matters || s.Verdicts[0].Code != "balanced" ||
		!strings.Contains(s.Verdicts[0].Text, "3.50 instructions later than the mean, of 100 k") {
		t.Errorf("balanced %v, matters %v: %+v", s.Balanced, s.Matters, s.Verdicts)
	}
	if len(s.Causes) == 0 || slices.ContainsFunc(s.Causes, func(c Cause) bool { return c.Important }) { // an answer, but no alarm
		t.Errorf("%+v", s.Causes)
	}
}

func asJSON(t *testing.T, src profile.Source, opt Options) []byte {
	t.Helper()
	res, err := Run(src, opt)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWorkersDoNotMatter(t *testing.T) {
	s := synth.Default(400, 24)
	s.Instances = 12
	p := synth.Profile(s)
	want := asJSON(t, p, Options{Workers: 1})
	for range 3 {
		if got := asJSON(t, p, Options{Workers: 7}); !bytes.Equal(got, want) {
			t.Fatal("the number of workers changes the result")
		}
	}
}

// permuted lists threads and edges of a profile in another order; threads keep their names.
func permuted(p *profile.Profile, r *rand.Rand) *profile.Profile {
	q := profile.New(*p.Meta())
	src := p.Tables()
	*q.Tables() = *src
	q.Threads, q.Edges = make([]profile.Thread, len(src.Threads)), make([]profile.Edge, len(src.Edges))
	threads, edges := r.Perm(len(src.Threads)), r.Perm(len(src.Edges))
	for i, k := range edges {
		q.Edges[k] = src.Edges[i]
	}
	for in := range p.Instances(0) {
		c := *in
		c.Parts, c.Edges = make([]profile.Part, len(in.Parts)), slices.Clone(in.Edges)
		for i, k := range threads {
			c.Parts[k] = in.Parts[i]
			c.Parts[k].Thread = profile.ThreadID(k)
		}
		for i := range c.Edges {
			c.Edges[i].Row, c.Edges[i].Part = int32(edges[c.Edges[i].Row]), int32(threads[c.Edges[i].Part])
		}
		if err := q.WriteInstance(&c); err != nil {
			panic(err)
		}
	}
	return q
}

func TestOrderDoesNotMatter(t *testing.T) {
	s := synth.Default(300, 20)
	s.Instances = 4
	p := synth.Profile(s)
	want, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Run(permuted(p, rand.New(rand.NewPCG(8, 8))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := scores(want), scores(got)
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%d causes, %d after the permutation", len(a), len(b))
	}
	for line, s := range a {
		if math.Abs(b[line]-s) > 1e-9 {
			t.Errorf("line %d: score %v, %v after the permutation", line, s, b[line])
		}
	}
}

func scores(r *Result) map[int]float64 {
	out := map[int]float64{}
	for _, c := range r.Sections[0].Causes {
		if c.Score > 0.05 {
			out[c.Line] = c.Score
		}
	}
	return out
}

// With 2 and 3 threads and no exact counts the answer says that it is weak.
func TestFewThreads(t *testing.T) {
	for _, threads := range []int{2, 3} {
		b := loopProfile(threads)
		b.p.UpdateMeta(profile.Meta{ClockUnit: "instructions", RunTime: 100000, Complete: true, CountLabel: profile.Sampled})
		res, err := Run(b.p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		codes := []string{}
		for _, v := range res.Sections[0].Verdicts {
			codes = append(codes, v.Code)
		}
		want := map[int]string{2: "too-few-threads", 3: "few-threads"}[threads]
		if !slices.Contains(codes, want) {
			t.Errorf("%d threads: verdicts %v, want %s", threads, codes, want)
		}
	}
}

// Damaged profiles give an error that names the place.
func TestHostileProfiles(t *testing.T) {
	for name, damage := range map[string]func(in *profile.Instance){
		"time runs backwards": func(in *profile.Instance) { in.Parts[0].Start = in.Parts[0].Arrive + 1 },
		"no such thread":      func(in *profile.Instance) { in.Parts[0].Thread = 99 },
		"no such edge":        func(in *profile.Instance) { in.Edges[0].Row = -1 },
		"no such part":        func(in *profile.Instance) { in.Edges[len(in.Edges)-1].Part = 99 },
		"no such event":       func(in *profile.Instance) { in.Events = []profile.Count{{Row: 5, N: 1}} },
	} {
		b := loopProfile(8)
		for in := range b.p.Instances(0) {
			damage(in)
		}
		if _, err := Run(b.p, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestEmptyProfile(t *testing.T) {
	p := profile.New(profile.Meta{})
	p.AddSection(profile.Section{EndNode: profile.None})
	if err := p.WriteInstance(&profile.Instance{}); err != nil {
		t.Fatal(err)
	}
	res, err := Run(p, Options{})
	if err != nil || len(res.Sections) != 0 {
		t.Errorf("%v, %d sections", err, len(res.Sections))
	}
}

// A sampled profile knows visits of places only: the place where most of the extra time goes comes
// first.
func TestSampledVisits(t *testing.T) {
	b := newBuilder(12, 5)
	b.p.UpdateMeta(profile.Meta{ClockUnit: "ns", RunTime: 1e6, Complete: true, CountLabel: profile.Sampled, TimeLabel: profile.Measured})
	var visits []int
	for v := range 4 {
		visits = append(visits, b.edge(profile.None, v, profile.EdgeVisit))
	}
	counts := map[int][]uint64{}
	var times []uint64
	for i := range 12 {
		n := uint64(100 + 40*i)
		jitter := uint64(i * 7 % 5)
		times = append(times, 1000*(n+n/10+50))
		for k, c := range []uint64{n/10 + jitter%2, n + jitter, 50 - jitter, 0} {
			counts[visits[k]] = append(counts[visits[k]], c)
		}
	}
	b.instance(times, counts, nil)
	res, err := Run(b.p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cs := res.Sections[0].Causes
	if len(cs) < 2 || cs[0].Line != 11 || cs[1].Line != 10 || cs[0].Event != EventVisit {
		t.Errorf("causes %+v", cs)
	}
	if cs[0].Share == nil || res.Sections[0].HasLedger {
		t.Errorf("share %v, exact %v", cs[0].Share, res.Sections[0].HasLedger)
	}
}
