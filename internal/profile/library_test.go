package profile

import "testing"

func TestSameFile(t *testing.T) {
	for _, c := range []struct {
		path, want string
		same       bool
	}{
		{"/src/fft/fft.c", "fft.c", true}, {"/src/fft/fft.c", "fft/fft.c", true}, {"/src/fft/fft.c", "/src/fft/fft.c", true},
		{"/src/fft/fft.c", "t.c", false}, {"fft.c", "./fft.c", true}, {"/x/fft.c", "./fft.c", true}, {"", "fft.c", false},
	} {
		if SameFile(c.path, c.want) != c.same {
			t.Errorf("%q %q", c.path, c.want)
		}
	}
}
