package profile

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestMatrixRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p packer
	for range 300 {
		rows, parts := 1+r.IntN(40), 1+r.IntN(20)
		m := randomMatrix(r, rows, parts)
		slices.SortFunc(m, compareCounts)
		payload, err := unpack(p.pack(appendMatrix(nil, m)), newBudget(1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseMatrix(payload, rows, parts, newBudget(1))
		if err != nil || !slices.Equal(got, m) {
			t.Fatalf("%v\n got %v\nwant %v", err, got, m)
		}
	}
}

// TestMatrixBytes pins the format that the documentation shows.
func TestMatrixBytes(t *testing.T) {
	m := []Count{{3, 0, 10}, {3, 1, 12}, {3, 4, 9}, {5, 2, 300}}
	want := []byte{2, 3, 3, 1, 1, 0, 0, 2, 2, 10, 4, 5, 0xac, 2}
	if got := appendMatrix(nil, m); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMatrixErrors(t *testing.T) {
	good := appendMatrix(nil, []Count{{3, 0, 10}, {5, 2, 300}})
	for _, c := range []struct {
		payload     []byte
		rows, parts int
		want        string
	}{
		{good, 5, 3, "row 5 is out of range (there are 5)"},
		{good, 6, 2, "part 2 is out of range (there are 2)"},
		{append(slices.Clone(good), 0), 6, 3, "1 bytes too many"},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0x7f}, 6, 3, "data end too early"},
		{[]byte{1, 0, 0, 0, 0}, 6, 3, "row 0 has 0 cells"},
		{[]byte{1, 0, 4, 0, 0}, 6, 3, "row 0 has 4 cells for 3 parts"},
		{[]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, math.MaxInt32, 3, "out of range"},
	} {
		if _, err := parseMatrix(c.payload, c.rows, c.parts, newBudget(1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.payload, err, c.want)
		}
	}
	for i := range good {
		if _, err := parseMatrix(good[:i], 6, 3, newBudget(1)); err == nil && i > 0 {
			t.Errorf("cut at %d: no error", i)
		}
	}
}

// unmet are the parts without what they are in a meeting, or took on the host, which stands
// elsewhere.
func unmet(ps []Part) []Part {
	out := slices.Clone(ps)
	for i := range out {
		out[i].Meets, out[i].Early, out[i].Host = MeetAll, 0, HostTime{}
	}
	return out
}

func TestPartsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		in := randomInstance(r, 1+r.IntN(30), 9, 9, 9)
		payload := appendParts(nil, in.Parts)
		got, err := parseParts(payload, 1<<20, newBudget(1), nil)
		if err != nil || !reflect.DeepEqual(got, unmet(in.Parts)) {
			t.Fatalf("%v\n got %v\nwant %v", err, got, in.Parts)
		}
		for i := range payload {
			if _, err := parseParts(payload[:i], 1<<20, newBudget(1), nil); err == nil {
				t.Fatalf("cut at %d of %d: no error", i, len(payload))
			}
		}
	}
}

func TestUnpackBomb(t *testing.T) {
	var p packer
	bomb := p.pack(make([]byte, 1<<22))
	if len(bomb) > 1<<16 {
		t.Fatalf("%d bytes", len(bomb))
	}
	if payload, err := unpack(bomb, newBudget(1)); err != nil || len(payload) != 1<<22 {
		t.Fatalf("%d bytes, %v", len(payload), err)
	}
	if _, err := unpack([]byte{9, 1}, newBudget(1)); err == nil || !strings.Contains(err.Error(), "packing 9 is unknown") {
		t.Error(err)
	}
	if _, err := unpack(bomb[:len(bomb)/2], newBudget(1)); err == nil {
		t.Error("no error for a cut blob")
	}
}

func FuzzMatrix(f *testing.F) {
	var p packer
	r := rand.New(rand.NewPCG(5, 6))
	for range 4 {
		m := randomMatrix(r, 9, 5)
		slices.SortFunc(m, compareCounts)
		f.Add(p.pack(appendMatrix(nil, m)), 9, 5)
	}
	f.Fuzz(func(t *testing.T, blob []byte, rows, parts int) {
		payload, err := unpack(blob, newBudget(1))
		if err != nil || rows < 0 || rows > 1000 || parts < 0 || parts > 1000 {
			return
		}
		m, err := parseMatrix(payload, rows, parts, newBudget(1))
		if err != nil {
			return
		}
		if err := checkMatrix(m, rows, parts); err != nil {
			t.Fatal(err)
		}
		again, err := parseMatrix(appendMatrix(nil, m), rows, parts, newBudget(1))
		if err != nil || !slices.Equal(again, m) {
			t.Fatal(err)
		}
	})
}

func FuzzParts(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		f.Add(appendParts(nil, randomInstance(r, 5, 9, 9, 9).Parts))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		ps, err := parseParts(payload, 1<<20, newBudget(1), nil)
		if err != nil {
			return
		}
		again, err := parseParts(appendParts(nil, ps), 1<<20, newBudget(1), nil)
		if err != nil || !reflect.DeepEqual(again, ps) {
			t.Fatal(err)
		}
	})
}
