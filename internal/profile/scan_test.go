package profile

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// A scan of the parts sees every instance in the order of writing, as the instances one by one have
// them.
func TestScanPartsSeesAllInstances(t *testing.T) {
	for seed := range uint64(8) {
		path := filepath.Join(t.TempDir(), "lime.data")
		writeFile(t, path, seed, 12)
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p := New(Meta{})
		fill(t, p, seed, 12)
		for _, src := range []interface {
			Source
			ScanParts(func(*Instance) error) error
			ScanShare(share, of int, each func(*Instance) error) error
			Scan(func(*Instance) error) error
			Instance(SectionID, int) (*Instance, error)
		}{r, p} {
			var order []int
			if err := src.ScanParts(func(in *Instance) error {
				order = append(order, int(in.Section)<<16|in.Seq)
				full, err := src.Instance(in.Section, in.Seq)
				if err != nil {
					return err
				}
				if !reflect.DeepEqual(unmet(in.Parts), unmet(full.Parts)) {
					t.Errorf("seed %d: section %d, instance %d: its parts differ", seed, in.Section, in.Seq)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			scanned := 0
			if err := src.Scan(func(in *Instance) error {
				full, err := src.Instance(in.Section, in.Seq)
				if err == nil && !reflect.DeepEqual(in, full) {
					t.Errorf("seed %d: section %d, instance %d is another one when all are read", seed, in.Section, in.Seq)
				}
				scanned++
				return err
			}); err != nil || scanned != 12 {
				t.Errorf("%d instances, %v", scanned, err)
			}
			if len(order) != 12 {
				t.Errorf("seed %d: %d instances, want 12", seed, len(order))
			}
			for of := range 14 { // more shares than instances, too
				var parts []int
				for share := range of + 1 {
					if err := src.ScanShare(share, of+1, func(in *Instance) error {
						parts = append(parts, int(in.Section)<<16|in.Seq)
						return nil
					}); err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(parts, order) {
					t.Errorf("seed %d: %d shares hold %v, want %v", seed, of+1, parts, order)
				}
			}
			if _, err := src.Instance(0, src.InstanceCount(0)); err == nil {
				t.Error("an instance that is not there gives no error")
			}
		}
		r.Close()
	}
}
