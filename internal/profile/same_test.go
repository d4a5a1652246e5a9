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

func TestSameFunction(t *testing.T) {
	for _, c := range []struct {
		name, want string
		same       bool
	}{
		{"scale", "scale", true},
		{"scale(float)", "scale", true},
		{"ns::Grid::scale(float, int (*)(int)) const", "scale", true},
		{"ns::Grid::scale(float)", "Grid::scale", true},
		{"void scale<float>(float*)", "scale", true},
		{"void scale<std::pair<int, int> >(float*)", "scale<std::pair<int, int> >", true},
		{"main.(*T).scale", "scale", true},
		{"scale(float)", "scale(float)", true},
		{"upscale(float)", "scale", false},
		{"scale(float)", "float", false},
		{"scale::run(int)", "scale", false},
		{"", "", true},
		{"f", "", false},
	} {
		if got := SameFunction(c.name, c.want); got != c.same {
			t.Errorf("%q, %q: %v", c.name, c.want, got)
		}
	}
}
