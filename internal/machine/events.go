package machine

// Kind is a kind of hardware event; it indexes Kinds.
type Kind uint8

// The kinds of hardware events.
const (
	L1DMiss Kind = iota
	L1IMiss
	L2Miss
	LLCMiss
	DTLBMiss
	ITLBMiss
	BranchMiss
	CoherenceMiss
	BusWait
	MemoryWait
	NumKinds
)

// KindInfo describes a kind for the profile.
type KindInfo struct {
	Name     string
	Title    string
	Superior string // kind that must happen first at the same instruction; "" = its execution
	Unit     string
}

// Kinds returns the table of kinds, indexed by Kind.
func Kinds() [NumKinds]KindInfo {
	return [NumKinds]KindInfo{
		L1DMiss:       {"l1d-miss", "L1 data miss", "", "times"},
		L1IMiss:       {"l1i-miss", "L1 instruction miss", "", "times"},
		L2Miss:        {"l2-miss", "L2 miss", "l1d-miss", "times"},
		LLCMiss:       {"llc-miss", "last-level miss", "l2-miss", "times"},
		DTLBMiss:      {"tlb-miss", "data TLB miss", "", "times"},
		ITLBMiss:      {"itlb-miss", "instruction TLB miss", "", "times"},
		BranchMiss:    {"branch-miss", "branch mispredict", "", "times"},
		CoherenceMiss: {"coherence-miss", "coherence miss", "l1d-miss", "times"},
		BusWait:       {"bus-wait", "wait for the shared bus", "l1d-miss", "cycles"},
		MemoryWait:    {"memory-wait", "wait for a memory channel", "llc-miss", "cycles"},
	}
}

// KindByName finds a kind by its name in the profile.
func KindByName(name string) (Kind, bool) {
	for k, info := range Kinds() {
		if info.Name == name {
			return Kind(k), true
		}
	}
	return 0, false
}

// KindSet is a set of kinds.
type KindSet uint16

// Has reports whether k is in the set.
func (s KindSet) Has(k Kind) bool { return s>>k&1 != 0 }

// With returns the set with k added.
func (s KindSet) With(k Kind) KindSet { return s | 1<<k }
