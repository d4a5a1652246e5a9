package machine

import "testing"

// Two cores write neighbouring words in turn: what is kept of their misses names both words.
func TestSamples(t *testing.T) {
	m := tiny(t, 2, true)
	id, err := m.AddBlock(Block{Addr: 0x400000, Size: 4, PCs: []uint64{0x400000}, Instrs: make([]Instr, 1),
		Accesses: []Access{{Size: 8, Write: true}}})
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 1000
	var a Account
	kept := 0
	for i := range rounds {
		core := i & 1
		if err := run(m, core, []uint64{BlockWord(id), 0x1000 + 8*uint64(core)}, &a); err != nil {
			t.Fatal(err)
		}
		for _, s := range m.Samples() {
			kept++
			if s.Addr != 0x1000+8*uint64(core) || s.Contended && s.Other != 0 && s.Other != 0x1008-8*uint64(core) {
				t.Fatalf("round %d, core %d: %+v", i, core, s)
			}
			if i > 2 && (!s.Contended || s.Other == 0) {
				t.Fatalf("round %d: %+v is a line that the other core has taken", i, s)
			}
		}
	}
	if most := 2*firstSamples + rounds/sampleEvery + 1; kept < firstSamples || kept > most {
		t.Errorf("%d samples of %d misses, want %d to %d", kept, rounds, firstSamples, most)
	}
}
