package report

import (
	"slices"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// Cost is what an event at a source line cost all threads together in parallel sections, evenly or
// not.
type Cost struct {
	Event string `json:"event"`
	Title string `json:"title"`
	Place
	Sharing string  `json:"sharing,omitempty"`
	Data    string  `json:"data,omitempty"`
	Against string  `json:"against,omitempty"`
	Time    float64 `json:"time"`  // of all threads, clock units
	Share   float64 `json:"share"` // of the threads' time in parallel sections
}

func cost(c *analysis.Cost) Cost {
	return Cost{Event: c.Event, Title: c.Title, Place: place(&c.Place), Sharing: c.Sharing, Data: c.Data,
		Against: c.Against, Time: c.Time, Share: c.Share}
}

const (
	costsTitle = "What all threads pay"
	costsIntro = "Of the threads' time in parallel sections, whether they pay alike or not:"
)

// costs prints them, if some of them are no causes of the sections that are explained in full.
func (p *printer) costs(r *Report, full []int) {
	if !slices.ContainsFunc(r.Costs, func(c Cost) bool { return !r.told(&c, full) }) {
		return
	}
	p.blank()
	p.rule(costsTitle)
	p.para(0, costsIntro)
	for i := range r.Costs {
		c := &r.Costs[i]
		p.line("  %s  %s %s", p.st.bold(right(unit.Percent(c.Share), 8)), fit(c.Event, 14),
			p.st.place(cutPlace(clean(c.Place.String()), p.wide()-28)))
		if about := c.About(); about != "" {
			p.para(12, about)
		}
	}
}

// told reports whether a cost is a cause of one of these sections.
func (r *Report) told(c *Cost, sections []int) bool {
	return slices.ContainsFunc(sections, func(i int) bool {
		return slices.ContainsFunc(r.Sections[i].Causes, func(x Cause) bool {
			return x.CostShare > 0 && x.Event == c.Event && x.Place.String() == c.Place.String()
		})
	})
}

// About says which data, and shared with whom.
func (c *Cost) About() string {
	out := c.Sharing
	for _, part := range []struct{ before, what string }{{"on ", c.Data}, {"against ", c.Against}} {
		if part.what == "" {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += part.before + part.what
	}
	return out
}
