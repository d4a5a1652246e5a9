package busywait

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"lime/internal/x86"
)

// The reference goes round random loops, with memory as it is, and looks what they do.

// machine is what the reference computes with: eight registers, and memory that is all the same or
// tells its address.
type machine struct {
	regs  [8]uint64
	flags struct{ zero, less bool }
	fill  uint64
	loads map[uint64]int // by address, the last round
	round int
}

const hashed = 77

func (m *machine) load(addr uint64) uint64 {
	m.loads[addr] = m.round
	if m.fill == hashed {
		return addr * 0x9e3779b97f4a7c15 >> 40
	}
	return m.fill
}

func (m *machine) compare(a, b uint64) { m.flags.zero, m.flags.less = a == b, int64(a) < int64(b) }

// part is an instruction, and what it does.
type part struct {
	code []byte
	do   func(m *machine)
}

// parts makes a random instruction (Intel SDM vol. 2). Registers are rax, rcx, rdx, rbx, rsi, rdi.
func randomPart(r *rand.Rand) part {
	pick := func() byte { return [...]byte{0, 1, 2, 3, 6, 7}[r.IntN(6)] }
	a, b := pick(), pick()
	k := [...]int8{0, 1, 2, 5, 8, 63}[r.IntN(6)]
	rm := func(reg, rm byte) byte { return 0xc0 | reg<<3 | rm }
	imm := binary.LittleEndian.AppendUint32(nil, uint32(k))
	switch r.IntN(13) {
	case 0:
		return part{append([]byte{0xb8 | a}, imm...), func(m *machine) { m.regs[a] = uint64(k) }}
	case 1:
		return part{[]byte{0x48, 0x89, rm(b, a)}, func(m *machine) { m.regs[a] = m.regs[b] }}
	case 2:
		return part{[]byte{0x48, 0x83, rm(0, a), byte(k)}, func(m *machine) { m.regs[a] += uint64(k); m.compare(m.regs[a], 0) }}
	case 3:
		return part{[]byte{0x48, 0x01, rm(b, a)}, func(m *machine) { m.regs[a] += m.regs[b]; m.compare(m.regs[a], 0) }}
	case 4:
		return part{[]byte{0x48, 0x83, rm(4, a), byte(k)}, func(m *machine) { m.regs[a] &= uint64(k); m.compare(m.regs[a], 0) }}
	case 5:
		return part{[]byte{0x48, 0x0f, 0xaf, rm(a, b)}, func(m *machine) { m.regs[a] *= m.regs[b] }}
	case 6, 7: // mov 64(a), b
		return part{[]byte{0x48, 0x8b, 0x40 | b<<3 | a, 64}, func(m *machine) { m.regs[b] = m.load(m.regs[a] + 64) }}
	case 8: // mov (a, b, 8), b
		return part{[]byte{0x48, 0x8b, b<<3 | 4, 0xc0 | b<<3 | a}, func(m *machine) { m.regs[b] = m.load(m.regs[a] + 8*m.regs[b]) }}
	case 9:
		return part{[]byte{0x48, 0x85, rm(a, a)}, func(m *machine) { m.compare(m.regs[a], 0) }}
	case 10:
		return part{[]byte{0x48, 0x83, rm(7, a), byte(k)}, func(m *machine) { m.compare(m.regs[a], uint64(k)) }}
	case 11: // cmove b, a
		return part{[]byte{0x48, 0x0f, 0x44, rm(a, b)}, func(m *machine) {
			if m.flags.zero {
				m.regs[a] = m.regs[b]
			}
		}}
	}
	// lea 1(a, b, 2), a
	return part{[]byte{0x48, 0x8d, 0x44 | a<<3, 0x40 | b<<3 | a, 1}, func(m *machine) { m.regs[a] += 2*m.regs[b] + 1 }}
}

// randomLoop is a loop, what its blocks do, and when each branches: on zero, on less, not on them.
type randomLoop struct {
	Loop
	does  [][]func(*machine)
	conds []int
}

func newRandomLoop(t *testing.T, r *rand.Rand) *randomLoop {
	l := &randomLoop{}
	n := 1 + r.IntN(4)
	for b := range n {
		block, do := Block{Code: Code{Addr: 0x1000 * uint64(b+1)}, Taken: Out, Fall: b + 1}, []func(*machine){}
		put := func(code []byte) {
			var in x86.Inst
			if err := x86.Decode(code, &in); err != nil || int(in.Len) != len(code) {
				t.Fatalf("% x: %v", code, err)
			}
			block.Insts = append(block.Insts, in)
		}
		for range 1 + r.IntN(4) {
			p := randomPart(r)
			put(p.code)
			do = append(do, p.do)
		}
		if b == n-1 {
			block.Fall = 0
		}
		if r.IntN(2) == 0 {
			block.Taken = r.IntN(n)
		}
		cond := [...]byte{4, 5, 12, 13}[r.IntN(4)] // je, jne, jl, jge
		put([]byte{0x70 | cond, 0})
		l.Blocks, l.does, l.conds = append(l.Blocks, block), append(l.does, do), append(l.conds, int(cond))
	}
	return l
}

// run goes round for so many rounds, or so many blocks, or until it leaves; it returns the round then.
func (l *randomLoop) run(m *machine, rounds int) int {
	at := 0
	for blocks := 0; m.round < rounds && blocks < 100*rounds; blocks++ {
		for _, do := range l.does[at] {
			do(m)
		}
		taken := l.conds[at] == 4 && m.flags.zero || l.conds[at] == 5 && !m.flags.zero || l.conds[at] == 12 && m.flags.less ||
			l.conds[at] == 13 && !m.flags.less
		b := &l.Blocks[at]
		if at = b.Fall; taken {
			at = b.Taken
		}
		if at == Out {
			return m.round
		}
		if at == 0 {
			m.round++
		}
	}
	return m.round
}

// Whatever loop is said to wait looks at the same places again and again, and when it leaves depends
// on what is there.
func TestWhatWaitsLooksAtTheSame(t *testing.T) {
	const loops, rounds = 100_000, 400
	waiting, long := 0, 0
	for seed := range uint64(loops) {
		r := rand.New(rand.NewPCG(seed, 7))
		l := newRandomLoop(t, r)
		if !Judge(&l.Loop).Waits {
			continue
		}
		waiting++
		var start [8]uint64
		for i := range start {
			start[i] = [...]uint64{0, 1, 5, 1 << 20, 1 << 33}[r.IntN(5)]
		}
		for _, fill := range [...]uint64{0, 1, 5, ^uint64(0), hashed} {
			m := &machine{regs: start, fill: fill, loads: map[uint64]int{}}
			if l.run(m, rounds/2) < rounds/2 {
				continue
			}
			long++
			seen := len(m.loads)
			if l.run(m, rounds); len(m.loads) > seen {
				t.Fatalf("seed %d, memory of %d: it looks at %d places in %d rounds, and at %d in %d", seed, fill, seen, rounds/2,
					len(m.loads), m.round)
			}
		}
	}
	if waiting < loops/1000 || long < waiting {
		t.Errorf("of %d loops %d wait, %d times for long", loops, waiting, long)
	}
}
