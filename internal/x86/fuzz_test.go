package x86

import "testing"

// FuzzDecode holds what every caller relies on: no panic, a length of 1 to 15
// inside of the code, parts inside of the instruction, and bytes beyond it
// without influence.
func FuzzDecode(f *testing.F) {
	n := 0
	forms(func(code []byte, _ *Inst, _ *row, _ *decoder) {
		if n++; n%9973 == 0 {
			f.Add(append([]byte(nil), code...))
		}
	})
	f.Fuzz(func(t *testing.T, code []byte) {
		var in, again Inst
		if err := Decode(code, &in); err != nil {
			return
		}
		checkShape(t, code, &in)
		if err := Decode(code[:in.Len], &again); err != nil || again != in {
			t.Fatalf("% x: differs without the bytes behind it: %v", code[:in.Len], err)
		}
		if err := Decode(code[:in.Len-1], &again); err == nil {
			t.Fatalf("% x: decodes without its last byte", code[:in.Len])
		}
	})
}

func checkShape(t *testing.T, code []byte, in *Inst) {
	t.Helper()
	n := int(in.Len)
	if n < 1 || n > MaxLen || n > len(code) {
		t.Fatalf("% x: length %d", code, n)
	}
	for _, p := range []struct {
		name     string
		off, len uint8
	}{
		{"opcode", in.OpcodeOff, 1}, {"ModRM", in.ModRMOff, 1}, {"displacement", in.DispOff, in.DispLen}, {"immediate", in.ImmOff, in.ImmLen},
	} {
		if int(p.off)+int(p.len) > n {
			t.Fatalf("% x: %s at %d+%d of %d", code[:n], p.name, p.off, p.len, n)
		}
	}
	if in.Name == "" || in.HasMem && !in.HasModRM {
		t.Fatalf("% x: incomplete: %+v", code[:n], in)
	}
	if in.CondWrite && in.Writes&^in.Reads != 0 {
		t.Fatalf("% x: conditional writes are not reads", code[:n])
	}
}

// stream is a mix as compilers make it.
var stream = []string{
	"48 89 e5", "8b 45 fc", "48 83 ec 20", "e8 00 00 00 00", "0f 84 10 00 00 00", "f2 0f 58 04 c8",
	"c5 fd 58 44 88 20", "62 f1 fd 48 58 43 02", "48 8d 05 10 20 30 00", "c3", "0f b6 c0", "48 8b 44 24 08",
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	var in Inst
	for _, s := range stream {
		code := unhex(s)
		if n := testing.AllocsPerRun(10, func() { _ = Decode(code, &in) }); n != 0 {
			t.Errorf("%s: %v allocations", s, n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	var codes [][]byte
	for _, s := range stream {
		codes = append(codes, unhex(s))
	}
	var in Inst
	b.ReportAllocs()
	for i := range b.N {
		if err := Decode(codes[i%len(codes)], &in); err != nil {
			b.Fatal(err)
		}
	}
}
