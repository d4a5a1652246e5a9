package machine

import (
	"math/rand/v2"
	"testing"
)

// run runs a trace given in a short form, in which every access of a block has its address (0: it
// did not happen), and a repeated one its count too; the recorder leaves out what generated code
// would leave out.
func run(m *Machine, core int, short []uint64, acct *Account) error {
	return m.Run(core, m.Recorder(core).Record(m, full(m, short, true)), acct)
}

// full is the trace of a short form with a record of every access, repeated ones only if they are
// wanted.
func full(m *Machine, short []uint64, repeats bool) (trace []uint64) {
	for len(short) > 0 {
		b := &m.blocks[uint32(short[0])>>1]
		trace, short = append(trace, short[0]), short[1:]
		for i, a := range b.Accesses {
			addr := short[0]
			short = short[1:]
			if a.Rep {
				if addr != 0 && repeats {
					trace = append(trace, RepeatWords(i, addr, short[0])...)
				}
				short = short[1:]
			} else if addr != 0 && a.Size != 0 {
				trace = append(trace, AccessWords(i, addr, uint64(a.Size))...)
			}
		}
	}
	return trace
}

// What the filter leaves out changes nothing but how often the data TLB is asked: a machine that is
// told of every access counts the same events.
func TestFilter(t *testing.T) {
	for seed := range uint64(6) {
		counts := func(filtered bool) (n [allKinds]uint64, words int, clocks []uint64) {
			rng := rand.New(rand.NewPCG(seed, 4))
			// No private second level, and a last level that nothing leaves: a line that leaves the
			// first level because it left a further one stays in the filter until the end of the
			// turn.
			d, err := Load("lime2011", "l1d.size=4KB", "l1d.ways=4", "l2.size=64MB", "dtlb.entries=0", "itlb.entries=0")
			if err != nil {
				t.Fatal(err)
			}
			m, err := New(d, 3)
			if err != nil {
				t.Fatal(err)
			}
			blocks := randomBlocks(t, rng, m)
			var acct Account
			for range 300 {
				core := rng.IntN(3)
				trace := full(m, randomTrace(rng, blocks, core, 1+rng.IntN(100)), false)
				if filtered {
					trace = m.Recorder(core).Record(m, trace)
				}
				words += len(trace)
				if err := m.Run(core, trace, &acct); err != nil {
					t.Fatal(err)
				}
			}
			acct.Drain(func(BlockID, uint64) {}, func(e int32, c, _ uint64) { n[m.Events()[e].Kind] += c })
			for c := range 3 {
				clocks = append(clocks, m.Clock(c))
			}
			return n, words, clocks
		}
		all, allWords, _ := counts(false)
		some, someWords, _ := counts(true)
		if all != some {
			t.Errorf("seed %d: events %v with every access, %v without those that the filter holds back", seed, all, some)
		}
		if someWords*10 > allWords*9 {
			t.Errorf("seed %d: %d words of %d are left", seed, someWords, allWords)
		}
	}
}
