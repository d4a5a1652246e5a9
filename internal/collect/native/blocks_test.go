package native

import (
	"testing"

	"lime/internal/binfile"
	"lime/internal/collect/image"
	"lime/internal/profile"
)

const threeFunctions = `
__attribute__((noinline)) int pthread_like(int n) { int s = 0; for (int i = 0; i < n; i++) if (i & n) s += i ^ n; return s; }
__attribute__((noinline)) int sort_like(int n) { int s = 0; for (int i = 0; i < n; i++) if (i & n) s += i * n; return s; }
int main(int n, char **v) { return pthread_like(n) + sort_like(n); }
`

// Of a thread library's own functions, and of places where an event happened in any library, the
// profile gets the blocks that are named; of all other functions it gets the whole.
func TestBlocksOfLibraries(t *testing.T) {
	bin, err := binfile.Open(build(t, threeFunctions))
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	for _, row := range []struct {
		function      string
		library, spot bool
		whole         bool
	}{
		{"pthread_like", true, false, false},
		{"pthread_like", false, false, true},
		{"sort_like", true, false, true},
		{"sort_like", true, true, false},
		{"sort_like", false, true, true},
	} {
		out := profile.New(profile.Meta{})
		m := newImages(0)
		im := image.New(bin.Path, bin)
		im.Library = row.library
		m.add(im, 0, 1<<40)
		c := newCode(m, out)
		s, ok := bin.Find(row.function)
		if !ok {
			t.Fatalf("no function %s", row.function)
		}
		look := c.at
		if row.spot {
			look = c.spot
		}
		p := look(s.Addr)
		n := len(out.Tables().Nodes)
		if whole := n == len(p.fn.blocks); n == 0 || whole != row.whole || len(p.fn.blocks) < 3 {
			t.Errorf("%+v: %d of %d blocks are in the profile", row, n, len(p.fn.blocks))
		}
		if c.at(s.Addr); row.spot && len(out.Tables().Nodes) != len(p.fn.blocks) {
			t.Errorf("%+v: the rest does not follow", row)
		}
	}
}
