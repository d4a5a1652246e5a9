// Command table2 simulates kernels whose threads differ in what the caches do for them, on the machine lime2011, and writes a table
// (imbalance, first cause) and a figure: what is left of the imbalance when the first cause's misses, the
// important ones', or all become hits.
//
//	go run ./bench/table2 [-lime bin/lime] [-cores 8,16,32,64] [-svg docs/machine-erase.svg]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type section struct {
	Imbalance float64
	After     float64 `json:"imbalance_after"`
	Gone      float64 `json:"accounted"`
	EndsAt    struct {
		Line int
	} `json:"ends_at"`
	Causes []struct {
		File, Event, Title string
		Line               int
	}
}

// row is one kernel on one number of cores: the imbalance as it is, and with the erasures.
type row struct {
	kernel, cores, cause string
	imbalance            [4]float64
	gone                 [4]float64 // of the time lost
}

func bars() []string { return []string{"as it is", "top", "important", "all"} }

func main() {
	log.SetFlags(0)
	lime := flag.String("lime", "bin/lime", "the `program`")
	cores := flag.String("cores", "8,16,32,64", "numbers of cores")
	svg := flag.String("svg", "docs/machine-erase.svg", "the figure's `file`")
	flag.Parse()
	dir, err := os.MkdirTemp("", "table2")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var rows []row
	fmt.Println("| kernel | cores | imbalance | first hardware cause | without the first | without the important | without all |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, kernel := range []string{"radix", "ocean", "options", "transpose"} {
		prog := filepath.Join(dir, kernel)
		run("gcc", "-O1", "-g", "-pthread", "-Wl,-z,now", "-o", prog, "bench/paper/"+kernel+".c")
		for _, n := range strings.Split(*cores, ",") {
			r := measure(*lime, prog, kernel, n)
			fmt.Printf("| %s | %s | %.1f %% | %s | %s | %s | %s |\n", r.kernel, r.cores, 100*r.imbalance[0], r.cause, r.left(1), r.left(2), r.left(3))
			rows = append(rows, r)
		}
	}
	if err := os.WriteFile(*svg, []byte(figure(rows)), 0o644); err != nil {
		log.Fatal(err)
	}
}

// left is the imbalance that an erasure leaves, and the part of the lost time that is gone.
func (r *row) left(i int) string {
	return fmt.Sprintf("%.1f %% (%.0f %%)", 100*r.imbalance[i], 100*r.gone[i])
}

func run(name string, args ...string) []byte {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		log.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

// measure looks at the section that ends on the line marked SECTION.
func measure(lime, prog, kernel, cores string) row {
	data := prog + "." + cores
	run(lime, "simulate", "--machine", "lime2011", "--cores", cores, "-o", data, "--", prog, cores)
	var rep struct{ Sections []section }
	if err := json.Unmarshal(run(lime, "report", "--json", data), &rep); err != nil || len(rep.Sections) == 0 {
		log.Fatalf("%s: no sections: %v", kernel, err)
	}
	end := marked(kernel)
	s := at(rep.Sections, end)
	r := row{kernel: kernel, cores: cores, cause: "none", imbalance: [4]float64{s.Imbalance, s.Imbalance, s.Imbalance, s.Imbalance}}
	top := "top"
	for _, c := range s.Causes {
		if strings.HasSuffix(c.Event, "-miss") || strings.HasSuffix(c.Event, "-wait") && c.Event != "lock-wait" {
			r.cause = fmt.Sprintf("%s, %s:%d", c.Title, filepath.Base(c.File), c.Line)
			top = fmt.Sprintf("%s@%s:%d", first(c.Event), filepath.Base(c.File), c.Line)
			break
		}
	}
	for i, what := range []string{top, "important", "all"} {
		out, err := exec.Command(lime, "whatif", "--yes", "--json", "--erase", what, data).Output()
		var after struct {
			Sections []section
		}
		if err == nil && json.Unmarshal(out, &after) == nil { // else there is no such cause
			s := at(after.Sections, end)
			r.imbalance[i+1], r.gone[i+1] = s.After, s.Gone
		}
	}
	return r
}

// first is the event that must happen before another can.
func first(event string) string {
	switch event {
	case "tlb-miss", "itlb-miss", "l1i-miss", "branch-miss":
		return event
	}
	return "l1d-miss"
}

// marked is the line of the kernel's source with the end of the section to look at.
func marked(kernel string) int {
	text, err := os.ReadFile("bench/paper/" + kernel + ".c")
	if err != nil {
		log.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "SECTION")
	return strings.Count(before, "\n") + 1
}

// at finds the section that ends on a line.
func at(all []section, line int) section {
	for _, s := range all {
		if s.EndsAt.Line == line {
			return s
		}
	}
	return section{}
}

// figure draws four bars for each row.
func figure(rows []row) string {
	const width, height, left, bottom = 40, 220, 50, 60
	var b strings.Builder
	total := left + width*len(rows) + 20
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="10">`+"\n", total, height+bottom+30)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for p := 0; p <= 100; p += 20 {
		y := 20 + height - height*p/100
		fmt.Fprintf(&b, `<path d="M%d %dH%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="end">%d %%</text>`+"\n", left, y, total-10, left-5, y+3, p)
	}
	colours := [4]string{"#444", "#c60", "#69c", "#9c6"}
	for i, r := range rows {
		x := left + width*i + 4
		for k, v := range r.imbalance {
			h := max(v, 0) * height
			fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="7" height="%.1f" fill="%s"/>`+"\n", x+8*k, 20+height-h, h, colours[k])
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", x+16, height+34, r.cores)
		if i == 0 || rows[i-1].kernel != r.kernel {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s, cores</text>`+"\n", x, height+50, r.kernel)
		}
	}
	for k, name := range bars() {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="9" height="9" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n",
			left+110*k, height+65, colours[k], left+110*k+13, height+73, map[bool]string{true: "imbalance", false: "without " + name}[k == 0])
	}
	return b.String() + "</svg>\n"
}
