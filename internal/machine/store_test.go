package machine

import (
	"fmt"
	"testing"
)

// store is a plain store.
func store() Instr {
	in := newInstr(ClassStore)
	in.Store = true
	return in
}

// stores is a block of n stores.
func stores(n int) Block {
	b := Block{Addr: 0x1000, Instrs: instrs(n, func(int) Instr { return store() })}
	for i := range n {
		b.Accesses = append(b.Accesses, Access{Instr: uint16(i), Size: 8, Write: true})
	}
	return b
}

// quiet is a desktop of some cores on which nothing but caches takes time.
func quiet(t *testing.T, cores int) *Machine {
	t.Helper()
	d, err := Load("desktop", "dtlb.entries=0", "itlb.entries=0", "prefetch.streams=0", "memory.channels=8")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(d, cores)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Stores reach the cache in order. Those that hit fill the buffer behind one that waits for its
// line, so of the stores that miss only as many overlap as are in the buffer together, and each can
// be hidden only while it takes the others.
func TestStoreBuffer(t *testing.T) {
	for _, c := range []struct{ stores, together float64 }{{64, 1}, {30, 2}, {14, 4}, {8, 7}} {
		m := quiet(t, 1)
		k := kernel{block: stores(int(c.stores)), addrs: func(n int) []uint64 {
			addrs := []uint64{1<<32 + uint64(n)*64}
			for i := 1; i < int(c.stores); i++ {
				addrs = append(addrs, 1<<30+uint64(i%8)*8)
			}
			return addrs
		}}
		latency := float64(m.d.L3.Latency-m.d.L1D.Latency) + float64(m.d.Memory.Latency)
		near(t, fmt.Sprint("a store of ", c.stores, " misses"), measure(t, m, 0, k, 4000), latency/c.together)
	}
}

// Misses of stores take miss registers.
func TestStoreRegisters(t *testing.T) {
	m := quiet(t, 1)
	k := kernel{block: stores(1), addrs: func(n int) []uint64 { return []uint64{1<<32 + uint64(n)*64} }}
	latency := float64(m.d.L3.Latency-m.d.L1D.Latency) + float64(m.d.Memory.Latency)
	near(t, "a store that misses", measure(t, m, 0, k, 4000), latency/float64(m.d.Core.Misses))
}

// crowd lets all cores run a block on one line, each on a word of its own, the core with the lowest
// clock first, until each has run it n times. It returns the cycles that it took for each core.
func crowd(t *testing.T, m *Machine, b Block, n int) float64 {
	t.Helper()
	id, err := m.AddBlock(withPCs(b))
	if err != nil {
		t.Fatal(err)
	}
	accounts := make([]Account, len(m.cores))
	for left := n * len(m.cores); left > 0; left-- {
		first := 0
		for c := range m.cores {
			if m.Clock(c) < m.Clock(first) {
				first = c
			}
		}
		trace := []uint64{BlockWord(id)}
		for range b.Accesses {
			trace = append(trace, 1<<30+uint64(first)*8)
		}
		if err := run(m, first, trace, &accounts[first]); err != nil {
			t.Fatal(err)
		}
	}
	end, times := uint64(0), uint64(0)
	for c := range accounts {
		end, times = max(end, m.Clock(c)), times+accounts[c].Time()
	}
	if sum := float64(end) * float64(len(m.cores)); float64(times) > sum || float64(times) < 0.9*sum {
		t.Errorf("accounted %d cycles of %.0f", times, sum)
	}
	return float64(end) / float64(n)
}

// transfer is what it takes to get a modified line from another core.
func transfer(m *Machine) float64 {
	return float64(m.d.L3.Latency - m.d.L1D.Latency + m.d.Coherence.Transfer)
}

// The line goes from core to core, one hand-over after the other: each takes as long as the
// coherence protocol does, whoever waits.
func TestHandOver(t *testing.T) {
	for _, cores := range []int{2, 4, 8} {
		inc := newInstr(ClassAtomic)
		inc.Load, inc.Store = true, true
		m := quiet(t, cores)
		b := Block{Addr: 0x1000, Instrs: []Instr{inc}, Accesses: []Access{{Size: 8, Read: true, Write: true, Lock: true}}}
		near(t, fmt.Sprint("an atomic addition by ", cores, " cores"), crowd(t, m, b, 1000), transfer(m)*float64(cores))
	}
}

// Of plain stores a buffer full of them goes each time that the core has the line.
func TestStoresHandOver(t *testing.T) {
	for _, cores := range []int{2, 4, 8} {
		m := quiet(t, cores)
		got := crowd(t, m, stores(1), 20_000)
		near(t, fmt.Sprint("a buffer of stores by ", cores, " cores"), got*float64(m.d.Core.StoreBuffer), transfer(m)*float64(cores))
	}
}
