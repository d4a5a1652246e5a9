package scale

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// WriteJSON writes the scaling for programs.
func WriteJSON(w io.Writer, s *Scaling) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Schema string `json:"schema"`
		*Scaling
	}{"lime-scale-1", s})
}

// colours are the terms' in the chart.
func colours() map[string]string {
	return map[string]string{"": "#3b7d4f", analysis.TermUseful: "#8a8f98", analysis.TermImbalance: "#d1605e",
		analysis.TermSerial: "#e8a33d", analysis.TermLock: "#7b5ea7",
		analysis.TermWait: "#5b8fb0", analysis.TermOffCore: "#4d4d4d", analysis.TermOverhead: "#b279a2", analysis.TermMemory: "#9c755f",
		analysis.TermUnproved: "#c9c9c9"}
}

// The chart's size, in units of its view box.
const (
	chartHigh = 200
	barWide   = 46
	barStep   = 60
)

type page struct {
	*Scaling
	Bars   []htmlBar
	Legend []legend
	Wide   int
	Rows   []Loss
	Paths  []pathRow
	Lost   string
}

// pathRow is a level of the call paths, in a tree that opens.
type pathRow struct {
	PathLoss
	Opens  bool // levels inside of it follow
	Closes int  // how many levels end behind it
	Open   bool // is shown open
}

// openPaths is how far the tree of call paths stands open at first: main, what it calls, and what
// that calls; a reader opens what is of interest.
const openPaths = 3

// pathRows brings the levels into the form of a tree.
func pathRows(list []PathLoss) (out []pathRow) {
	for i, l := range list {
		next := 0
		if i+1 < len(list) {
			next = list[i+1].Depth
		}
		out = append(out, pathRow{PathLoss: l, Opens: next > l.Depth, Closes: max(0, l.Depth-next), Open: l.Depth < openPaths})
	}
	return out
}

type htmlBar struct {
	X, Middle int
	Cores     int
	Pieces    []piece
}

type piece struct {
	Y, H   float64
	Colour string
	Tip    string
}

type legend struct{ Colour, Title string }

// bars stacks the efficiency and what the rest was lost to.
func bars(s *Scaling) (out []htmlBar) {
	for i := range s.Points {
		p := &s.Points[i]
		b := htmlBar{X: i * barStep, Middle: i*barStep + barWide/2, Cores: p.Cores}
		top := 0.0
		add := func(share float64, colour, title string) {
			h := chartHigh * share
			top += h
			b.Pieces = append(b.Pieces, piece{Y: chartHigh - top, H: h, Colour: colour,
				Tip: fmt.Sprintf("%d cores: %s %s", p.Cores, unit.Percent(share), title)})
		}
		kept, lost := min(p.Efficiency, 1), 0.0
		add(kept, colours()[""], "as efficient as the first")
		for _, l := range p.Losses {
			lost += max(l.Share, 0)
		}
		for _, l := range p.Losses {
			if l.Share > 0 {
				add(l.Share/lost*(1-kept), colours()[l.Term], l.Title)
			}
		}
		out = append(out, b)
	}
	return out
}

// WriteHTML writes one page that needs nothing else.
func WriteHTML(w io.Writer, s *Scaling) error {
	last := &s.Points[len(s.Points)-1]
	p := page{Scaling: s, Bars: bars(s), Wide: len(s.Points) * barStep, Paths: pathRows(last.Paths), Lost: unit.Percent(1 - last.Efficiency),
		Legend: []legend{{colours()[""], "as efficient as the first"}}}
	for _, l := range last.Losses {
		p.Legend = append(p.Legend, legend{colours()[l.Term], l.Title})
		var shown []PlaceLoss
		for _, x := range l.Places {
			if x.Share >= leastShown || x.Share <= -leastShown {
				shown = append(shown, x)
			}
		}
		if l.Share >= leastShown || l.Share <= -leastShown {
			l.Places = shown
			p.Rows = append(p.Rows, l)
		}
	}
	t := &text{s: s}
	return template.Must(template.New("scale").Funcs(template.FuncMap{
		"percent": unit.Percent, "time": t.time, "worst": func(p Point) string { return p.worst() },
		"where":   func(p PlaceLoss) string { return p.where() },
		"closing": func(n int) template.HTML { return template.HTML(strings.Repeat("</details>\n", n)) },
		"two":     func(x float64) string { return fmt.Sprintf("%.2f", x) }, "last": func(b []htmlBar) int { return b[len(b)-1].Cores },
	}).Parse(scalePage)).Execute(w, p)
}

const scalePage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>lime: scaling</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}
td.w,th.w{text-align:left}
.key span{display:inline-block;margin-right:1.2em}
.key i{display:inline-block;width:.9em;height:.9em;margin-right:.3em;vertical-align:-.1em}
.place td{color:#555;border:0}
.paths details,.paths p{margin:0 0 0 1.4em}.paths summary,.paths p{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.paths p{padding-left:1.05em}
.paths summary{cursor:pointer}
.paths b{display:inline-block;width:5em;text-align:right;font-weight:normal;margin-right:.6em}.paths small{color:#777}
svg{max-width:100%;height:auto}
@media(prefers-color-scheme:dark){body{background:#181a1d;color:#ddd}td,th{border-color:#333}
.place td{color:#aaa}svg text{fill:#ddd}}
</style>
<h1>Efficiency over cores</h1>
<p>{{if eq .Mode "weak"}}Weak scaling: as much work for each core{{else}}Strong scaling: the same work on more cores{{end -}}
{{if .Recognised}} (recognised by the work done){{end}}.</p>
<svg viewBox="-4 -6 {{.Wide}} 232" width="{{.Wide}}" role="img" aria-label="Efficiency over cores, stacked by what it is lost to">
{{range .Bars}}{{$x := .X}}{{range .Pieces -}}
<rect x="{{$x}}" y="{{.Y}}" width="46" height="{{.H}}" fill="{{.Colour}}">
<title>{{.Tip}}</title></rect>{{end}}
<text x="{{.Middle}}" y="216" text-anchor="middle" font-size="12">{{.Cores}}</text>{{end}}
</svg>
<p class="key">{{range .Legend}}<span><i style="background:{{.Colour}}"></i>{{.Title}}</span>{{end}}</p>
<table><tr><th>cores<th>time<th>speed-up<th>efficiency<th class="w">lost most to</tr>
{{range .Points}}<tr><td>{{.Cores}}<td>{{time .Time}}<td>{{two .Speedup}}<td>{{percent .Efficiency -}}
<td class="w">{{worst .}}</tr>{{end}}</table>
<p>{{if .Knee}}The knee is at {{.Knee}} cores: beyond, more cores cost more efficiency than they bring speed.{{else -}}
There is no knee up to {{last .Bars}} cores.{{end}}</p>
<h2>What it went into, on {{last .Bars}} cores: {{.Lost}}</h2>
<table><tr><th>share<th>time<th>scaled<th class="w">cause</tr>
{{range .Rows}}<tr><td>{{percent .Share}}<td><td><td class="w">{{.Title}}</tr>{{range .Places -}}
<tr class="place"><td>{{percent .Share}}<td>{{time .Time}}<td>{{time .Before}}<td class="w">{{where .}}</tr>{{end}}{{end}}</table>
{{if .Paths}}<h2>The same by call paths</h2>
<p>By samples: what each function and loop takes more than scaled from the smallest run, with all that it calls.</p>
<div class="paths">{{range .Paths}}{{if .Opens -}}
<details{{if .Open}} open{{end}}><summary>
<b>{{percent .Share}}</b>{{.Name}} <small>{{time .Time}}, {{time .Before}} scaled</small></summary>
{{else}}<p><b>{{percent .Share}}</b>{{.Name}} <small>{{time .Time}}, {{time .Before}} scaled</small></p>
{{end}}{{closing .Closes}}{{end}}</div>{{end}}
{{if .Forecast}}<h2>Forecast (not run)</h2>
<table><tr><th>cores<th>time<th>speed-up<th>efficiency<th class="w">will cost most</tr>
{{range .Forecast}}<tr><td>{{.Cores}}<td>{{time .Time}}<td>{{two .Speedup}}<td>{{percent .Efficiency -}}
<td class="w">{{.Limit}}{{if not .Trusted}} (not to be trusted){{end}}</tr>{{end}}</table>
<p>{{.Outlook}}</p>{{end}}
{{range .Warnings}}<p>Note: {{.}}</p>{{end}}
</html>
`
