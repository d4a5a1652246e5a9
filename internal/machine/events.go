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

// KindInfo names a kind as profiles do, whose table of kinds says the rest.
type KindInfo struct {
	Name     string
	Superior string // kind that must happen first at the same instruction; "" = its execution
}

// Kinds returns the table of kinds, indexed by Kind.
func Kinds() [NumKinds]KindInfo {
	return [NumKinds]KindInfo{
		L1DMiss:       {"l1d-miss", ""},
		L1IMiss:       {"l1i-miss", ""},
		L2Miss:        {"l2-miss", "l1d-miss"},
		LLCMiss:       {"llc-miss", "l2-miss"},
		DTLBMiss:      {"tlb-miss", ""},
		ITLBMiss:      {"itlb-miss", ""},
		BranchMiss:    {"branch-miss", ""},
		CoherenceMiss: {"coherence-miss", "l1d-miss"},
		BusWait:       {"bus-wait", "l1d-miss"},
		MemoryWait:    {"memory-wait", "llc-miss"},
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
