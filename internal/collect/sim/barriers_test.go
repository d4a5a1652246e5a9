package sim_test

import (
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// What the programs of testdata/barriers.cpp are made of.
var (
	barrierKinds = []string{"STD", "LATCH", "ATOMIC", "COND", "FUTEX", "LOOK", "SENSE", "EPOCH", "TICKETS", "YIELDS", "TREE",
		"TOURNEY", "DISSEM"}
	barrierCompilers = []string{"g++ -O1", "g++ -O2", "g++ -O3", "clang++ -O1", "clang++ -O2", "clang++ -O3"}
)

// barrierProgram is one of them.
type barrierProgram struct{ kind, form, compiler string }

func (b barrierProgram) build(t *testing.T) string {
	return compile(t, "barriers.cpp", fmt.Sprintf("%s -std=c++20 -g -w -pthread -DKIND=%s -DFORM=%s -o OUT SRC", b.compiler, b.kind, b.form))
}

// barrierLoad is how such a program is run.
type barrierLoad struct{ threads, rounds, work, spread int }

// Spreads of what threads do in a round.
const (
	even     = 0
	byChance = 4
)

// amount is what a thread does in a round, in instructions, but for the barrier.
func (l barrierLoad) amount(id, round int) uint64 {
	n := l.work
	if l.spread == byChance {
		chance := int((uint32(id)*7919 + uint32(round)*104729 + 12345) * 2654435761 >> 16)
		n = l.work/2 + chance%l.work
	}
	return 2 * uint64(n)
}

// all is what all threads do.
func (l barrierLoad) all() (sum uint64) {
	for round := range l.rounds {
		for id := range l.threads {
			sum += l.amount(id, round)
		}
	}
	return sum
}

// passages is what was recognised of a program's barrier: passages of all of its threads, each with
// what it did in that round; sections of several threads that are no round; and all work in sections.
type passages struct {
	right, wrong int
	work         uint64
}

// passagesIn holds a profile to the program's rounds.
func passagesIn(t *testing.T, path string, l barrierLoad) (x passages) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
	addsUp(t, p)
	for _, a := range p.Tables().Accounts {
		if a.What == profile.InSections {
			x.work += a.Instrs
		}
	}
	var found [][]uint64
	for id := range p.Tables().Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			if len(in.Parts) < 2 {
				continue
			}
			var times []uint64
			for i := range in.Parts {
				times = append(times, in.Parts[i].Time())
			}
			slices.Sort(times)
			found = append(found, times)
		}
	}
	for round := range l.rounds {
		if i := slices.IndexFunc(found, func(times []uint64) bool { return l.isRound(round, times) }); i >= 0 {
			x.right++
			found = slices.Delete(found, i, i+1)
		}
	}
	x.wrong = len(found)
	return x
}

// isRound reports whether threads have worked so long in a round; who is who is not known.
func (l barrierLoad) isRound(round int, times []uint64) bool {
	const beside = 3000 // at most: the barrier, the way from a thread's start to its first round
	if len(times) != l.threads {
		return false
	}
	var want []uint64
	for id := range l.threads {
		want = append(want, l.amount(id, round))
	}
	slices.Sort(want)
	for i := range want {
		if times[i] < want[i] || times[i] > want[i]+beside {
			return false
		}
	}
	return true
}

// Each passage of a barrier that is a function ends a section of all of its threads, whatever the
// barrier is made of and however short some of them wait, once that is known; and nothing that
// threads do is lost, wherever a compiler puts the barrier. Those who only spin or yield, and never
// for long, are not seen to wait.
func TestBarriersOfAllKinds(t *testing.T) {
	const rounds, untilKnown = 20, 3
	seed := rand.New(rand.NewSource(1))
	for _, kind := range barrierKinds {
		for _, form := range []string{"CALL", "TWO"} {
			list := barrierCompilers
			if os.Getenv("LIME_LONG") == "" {
				list = []string{list[seed.Intn(len(list))]}
				if form == "TWO" && !slices.Contains([]string{"STD", "LATCH"}, kind) {
					continue
				}
			}
			for _, compiler := range list {
				b := barrierProgram{kind, form, compiler}
				t.Run(strings.Join([]string{kind, form, compiler}, "/"), func(t *testing.T) {
					t.Parallel()
					exe := b.build(t)
					for _, l := range []barrierLoad{{3, rounds, 5000, byChance}, {8, rounds, 5000, byChance}, {8, rounds, 5000, even}} {
						x := b.run(t, exe, l)
						if least := rounds - untilKnown; b.sure(l) && (x.right < least || x.wrong > untilKnown+1) {
							t.Errorf("%+v: %d of %d passages are right, at least %d should be; %d sections are none", l, x.right, rounds, least, x.wrong)
						}
						if all := l.all(); x.work < all {
							t.Errorf("%+v: %d instructions in sections, of %d in the rounds", l, x.work, all)
						}
					}
				})
			}
		}
	}
}

// sure reports whether threads are bound to be seen where they wait.
func (b barrierProgram) sure(l barrierLoad) bool {
	sleeps := slices.Contains([]string{"COND", "FUTEX"}, b.kind) // the others look, or yield, for a while before
	return b.form == "CALL" && (sleeps || l.spread == byChance)
}

func (b barrierProgram) run(t *testing.T, exe string, l barrierLoad) passages {
	args := strings.Fields(fmt.Sprint(l.threads, l.rounds, l.work, l.spread))
	path, status, said, out := simulated(t, 8, append([]string{unnamed, "--", exe}, args...)...)
	if status != 0 || out != "done\n" {
		t.Fatalf("%+v: status %d, printed %q: %s", l, status, out, said)
	}
	x := passagesIn(t, path, l)
	t.Logf("%+v: %d right, %d wrong", l, x.right, x.wrong)
	return x
}
