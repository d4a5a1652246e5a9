package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// crew is a section of threads that have work of their own, in functions of the program's own.
type crew struct {
	name    string
	kind    profile.SectionKind
	work    [][]uint64 // by thread and function
	parents []profile.ThreadID
	cores   int
	apart   []bool // who only helps
	meets   bool   // all meet in another section behind it, for a moment
}

// profile has the crew's section once. Nobody waits but at its end.
func (c *crew) profile(t *testing.T) *profile.Profile {
	t.Helper()
	p := profile.New(profile.Meta{ClockUnit: "instructions", Complete: true, NodeTime: "visits", Cores: c.cores})
	p.AddImage(profile.Image{Path: "/home/me/program"})
	p.AddFile(profile.File{Path: "program.c"})
	for f := range c.work[0] {
		fn := p.AddFunction(profile.Function{Name: fmt.Sprint("f", f), File: profile.None})
		n := p.AddNode(profile.Node{Instrs: 1, Kind: profile.EndRet, Function: fn,
			Frames: []profile.Frame{{Line: int32(10 * (f + 1)), Function: fmt.Sprint("f", f)}}})
		p.AddEdge(profile.Edge{From: profile.None, To: n, Kind: profile.EdgeVisit})
	}
	p.AddSection(profile.Section{Kind: c.kind, EndNode: profile.None})
	in := &profile.Instance{}
	for i, fs := range c.work {
		parent := profile.ThreadID(profile.None)
		if c.parents != nil {
			parent = c.parents[i]
		}
		p.AddThread(profile.Thread{Parent: parent, Entry: profile.None})
		part := profile.Part{Thread: profile.ThreadID(i), Entry: profile.None, Exit: profile.None}
		for _, n := range fs {
			part.Arrive += n
		}
		in.Parts = append(in.Parts, part)
	}
	for f := range c.work[0] {
		for i := range c.work {
			if n := c.work[i][f]; n > 0 {
				in.Edges = append(in.Edges, profile.Count{Row: int32(f), Part: int32(i), N: n})
			}
		}
	}
	last := uint64(0)
	for i := range in.Parts {
		last = max(last, in.Parts[i].Arrive)
	}
	for i := range in.Parts {
		in.Parts[i].Release = last
	}
	must(t, p.WriteInstance(in))
	if c.meets {
		must(t, p.WriteInstance(brieflyAll(p, last, len(c.work))))
	}
	return p
}

// brieflyAll is a section of all threads that is over soon.
func brieflyAll(p *profile.Profile, at uint64, threads int) *profile.Instance {
	in := &profile.Instance{Section: p.AddSection(profile.Section{Kind: profile.SectionBuilt, EndNode: profile.None})}
	for i := range threads {
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Entry: profile.None, Exit: profile.None,
			Start: at, Arrive: at + uint64(i), Release: at + uint64(threads)})
	}
	return in
}

// crews are sections of threads that all work long, and one or two that hardly work.
func randomCrews(r *rand.Rand) []crew {
	n := 2 + r.IntN(7)
	workers := func() (w [][]uint64) {
		for range n {
			w = append(w, []uint64{50_000 + r.Uint64N(50_000), 1_000, 0, 0})
		}
		return w
	}
	little := 1 + r.Uint64N(300)
	marks := func(k int) []bool {
		m := make([]bool, n+k)
		for i := range k {
			m[n+i] = true
		}
		return m
	}
	children := func() []profile.ThreadID {
		ps := make([]profile.ThreadID, n+1)
		for i := range n {
			ps[i] = profile.ThreadID(n)
		}
		ps[n] = profile.None
		return ps
	}
	return []crew{
		{name: "a feeder", kind: profile.SectionJoin, work: append(workers(), []uint64{0, 0, little, 0}), apart: marks(1)},
		{name: "a feeder that once did a worker's piece", kind: profile.SectionJoin, work: append(workers(), []uint64{1, 0, 200 + little, 0}), apart: marks(1)},
		{name: "a feeder and a logger", kind: profile.SectionJoin, work: append(workers(), []uint64{0, 0, little, 0}, []uint64{0, 0, 0, little}), apart: marks(2)},
		{name: "main", kind: profile.SectionJoin, work: append(workers(), []uint64{0, 0, little, 0}), parents: children(), apart: marks(1)},
		{name: "main without a sample", kind: profile.SectionJoin, work: append(workers(), []uint64{0, 0, 0, 0}), parents: children(), apart: marks(1)},
		{name: "main that does its share", kind: profile.SectionJoin, work: append(workers(), []uint64{little, 0, little, 0}), parents: children()},
		{name: "who finds nothing left", kind: profile.SectionJoin, work: append(workers(), []uint64{0, little, 0, 0})},
		{name: "who gets a small piece", kind: profile.SectionJoin, work: append(workers(), []uint64{little, 1, 0, 0})},
		{name: "a barrier waits for all", kind: profile.SectionBarrier, work: append(workers(), []uint64{0, 0, little, 0})},
		{name: "a fast stage", kind: profile.SectionJoin, work: append(workers(), []uint64{0, 0, 10_000, 0})},
		{name: "a slow stage alone", kind: profile.SectionJoin,
			work: [][]uint64{{0, 0, 90_000, 0}, {little, 0, 0, 0}, {0, 0, 0, little}}},
	}
}

// TestHelpersNeedNoCore: the imbalance of a section, and the cores of the account, are those of the
// threads that share its work. Whoever does less of the same is one of them.
func TestHelpersNeedNoCore(t *testing.T) {
	for seed := range uint64(30) {
		for _, c := range randomCrews(rand.New(rand.NewPCG(seed, 5))) {
			c.meets = seed%2 > 0
			res, err := Run(c.profile(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			n, longest, all := 0, 0.0, 0.0
			for i, fs := range c.work {
				if c.apart == nil || !c.apart[i] {
					own := 0.0
					for _, x := range fs {
						own += float64(x)
					}
					n, longest, all = n+1, max(longest, own), all+own
				}
			}
			sec, win := &res.Sections[slices.IndexFunc(res.Sections, func(s Section) bool { return s.ID == 0 })], longest-all/float64(n)
			if len(sec.Threads) != n || res.Loss.Cores != n || math.Abs(sec.TimeToWin-win) > 1e-6*longest {
				t.Errorf("seed %d: %s: %d threads on %d cores, %.0f to win; want %d, %.0f", seed, c.name, len(sec.Threads), res.Loss.Cores, sec.TimeToWin, n, win)
			}
			checkIdentity(t, res.Loss)
		}
	}
}

// TestFewerCoresThanThreads: threads that keep all the cores busy lose nothing by differing, and no
// more is to win than the cores were idle.
func TestFewerCoresThanThreads(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 6))
		c := crew{kind: profile.SectionBarrier, cores: 2 + r.IntN(3)}
		all, longest := 0.0, 0.0
		for range c.cores + 1 + r.IntN(20) {
			x := 1 + r.Uint64N(100_000)
			c.work = append(c.work, []uint64{x})
			all, longest = all+float64(x), max(longest, float64(x))
		}
		res, err := Run(c.profile(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := max(0, longest-all/float64(c.cores))
		if got := res.Sections[0].TimeToWin; math.Abs(got-want) > 1e-6*longest {
			t.Errorf("seed %d: %v to win on %d cores, want %v", seed, got, c.cores, want)
		}
	}
}
