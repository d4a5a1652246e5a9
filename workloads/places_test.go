package workloads

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// TestPlaces runs programs in which planted work sits behind frames of libraries and runtimes,
// templates and closures; alone before, between and behind the parallel sections; or in what one
// thread does for all. The report's first place must be a line of the program's own that is marked.
func TestPlaces(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin, long := lime(t), os.Getenv("LIME_LONG") != ""
	var n tally
	t.Run("programs", func(t *testing.T) {
		for _, p := range placedPrograms() {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				prog := p.compile(t)
				if p.rust > 0 && !testenv.RustSince(p.rust) {
					testenv.Skip(t, testenv.OldRust, "as built by 1.63 the row stays in the one function that does the work of all closures")
				}
				for shape := 1; shape <= p.shapes; shape++ {
					for place := 1; place <= 3; place++ {
						if long && p.alone || place == 1+shape%3 {
							n.place(t, p, bin, prog, place, shape)
						}
					}
				}
			})
		}
	})
	t.Logf("first place %d of %d", n.first, n.all)
}

// placed is a program with several shapes of work. alone says that one thread does it while there
// are no others: the program takes where in the run, too.
// known are the shapes that are missed.
type placed struct {
	name, source, build string
	shapes              int
	alone               bool
	known               []int
	rust                int // the minor version of rustc since which the marks hold, 0: any
}

func placedPrograms() []placed {
	const src, out = "SRC", "OUT"
	// One function does the work of all closures, for how long its callers say: the row stays in it.
	passed := []int{1, 2, 3}
	return []placed{
		{"alone_c", "alone.c", "gcc -O2 -g -pthread -o " + out + " " + src, 5, true, nil, 0},
		{"alone_clang", "alone.c", "clang -O1 -g -pthread -o " + out + " " + src, 5, true, nil, 0},
		{"alone_cpp", "alone.cpp", "g++ -O2 -g -std=c++17 -pthread -o " + out + " " + src, 4, true, nil, 0},
		{"alone_go", "alone.go", "go build -o " + out + " " + src, 4, true, nil, 0},
		{"alone_rust", "alone.rs", "rustc -O -g -o " + out + " " + src, 4, true, nil, 0},
		{"once_gcc", "once.c", "gcc -O2 -g -fopenmp -o " + out + " " + src, 4, false, nil, 0},
		{"once_clang", "once.c", "clang -O2 -g -fopenmp -o " + out + " " + src, 4, false, nil, 0},
		{"given_cpp", "given.cpp", "g++ -O2 -g -std=c++17 -pthread -o " + out + " " + src, 3, false, passed, 0},
		{"given_rust", "given.rs", "rustc -O -g -o " + out + " " + src, 3, false, nil, 80},
	}
}

func (p *placed) compile(t *testing.T) string {
	t.Helper()
	w := &workload{name: p.name, dir: "testdata/places"}
	w.Build = strings.Replace(p.build, "SRC", p.source, 1)
	return w.build(t, t.TempDir())
}

// place runs a program, and holds the first place that its report names to the marks.
func (n *tally) place(t *testing.T, p placed, bin, prog string, place, shape int) {
	t.Helper()
	data := fmt.Sprintf("%s-%d-%d.lime", prog, place, shape)
	cmd := exec.Command(bin, "simulate", "--cores", "8", "-o", data, "--", prog, fmt.Sprint(place), fmt.Sprint(shape))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cmd, err, out)
		return
	}
	out, err := exec.Command(bin, "report", "--json", data).Output()
	os.Remove(data)
	if err != nil {
		t.Errorf("report: %v", err)
		return
	}
	at, err := firstPlace(out, p.alone)
	if err != nil {
		t.Fatal(err)
	}
	n.Lock()
	defer n.Unlock()
	n.all++
	right, known := p.marked(t, at, shape), slices.Contains(p.known, shape)
	switch {
	case right && known:
		t.Errorf("%s %d %d is right: it is known as a miss no more", p.name, place, shape)
	case right:
		n.first++
	case !known:
		t.Errorf("%s %d %d: the first place is %s:%d", p.name, place, shape, at.File, at.Line)
	}
}

// marked reports whether a place has the mark of a shape.
func (p *placed) marked(t *testing.T, at apart, shape int) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/places", p.source))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return filepath.Base(at.File) == p.source && at.Line > 0 && at.Line <= len(lines) &&
		strings.HasSuffix(lines[at.Line-1], fmt.Sprintf("HERE%d", shape))
}

// apart is a place in a report, and where most of its time is spent, or why it has none.
type apart struct {
	place
	Spent *place
	Why   string
}

// firstPlace is the first place of the stretches of one thread alone that a line has, or that of
// the first cause.
func firstPlace(report []byte, alone bool) (apart, error) {
	var r struct {
		Sections []section
		Loss     struct {
			Terms []struct {
				Name   string
				Places []apart
			}
		} `json:"loss_account"`
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return apart{}, err
	}
	if !alone {
		if len(r.Sections) == 0 || len(r.Sections[0].Causes) == 0 {
			return apart{}, nil
		}
		return apart{place: r.Sections[0].Causes[0].place}, nil
	}
	for _, term := range r.Loss.Terms {
		for _, at := range term.Places {
			if term.Name != "serial" || at.Why != "" {
				continue
			}
			if at.Spent != nil {
				at.place = *at.Spent
			}
			return at, nil
		}
	}
	return apart{}, nil
}
