package machine

import (
	"math/rand/v2"
	"testing"
)

// naive is the definition: for each register the executions of loads that its value hangs on, each
// with its number, and none is ever thrown away.
type naive struct {
	window uint64
	now    uint64
	of     [NumRegs]map[uint64]uint64 // number of the execution -> the load's address
}

func (l *naive) pass(in *Instr, pc uint64) (chase bool) {
	set := map[uint64]uint64{}
	add := func(regs []uint8) {
		for _, r := range regs {
			if r == NoReg {
				continue
			}
			for n, p := range l.of[r] {
				if l.now-n < l.window {
					set[n] = p
				}
			}
		}
	}
	if in.Load {
		add(in.Addrs[:])
		for _, p := range set {
			chase = chase || p == pc
		}
		set[l.now] = pc
	}
	add(in.Srcs[:])
	for _, r := range in.Dsts {
		if r != NoReg {
			l.of[r] = set
		}
	}
	l.now++
	return chase
}

// TestLineage holds the rows of bits to the definition, over random programs, with parts that are
// not sent through the pipeline and with other threads in between.
func TestLineage(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		window := []int{1, 4, 63, 64, 65, 224, 300}[r.IntN(7)]
		fast, slow := newLineage(window), &naive{window: uint64(window)}
		some := func() uint8 {
			if r.IntN(3) == 0 {
				return NoReg
			}
			return uint8(r.IntN(1 + r.IntN(NumRegs)))
		}
		for range 1500 {
			switch r.IntN(300) {
			case 0:
				slow.now += uint64(r.IntN(2 * window))
			case 1:
				fast.forget()
				slow.of = [NumRegs]map[uint64]uint64{}
			}
			in := Instr{
				Srcs: [4]uint8{some(), some(), NoReg, NoReg}, Dsts: [2]uint8{some(), NoReg}, Addrs: [2]uint8{some(), some()},
				Load: r.IntN(3) > 0,
			}
			pc := uint64(r.IntN(40))
			fast.from(slow.now)
			if got, want := fast.pass(&in, pc), slow.pass(&in, pc); got != want {
				t.Fatalf("seed %d, window %d, instruction %d: chase %t, want %t", seed, window, slow.now-1, got, want)
			}
		}
	}
}

// TestBaseIsNoChase: loads through a base that was itself reached through a chain of other loads
// are independent of one another, wherever their code lies.
func TestBaseIsNoChase(t *testing.T) {
	d, err := Load("desktop")
	if err != nil {
		t.Fatal(err)
	}
	const reads, chain = 5000, 60
	times := map[uint64]int{}
	for place := range 64 {
		m, err := New(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		// base: sixty loads, each through what the one before brought, end in register 1.
		base := Block{Addr: 0x1000 + 0x1040*uint64(place), Instrs: instrs(chain, func(int) Instr { return load(1, 1) })}
		// work: a load through register 1, whose index comes from register 2, which no load wrote.
		work := Block{Addr: 0x900000 + 0x5040*uint64(place), Instrs: []Instr{alu(2, 2), load(3, 1), alu(4, 4)},
			Accesses: []Access{{Instr: 1, Size: 8, Read: true}}}
		var ids [2]BlockID
		for i, b := range []Block{base, work} {
			m.Erase(b.Addr, KindSet(0).With(L1IMiss).With(ITLBMiss)) // fetching the code is another matter
			if ids[i], err = m.AddBlock(withPCs(b)); err != nil {
				t.Fatal(err)
			}
		}
		trace := []uint64{BlockWord(ids[0])}
		for i := range uint64(reads) {
			trace = append(trace, BlockWord(ids[1]), 1<<30+(i*0x9e3779b97f4a7c15>>44)*64)
		}
		if err := m.Run(0, m.Recorder(0).Record(m, full(m, trace, true)), &Account{}); err != nil {
			t.Fatal(err)
		}
		times[m.Clock(0)]++
	}
	if len(times) != 1 {
		t.Errorf("the same loads take different times at different places of code: %v", times)
	}
}
