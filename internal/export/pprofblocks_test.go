package export

import (
	"bytes"
	"os"
	"testing"

	pprof "github.com/google/pprof/profile"

	"lime/internal/profile"
)

func TestPprofHoldsAllTime(t *testing.T) {
	f, err := os.Open("../cli/testdata/uneven8.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := profile.ReadText(f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Pprof(&b, src); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	var want, got int64
	for in := range src.Instances(0) {
		for i := range in.Parts {
			want += int64(in.Parts[i].Time())
		}
	}
	lines := map[int64]bool{}
	for _, s := range p.Sample {
		got += s.Value[1]
		lines[s.Location[0].Line[0].Line] = true
	}
	if got != want || !lines[21] || !lines[22] {
		t.Errorf("the samples hold %d of %d instructions, on lines %v", got, want, lines)
	}
}
