package ledger

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lime/internal/testenv"
)

var figure = flag.String("figure", "", "draw the figure of time against edges, threads and instances into this SVG file")

// panel is one of the figure's three: the time for growing values of one size.
type panel struct {
	title string
	sizes [][3]int // edges, threads, instances
	axis  int
	x, y  []float64
}

// TestFigure measures the account of made profiles and draws the times; it runs only when asked
// for.
func TestFigure(t *testing.T) {
	if *figure == "" {
		testenv.Skip(t, testenv.OnRequest, "no -figure FILE given")
	}
	panels := []*panel{
		{title: "edges (64 threads, 10 instances)", axis: 0,
			sizes: [][3]int{{1000, 64, 10}, {4000, 64, 10}, {16000, 64, 10}, {50000, 64, 10}, {100000, 64, 10}}},
		{title: "threads (32,000 edges, 10 instances)", axis: 1,
			sizes: [][3]int{{32000, 2, 10}, {32000, 8, 10}, {32000, 32, 10}, {32000, 64, 10}, {32000, 256, 10}}},
		{title: "instances (32,000 edges, 64 threads)", axis: 2,
			sizes: [][3]int{{32000, 64, 1}, {32000, 64, 4}, {32000, 64, 16}, {32000, 64, 40}}},
	}
	for _, p := range panels {
		for _, s := range p.sizes {
			p.measure(t, s)
		}
	}
	if err := os.WriteFile(*figure, []byte(draw(panels)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *panel) measure(t *testing.T, s [3]int) {
	prof, inst := grow(s[0], s[1], 1)
	s[0] = len(prof.Edges)
	start := coreTime(t)
	if _, err := Section(repeated{prof, inst, s[2]}, 0, Options{}); err != nil {
		t.Fatal(err)
	}
	best := coreTime(t) - start
	t.Logf("%d edges, %d threads, %d instances: %d counts, %.3f core seconds", s[0], s[1], s[2], len(inst.Edges)*s[2], best)
	p.x, p.y = append(p.x, float64(s[p.axis])), append(p.y, best)
}

// coreTime is the time that all threads of the process have computed: it does not depend on what
// else the machine does.
func coreTime(t testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// draw makes an SVG of log-log panels.
func draw(panels []*panel) string {
	const w, h, m = 300.0, 240.0, 44.0
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="11">`+"\n", w*float64(len(panels)), h)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, p := range panels {
		x0, y0 := float64(i)*w+m, h-m
		x := func(v float64) float64 { return x0 + (w-m-16)*math.Log(v/p.x[0])/math.Log(p.x[len(p.x)-1]/p.x[0]) }
		y := func(v float64) float64 { return y0 - (h-2*m)*(math.Log10(v)+2)/4 }
		for e := -2; e <= 2; e++ {
			v := math.Pow(10, float64(e))
			fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%g</text>`+"\n",
				x0, x0+w-m-16, y(v), y(v), x0-4, y(v)+4, v)
		}
		var line strings.Builder
		for k, v := range p.x {
			fmt.Fprintf(&line, "%.1f,%.1f ", x(v), y(p.y[k]))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="#069"/><text x="%.1f" y="%.1f" text-anchor="middle">%g</text>`+"\n", x(v), y(p.y[k]), x(v), y0+15, v)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="#069" stroke-width="1.5"/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			strings.TrimSpace(line.String()), x0+(w-m)/2, y0+34, p.title)
	}
	fmt.Fprintf(&b, `<text x="8" y="20">core seconds of one section's account</text>`+"\n")
	b.WriteString("</svg>\n")
	return b.String()
}
