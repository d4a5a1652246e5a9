package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// slowLate charges every unit of every idle thread by itself.
func slowLate(spent []reasons) (charged reasons) {
	last := int(spent[len(spent)-1].sum())
	for at := range last {
		var done, rest []reasons
		for _, s := range spent {
			if int(s.sum()) <= at {
				done = append(done, s)
			} else {
				rest = append(rest, s)
			}
		}
		if len(done) == 0 {
			continue
		}
		var by reasons
		for c := range by {
			mean := func(of []reasons) (x float64) {
				for _, s := range of {
					x += s[c] / float64(len(of))
				}
				return x
			}
			by[c] = max(0, mean(rest)-mean(done))
		}
		for c := range by {
			charged[c] += float64(len(done)) * by[c] / by.sum()
		}
	}
	return charged
}

func TestDivideLateIsTheSlowOne(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 6))
		spent := make([]reasons, 2+r.IntN(6))
		for i := range spent {
			for c := range spent[i] {
				spent[i][c] = float64(r.IntN(12) * r.IntN(2))
			}
		}
		slices.SortFunc(spent, func(a, b reasons) int { return int(a.sum() - b.sum()) })
		charged, weights, idle := divideLate(spent)
		want := slowLate(spent)
		var linear reasons
		for i := range spent {
			for c := range linear {
				linear[c] += weights[i][c] * spent[i][c]
			}
		}
		for c := range want {
			if math.Abs(charged[c]-want[c]) > 1e-9 || math.Abs(linear[c]-want[c]) > 1e-9 {
				t.Fatalf("seed %d: %v: reason %d is charged %v, by weights %v, want %v", seed, spent, c, charged[c], linear[c], want[c])
			}
		}
		if math.Abs(charged.sum()-idle) > 1e-9 {
			t.Fatalf("seed %d: %v of %v is charged", seed, charged.sum(), idle)
		}
	}
}

// step is a piece of a thread's work, under a lock if line is not 0: the line that takes it.
type step struct {
	work uint64
	line int
}

// lockStep runs threads that share one lock, which goes to who has waited longest, and returns
// their parts and what each waited by line.
func lockStep(programs [][]step) (parts []profile.Part, waits []map[int]uint64) {
	now, free := make([]uint64, len(programs)), uint64(0)
	next := make([]int, len(programs))
	parts, waits = make([]profile.Part, len(programs)), make([]map[int]uint64, len(programs))
	for i := range parts {
		parts[i] = profile.Part{Thread: profile.ThreadID(i), Entry: profile.None, Exit: profile.None}
		waits[i] = map[int]uint64{}
	}
	for {
		who := -1 // comes to its next step first
		for i := range programs {
			if next[i] < len(programs[i]) && (who < 0 || now[i] < now[who]) {
				who = i
			}
		}
		if who < 0 {
			break
		}
		s := programs[who][next[who]]
		next[who]++
		if s.line != 0 {
			wait := max(free, now[who]) - now[who]
			waits[who][s.line] += wait
			parts[who].LockWait += wait
			now[who] += wait
			free = now[who] + s.work
		}
		now[who] += s.work
	}
	for i := range parts {
		parts[i].Arrive, parts[i].Release = now[i], slices.Max(now)
	}
	return parts, waits
}

// lockProfile is one passage of a barrier by threads of such programs.
func lockProfile(t *testing.T, programs [][]step, lines int) (p *profile.Profile, idle, held uint64) {
	t.Helper()
	parts, waits := lockStep(programs)
	p = profile.New(profile.Meta{ClockUnit: "instructions", Complete: true, RunTime: parts[0].Release})
	file := p.AddFile(profile.File{Path: "main.c"})
	kind := p.AddKind(profile.NewKind(profile.Measured, profile.KindLockWait))
	at := func(line int) []profile.Frame { return []profile.Frame{{File: file, Line: int32(line), Function: "f"}} }
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None, Frames: at(100)})
	for line := 1; line <= lines; line++ {
		p.AddEvent(profile.Event{Kind: kind, Node: profile.None, Addr: uint64(line), Frames: at(line)})
	}
	in := &profile.Instance{Parts: parts}
	for i := range parts {
		p.AddThread(profile.Thread{})
		idle, held = idle+parts[i].Release-parts[i].Arrive, held+parts[i].LockWait
		for line := 1; line <= lines; line++ {
			if n := waits[i][line]; n > 0 {
				in.Costs = append(in.Costs, profile.Count{Row: int32(line - 1), Part: int32(i), N: n})
			}
		}
	}
	if err := p.WriteInstance(in); err != nil {
		t.Fatal(err)
	}
	return p, idle, held
}

// Threads that have the same to do lose nothing to imbalance, in whatever order they come to a lock;
// threads without a lock lose nothing else; and all that is waited is in one of the two terms.
func TestLateByLocks(t *testing.T) {
	const lines = 2
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		same, locks := seed%3 == 0, seed%3 != 1
		programs := make([][]step, 2+r.IntN(7))
		for i := range programs {
			for range 1 + r.IntN(6) {
				s := step{work: 1 + r.Uint64N(50)}
				if locks {
					s.line = r.IntN(lines + 1)
				}
				programs[i] = append(programs[i], s)
			}
			if same && i > 0 { // the same steps, in another order
				programs[i] = slices.Clone(programs[0])
				r.Shuffle(len(programs[i]), func(a, b int) { programs[i][a], programs[i][b] = programs[i][b], programs[i][a] })
			}
		}
		p, idle, held := lockProfile(t, programs, lines)
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, res.Loss)
		uneven, lock := res.Loss.Term(TermImbalance).Time, res.Loss.Term(TermLock)
		const rounding = 1e-6
		if math.Abs(uneven+lock.Time-float64(idle+held)) > rounding {
			t.Errorf("seed %d: %v and %v, of %d and %d waited", seed, uneven, lock.Time, idle, held)
		}
		if same && uneven > rounding {
			t.Errorf("seed %d: %v is imbalance, and all have the same to do", seed, uneven)
		}
		if !locks && lock.Time > rounding {
			t.Errorf("seed %d: %v is waiting for locks, and there is none", seed, lock.Time)
		}
		behind := 0.0
		for _, place := range lock.Places {
			if behind += place.Behind; place.Why != "" && place.Share > rounding || place.Behind > place.Time*(1+rounding) {
				t.Errorf("seed %d: %+v, and all events are known", seed, place)
			}
		}
		if math.Abs(behind-(float64(idle)-uneven)) > rounding {
			t.Errorf("seed %d: %v behind locks, of %d idle and %v imbalance", seed, behind, idle, uneven)
		}
	}
}
