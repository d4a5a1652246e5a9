package safe

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, dot, escape string }{
		{"plain\tä漢\n", "plain\tä漢\n", "plain\tä漢\n"},
		{"a\x1b[31mb", "a·[31mb", `a\u001b[31mb`},
		{"a\u009b2Jb\x7f", "a·2Jb·", `a\u009b2Jb\u007f`},
		{"a\u202eb\u2066c\u200fd\u2028", "a·b·c·d·", `a\u202eb\u2066c\u200fd\u2028`},
		{"a\x9bb\xff", "a·b·", `a\ufffdb\ufffd`},
		{"a\rb\x00", "a·b·", `a\u000db\u0000`},
	} {
		if got := Visible(c.in, Dot); got != c.dot {
			t.Errorf("%q: %q, want %q", c.in, got, c.dot)
		}
		if got := Visible(c.in, Escape); got != c.escape {
			t.Errorf("%q: %q, want %q", c.in, got, c.escape)
		}
	}
}

// TestWriterInPieces demands the same bytes however the text is cut into writes.
func TestWriterInPieces(t *testing.T) {
	in := "\x1b[1mbold\x1b[0m\x1b[2Jä\x1b[1\u202e漢\x9b\xe6"
	want := "\x1b[1mbold\x1b[0m·[2Jä·[1·漢··"
	for size := 1; size <= len(in); size++ {
		var out bytes.Buffer
		g := NewWriter(&out, Dot)
		g.Pass([]string{"\x1b[1m", "\x1b[0m"})
		for b := []byte(in); len(b) > 0; {
			n := min(size, len(b))
			if m, err := g.Write(b[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			b = b[n:]
		}
		if err := g.Flush(); err != nil || out.String() != want {
			t.Errorf("pieces of %d: %q, %v, want %q", size, out.String(), err, want)
		}
	}
}

func TestOpenOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo, file, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, link, dir, "/dev/null", "/dev/zero", "/proc/self/status"} {
		if f, err := Open(path); !errors.Is(err, errNotRegular) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	f, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
