// Command scaling measures the analysis against the number of events, and draws the figure of
// docs/analysis.md:
//
//	go run ./scripts/scaling -svg docs/analysis-scale.svg
//
// With -vectors DIR it only clusters one set of events, and leaves the vectors and the clusters for
// another program to do the same (scripts/compare-clustering).
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"lime/internal/analysis"
	"lime/internal/analysis/synth"
	"lime/internal/profile"
	"lime/internal/stat"
)

func main() {
	log.SetFlags(0)
	svg := flag.String("svg", "", "draw the figure to this `file`")
	least := flag.Int("min", 100, "smallest number of events")
	most := flag.Int("max", 1_000_000, "largest number of events")
	only := flag.String("only", "", "measure only counts of this `kind`: flow or noise")
	cpu := flag.String("cpuprofile", "", "write a profile of the analyses to this `file`")
	heap := flag.String("memprofile", "", "write a profile of all that was allocated to this `file`")
	dir := flag.String("vectors", "", "write vectors and clusters to this `directory`")
	events := flag.Int("events", 10_000, "events of -vectors")
	flag.Parse()
	if *dir != "" {
		check(vectors(*dir, *events))
		return
	}
	stop := profiled(*cpu, *heap)
	var flow, noise []point
	if *only != "noise" {
		flow = measure("counts that are a flow", synth.Flow, *least, *most)
	}
	if *only != "flow" {
		noise = measure("counts that are none", synth.Profile, *least, *most)
	}
	stop()
	if *svg != "" {
		check(os.WriteFile(*svg, []byte(draw(flow, noise)), 0o644))
	}
}

// profiled starts a profile of the program itself, if files for it are named, and returns what ends
// it.
func profiled(cpu, heap string) (stop func()) {
	if cpu != "" {
		f, err := os.Create(cpu)
		check(err)
		check(pprof.StartCPUProfile(f))
	}
	return func() {
		pprof.StopCPUProfile()
		if heap != "" {
			f, err := os.Create(heap)
			check(err)
			check(pprof.Lookup("allocs").WriteTo(f, 0))
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// point is one measurement.
type point struct {
	events    int
	wall, cpu float64 // seconds
	memory    float64 // GB, most held by the process, the profile included
}

// measure analyses one instance of 64 threads at growing numbers of events.
func measure(title string, made func(synth.Spec) *profile.Profile, least, most int) []point {
	var points []point
	fmt.Printf("%s\n events  wall s  processor s  memory GB\n", title)
	for n := least; n <= most; n = next(n) {
		p := made(synth.Default(n, 64))
		percent := 100
		if lean, is := analysis.LeanGC(p.Tables()); is { // as the command has it
			percent = lean
		}
		debug.SetGCPercent(percent)
		debug.FreeOSMemory()
		check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // forget the largest size so far
		best := point{events: n, wall: math.Inf(1), cpu: math.Inf(1)}
		for range max(1, min(5, 100_000/n)) {
			w, c := time.Now(), processor()
			_, err := analysis.Run(p, analysis.Options{})
			check(err)
			best.wall = math.Min(best.wall, time.Since(w).Seconds())
			best.cpu = math.Min(best.cpu, processor()-c)
		}
		best.memory = memory()
		fmt.Printf("%7d %7.3f %7.3f %6.2f\n", n, best.wall, best.cpu, best.memory)
		points = append(points, best)
	}
	return points
}

// next is the next number of the series 1, 3, 10, 30.
func next(n int) int {
	if fmt.Sprint(n)[0] == '1' {
		return 3 * n
	}
	return n / 3 * 10
}

// processor is the time that the process has used, on all processors.
func processor() float64 {
	u := usage()
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// memory is the largest size since it was last forgotten.
func memory() float64 {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kb float64
	_, err = fmt.Sscan(rest, &kb)
	check(err)
	return kb / 1e6
}

func usage() syscall.Rusage {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u
}

// vectors clusters the events of a synthetic profile, and writes their vectors (64 little-endian
// doubles each) and their clusters (32-bit numbers).
func vectors(dir string, events int) error {
	p := synth.Profile(synth.Default(events, 64))
	rows := counts(p, events)
	start, cpu := time.Now(), processor()
	label, k := cluster(rows)
	fmt.Printf("lime: %d events, %d clusters, %.3f s, %.3f s of processor time\n", events, k, time.Since(start).Seconds(), processor()-cpu)
	flat := make([]float64, 0, 64*len(rows))
	for _, r := range rows {
		for _, n := range r {
			flat = append(flat, float64(n))
		}
	}
	if err := writeAll(filepath.Join(dir, "vectors"), flat); err != nil {
		return err
	}
	return writeAll(filepath.Join(dir, "clusters"), label)
}

func writeAll(path string, data any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return binary.Write(f, binary.LittleEndian, data)
}

func counts(p *profile.Profile, events int) [][]uint64 {
	rows := make([][]uint64, events)
	for i := range rows {
		rows[i] = make([]uint64, 64)
	}
	for in, err := range p.Instances(0) {
		check(err)
		for _, c := range in.Edges {
			rows[c.Row][c.Part] = c.N
		}
	}
	return rows
}

// cluster does what the analysis does: fold equal vectors, then cluster.
func cluster(rows [][]uint64) ([]int32, int) {
	f := stat.NewFolder(64)
	group := make([]int32, len(rows))
	for i, r := range rows {
		group[i] = f.AddCounts(r)
	}
	label, k := stat.Cluster(f.Matrix(runtime.GOMAXPROCS(0)), f.Weights(),
		stat.ClusterOptions{Threshold: 0.9, Bulk: 0.99, Workers: runtime.GOMAXPROCS(0)})
	for i, g := range group {
		if g >= 0 {
			group[i] = label[g]
		}
	}
	return group, k
}

// draw makes the figure: time against events, both logarithmic.
func draw(flow, noise []point) string {
	const left, top, wide, high = 60, 20, 400, 240
	x := func(n float64) float64 { return left + wide*(math.Log10(n)-2)/4 }
	y := func(s float64) float64 { return top + high*(1-(math.Log10(s)+4)/6) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n"+
		`<rect width="100%%" height="100%%" fill="white"/>`+"\n", left+wide+30, top+high+50)
	for k := -4; k <= 2; k++ {
		v := y(math.Pow(10, float64(k)))
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g s</text>`+"\n",
			left, left+wide, v, v, left-6, v+4, math.Pow(10, float64(k)))
	}
	for k := 2; k <= 6; k++ {
		v := x(math.Pow(10, float64(k)))
		fmt.Fprintf(&b, `<line y1="%d" y2="%d" x1="%.1f" x2="%.1f" stroke="#ddd"/><text y="%d" x="%.1f" text-anchor="middle">%.0f</text>`+"\n",
			top, top+high, v, v, top+high+16, v, math.Pow(10, float64(k)))
	}
	line := func(colour string, points []point, f func(point) float64) {
		var at []string
		for _, p := range points {
			at = append(at, fmt.Sprintf("%.1f,%.1f", x(float64(p.events)), y(math.Max(1e-4, f(p)))))
		}
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", colour, strings.Join(at, " "))
	}
	cpu := func(p point) float64 { return p.cpu }
	line("#1f77b4", flow, cpu)
	line("#bbb", noise, cpu)
	fmt.Fprintf(&b, `<text x="%d" y="%d">events of one instance, 64 threads; processor time of the whole analysis, ledger included; grey: counts that are no flow</text>`+"\n</svg>\n", left, top+high+38)
	return b.String()
}
