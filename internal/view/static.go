package view

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mostStatic is how large the data of a static copy may be: a browser reads them whole before it
// shows anything.
const mostStatic = 48 << 20

// Export writes a static copy of the page to a directory: index.html and what it loads, with all
// answers in data.js.
func Export(dir string, runs []*Run) error {
	c := &copier{api: NewAPI(runs), answers: map[string]any{}}
	if err := c.collect(); err != nil {
		return err
	}
	data, err := json.Marshal(c.answers) // escapes what has a meaning in HTML
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files := map[string][]byte{"data.js": append(append([]byte("window.limeData="), data...), ';', '\n')}
	for name, a := range assets() {
		body, err := a.body()
		if err != nil {
			return err
		}
		if name == "/" {
			name, body = "/index.html", []byte(strings.Replace(string(body), `<script src="app.js">`,
				`<script src="data.js"></script>`+"\n"+`<script src="app.js">`, 1))
		}
		files[strings.TrimPrefix(name, "/")] = body
	}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o666); err != nil {
			return fmt.Errorf("the static copy: %w", err)
		}
	}
	return nil
}

// copier collects answers for a static copy.
type copier struct {
	api     *API
	answers map[string]any
	size    int
}

// take asks the API and keeps the answer under the name by which the page asks.
func (c *copier) take(name string, pairs ...any) error {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i].(string), fmt.Sprint(pairs[i+1]))
	}
	a, err := c.api.Answer(name, values)
	if err != nil {
		if Status(err) < 500 {
			return nil // there is no such thing in this profile
		}
		return err
	}
	key := name + "?" + values.Encode()
	if a.Type == typeJSON {
		c.answers[key] = json.RawMessage(a.Body)
		c.size += len(a.Body)
	} else {
		text := base64.StdEncoding.EncodeToString(a.Body)
		c.answers[key] = text
		c.size += len(text)
	}
	if c.size > mostStatic {
		return fmt.Errorf("the static copy would be larger than %d MB; it is meant for small profiles: serve this one "+
			"with lime view", mostStatic>>20)
	}
	return nil
}

// collect takes all that the page may ask for.
func (c *copier) collect() error {
	for _, name := range []string{"runs", "scaling"} {
		if err := c.take(name); err != nil {
			return err
		}
	}
	for p, r := range c.api.runs {
		if err := c.run(p, r); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) run(p int, r *Run) error {
	if err := c.take("head", "p", p); err != nil {
		return err
	}
	for q := range c.api.runs {
		if err := c.take("compare", "p", p, "q", q); err != nil {
			return err
		}
	}
	rep, err := r.report()
	if err != nil {
		return err
	}
	steps := []func(p, s int, r *Run) error{c.lines, c.sums}
	sections := []int{-1}
	for i := range rep.Sections {
		sections = append(sections, rep.Sections[i].ID)
	}
	for _, s := range sections {
		for _, step := range steps {
			if err := step(p, s, r); err != nil {
				return err
			}
		}
		if s >= 0 {
			if err := c.section(p, s, r); err != nil {
				return err
			}
		}
	}
	return c.timeline(p, r)
}

// metricNames lists the metrics that the page offers.
func metricNames(r *Run) []string {
	out := []string{"time", "wait", "lock", "off"}
	for _, k := range r.info().Kinds {
		out = append(out, "kind:"+k.Name)
		if len(r.tables().Edges) > 0 && k.Unit != r.src.Meta().ClockUnit {
			out = append(out, "cost:"+k.Name)
		}
	}
	return out
}

// section takes a section's page, its instances and its heat maps.
func (c *copier) section(p, s int, r *Run) error {
	if err := c.take("section", "p", p, "s", s); err != nil {
		return err
	}
	n := r.src.InstanceCount(sectionID(s))
	for i := range n {
		if err := c.take("instance", "p", p, "s", s, "i", i); err != nil {
			return err
		}
	}
	x, err := r.index()
	if err != nil {
		return err
	}
	bands := (len(x.sections[s].threads) + bandRows - 1) / bandRows
	for _, m := range metricNames(r) {
		for z := 0; z == 0 || n>>(z-1) > 256; z++ { // down to a screen of 256 columns
			for at := 0; at*cellColumns<<z < n; at++ {
				for b := range bands {
					if err := c.take("cells", "p", p, "s", s, "m", m, "z", z, "x", at, "b", b); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// lines takes the source view of a section, or of all.
func (c *copier) lines(p, s int, r *Run) error {
	if err := c.take("files", "p", p, "s", s); err != nil {
		return err
	}
	list, err := r.files(s)
	if err != nil {
		return err
	}
	for _, f := range list.Files {
		if err := c.take("source", "p", p, "s", s, "f", f.File); err != nil {
			return err
		}
	}
	return nil
}

// sums takes the threads and call paths of a section, or of all.
func (c *copier) sums(p, s int, r *Run) error {
	for _, m := range metricNames(r) {
		if err := c.take("threads", "p", p, "s", s, "m", m); err != nil {
			return err
		}
	}
	if err := c.take("calls", "p", p, "s", s); err != nil {
		return err
	}
	for _, v := range []string{"tree", "bottom-up", "flat"} {
		for t := -1; t < len(r.tables().Threads); t++ {
			if len(r.paths.metrics()) == 0 {
				break
			}
			if err := c.take("paths", "p", p, "v", v, "s", s, "t", t); err != nil {
				return err
			}
		}
		for q := range c.api.runs {
			if q == p || len(r.paths.metrics()) == 0 {
				continue
			}
			if err := c.take("paths", "p", p, "v", v, "s", s, "t", -1, "q", q); err != nil {
				return err
			}
		}
	}
	return nil
}

// staticLevels is how far into the time line a static copy goes.
const staticLevels = 6

func (c *copier) timeline(p int, r *Run) error {
	x, err := r.index()
	if err != nil {
		return err
	}
	whole := []any{"p", p, "from", strconv.FormatUint(x.from, 10), "to", strconv.FormatUint(x.to, 10)}
	if err := c.take("window", "p", p); err != nil {
		return err
	}
	for _, name := range []string{"window", "critical"} {
		if err := c.take(name, whole...); err != nil {
			return err
		}
	}
	for b := range (len(x.lanes) + bandRows - 1) / bandRows {
		for z := range staticLevels {
			for at := range 1 << z {
				if err := c.take("span", "p", p, "z", z, "x", at, "b", b); err != nil {
					return err
				}
			}
		}
		if err := c.take("parts", append(whole, "b", b)...); err != nil {
			return err
		}
	}
	return nil
}
