package unit

import "testing"

func TestSI(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{0, "0"}, {7, "7"}, {999, "999"}, {0.5, "0.50"}, {1000, "1 k"}, {1234, "1.23 k"}, {12345, "12.3 k"}, {123456, "123 k"},
		{1e6, "1 M"}, {2.5e9, "2.50 G"}, {3e12, "3 T"}, {-1500, "-1.50 k"}} {
		if got := SI(c.x); got != c.want {
			t.Errorf("SI(%v) = %q, want %q", c.x, got, c.want)
		}
	}
}

func TestFormatting(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Addr(0x401000).String(), "0x401000"},
		{Cycles(5_800_000).String(), "5.80 M"},
		{Nanos(999).String(), "999 ns"},
		{Nanos(1500).String(), "1.50 us"},
		{Nanos(2_000_000).String(), "2 ms"},
		{Nanos(1_234_000_000).String(), "1.23 s"},
		{Nanos(0).String(), "0 ns"},
		{Percent(0.3512), "35.1 %"},
		{Percent(-0.01), "-1.0 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
