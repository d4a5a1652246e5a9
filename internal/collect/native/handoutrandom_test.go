package native

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/section"
)

// shift is threads that share cores with other programs and with one another: each moment of theirs
// is drawn, and what they did is known exactly.
type shift struct {
	rnd        *rand.Rand
	own        []int // what each thread has left of its own, or of the piece that it took
	pieces     []int // what nobody has taken yet
	parts      []*piece
	cpu, after []uint64
	came       int
	queued     []uint64
}

func newShift(rnd *rand.Rand, threads int) *shift {
	s := &shift{rnd: rnd, own: make([]int, threads), cpu: make([]uint64, threads), after: make([]uint64, threads),
		queued: make([]uint64, threads)}
	for range threads {
		s.parts = append(s.parts, nil)
	}
	return s
}

// works lets the threads work until all have come; of those that could run, cores do at a time, for
// as long as turn says.
func (s *shift) works(cores int, turn func(rnd *rand.Rand) int) *section.Instance {
	order := s.rnd.Perm(len(s.own))
	for now := 1; s.came < len(s.own); {
		for i := turn(s.rnd); i > 0 && s.came < len(s.own); i, now = i-1, now+1 {
			s.moment(uint64(now), order[:min(cores, len(order))])
		}
		order = append(order[min(cores, len(order)):], order[:min(cores, len(order))]...)
		order = slices.DeleteFunc(order, func(i int) bool { return s.parts[i] != nil })
		if s.rnd.IntN(2) == 0 {
			s.rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
	}
	in := &section.Instance{Kind: section.Join}
	e := &episode{}
	for i, p := range s.parts {
		p.met, p.after, p.queued = e, s.after[i], s.queued[i]
		in.Parts = append(in.Parts, section.Part{Spans: []any{p}})
	}
	return in
}

func (s *shift) moment(now uint64, running []int) {
	for i := range s.own {
		if s.parts[i] != nil {
			continue
		}
		if !slices.Contains(running, i) {
			s.queued[i]++
			continue
		}
		if s.own[i] == 0 && len(s.pieces) > 0 {
			s.own[i], s.pieces = s.pieces[0], s.pieces[1:]
		}
		if s.own[i] == 0 {
			s.parts[i] = &piece{to: now}
			s.came++
			continue
		}
		s.own[i]--
		s.cpu[i]++
		if s.came > 0 {
			s.after[i]++
		}
	}
}

// Of work that goes to whoever comes first no more is told to be lost than twice what a piece for each
// thread is, however the cores were shared, and however few pieces there were.
func TestHandedOutAtRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 1))
	turns := func(rnd *rand.Rand) int { return 1 + rnd.IntN(400) }
	for draw := range 2000 {
		cores := 1 + rnd.IntN(4)
		s := newShift(rnd, cores+1+rnd.IntN(8))
		piece := 0
		for range len(s.own) * (1 + rnd.IntN(40)) {
			s.pieces = append(s.pieces, 1+rnd.IntN(100))
			piece = max(piece, s.pieces[len(s.pieces)-1])
		}
		o := &output{handouts: handouts{}, idle: newIdling(cores)}
		in := s.works(cores, turns)
		told := uint64(len(s.cpu))*slices.Max(s.cpu) - total(s.cpu)
		if waits := o.waits(in, handoutKey{}, s.cpu); waits != nil {
			told = total(waits)
			all, n := total(evenly(s.cpu, waits)), uint64(len(waits))
			if all+n < total(s.cpu) || all > total(s.cpu) && n*slices.Max(waits) <= total(s.cpu)+told {
				t.Errorf("draw %d: %d of work became %d", draw, total(s.cpu), all)
			}
		}
		if most := uint64(2 * len(s.own) * piece); told > most {
			t.Errorf("draw %d: %d of %v told to be lost, of pieces of %d at most; %d after %v", draw, told, s.cpu, piece, cores, s.after)
		}
	}
}

// What is dealt out unevenly keeps its differences, where the cores are shared evenly.
func TestDealtOutAtRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 2))
	for draw := range 500 {
		cores := 1 + rnd.IntN(4)
		s := newShift(rnd, cores+1+rnd.IntN(8))
		for i := range s.own {
			s.own[i] = 100 + rnd.IntN(400)
		}
		o := &output{handouts: handouts{}, idle: newIdling(cores)}
		in := s.works(cores, func(*rand.Rand) int { return 1 })
		if waits := o.waits(in, handoutKey{}, s.cpu); waits != nil {
			t.Errorf("draw %d: %v told to be handed out, with %v left when the first one was done", draw, s.cpu, s.after)
		}
	}
}
