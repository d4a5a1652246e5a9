package profile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
)

// bomb is a blob of many zero bytes behind a count.
func bomb(t *testing.T, count uint64, zeros int) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, 9)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(binary.AppendUvarint(nil, count))
	for zero := make([]byte, 1<<20); zeros > 0; zeros -= len(zero) {
		w.Write(zero[:min(zeros, len(zero))])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("x'%02x%x'", packZlib, b.Bytes())
}

// deepPlaces is SQL for chunks of places, each of a stack of so many frames.
func deepPlaces(chunks, depth int) string {
	one := append(binary.AppendUvarint(nil, uint64(depth)+1), make([]byte, depth)...)
	return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<%d) "+
		"INSERT OR REPLACE INTO place SELECT i, %d, x'%x' FROM n", chunks-1, chunkRows, bytes.Repeat(one, chunkRows))
}

// taken is what the process has from the system for its heap, at most so far: Go gives back late.
func taken() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestSmallFilesTakeLittle holds a file to what it may take: 20 times its size and 200 MB.
func TestSmallFilesTakeLittle(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"80 million zero parts", "UPDATE instance SET parts=" + bomb(t, 80_000_000, 800_000_000) + " WHERE id=0",
			"more than a file of this size is given"},
		{"few parts, many threads said", "UPDATE instance SET parts=" + bomb(t, 2_000_000, 20_000_000) + " WHERE id=0", "parts of"},
		{"zip bomb", "UPDATE instance SET times=" + bomb(t, 0, 900_000_000) + " WHERE id=0", "more than a file of this size is given"},
		{"deep places in many chunks", deepPlaces(17, 255), "more memory than a file of this size is given"},
		{"many rows", "UPDATE instance SET edges=" + bomb(t, 10_000_000, 20_000_000) + " WHERE id=0", "rows of"},
	} {
		path := change(t, c.sql)
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		before := taken()
		err = readAll(path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if got, may := taken()-before, uint64(20*st.Size()+200<<20); got > may {
			t.Errorf("%s: a file of %d bytes took %d MB, may take %d", c.name, st.Size(), got>>20, may>>20)
		}
	}
}
