package sim

import (
	"testing"

	"lime/internal/machine"
	"lime/internal/profile"
	"lime/internal/waste"
)

// The machine model and the detector of waste know no profile: their kinds are rows of its table
// all the same.
func TestKindsAreThoseOfTheTable(t *testing.T) {
	kinds := profile.NewKinds(profile.Modelled, machineKinds()...)
	for i, k := range machine.Kinds() {
		if kinds[i].Family() != profile.FamilyMemory || kinds[i].Superior != k.Superior {
			t.Errorf("%s: family %q, superior %q, the machine's is %q", k.Name, kinds[i].Family(), kinds[i].Superior, k.Superior)
		}
	}
	for k := range waste.Kinds {
		if f := profile.FamilyOf(k.String()); f != profile.FamilyWaste {
			t.Errorf("%s: family %q", k, f)
		}
	}
}
