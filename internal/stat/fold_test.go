package stat

import "testing"

// A folder takes about as much room as its groups, be they few or many: a run has a folder for each
// of its instances.
func TestFolderIsAsLargeAsItsGroups(t *testing.T) {
	const n = 10
	for _, groups := range []int{1, 30, 100, 3000, 300_000} {
		f := NewFolder(n)
		x := make([]uint64, n)
		for g := range groups {
			for i := range x {
				x[i] = uint64(g+1)*uint64(i)*uint64(i) + uint64(i)
			}
			f.AddCounts(x)
		}
		used, room := 0, 0
		for _, b := range f.blocks {
			used, room = used+len(b), room+cap(b)
		}
		if least := 32 * (1 + 8*n); f.Len() != groups || room > max(least, 4*used) {
			t.Errorf("%d of %d groups: %d bytes for keys of %d", f.Len(), groups, room, used)
		}
	}
}
