// What a report finds at lines of the source, for tools that show it there: SARIF 2.1.0, GitHub's
// annotations, Markdown.

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/unit"
)

// finding is a loss, or the cause of one, at a line.
type finding struct {
	rule, title string
	file        string // relative to the root of the sources, with slashes
	line        int
	share       float64 // of the core time, or of the imbalance
	text        string
}

// findings are the places that lose as much as is worth a word, the largest first, and the causes
// that matter. Of files outside of root nothing is said: nobody can be shown a line of theirs.
func findings(r *Report, root string) []finding {
	var out []finding
	add := func(p *Place, f finding) {
		var ok bool
		if f.file, ok = within(p.File, root); ok && p.Line > 0 {
			f.line = p.Line
			out = append(out, f)
		}
	}
	if r.Loss != nil {
		for _, t := range r.Loss.claimed() {
			for i := range t.Places {
				p := &t.Places[i]
				at := &p.Place
				if p.Spent != nil {
					at = &p.Spent.Place
				}
				if p.Share < littleLost {
					continue
				}
				add(at, finding{rule: "loss/" + t.Name, title: t.Title, share: p.Share,
					text: fmt.Sprintf("%s of the time of %s %s%s.", unit.Percent(p.Share),
						countOf(r.Loss.Cores, "core"), lostWords[t.Name], p.about(t.Name))})
			}
		}
	}
	for i := range r.Sections {
		s := &r.Sections[i]
		for k := range s.Causes {
			if c := &s.Causes[k]; s.Matters {
				add(&c.Place, finding{rule: "cause/" + c.Event, title: profile.KindTitle(c.Event), share: c.Share, text: c.Sentence})
			}
		}
	}
	return out
}

// within makes a path relative to the root of the sources. A relative path is taken as it stands.
func within(file, root string) (string, bool) {
	if file == "" {
		return "", false
	}
	if root != "" && filepath.IsAbs(file) {
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return "", false
		}
		file = rel
	}
	file = path.Clean(filepath.ToSlash(file))
	return file, !path.IsAbs(file) && file != ".." && !strings.HasPrefix(file, "../")
}

// The parts of SARIF 2.1.0 (OASIS standard, sections 3.13 to 3.30) that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool            `json:"tool"`
		Bases      map[string]sarifBase `json:"originalUriBaseIds,omitempty"`
		ColumnKind string               `json:"columnKind"`
		Results    []sarifResult        `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Rank      float64         `json:"rank"` // 0 to 100
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI    string `json:"uri"`
		BaseID string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// sourceRoot is the name under which SARIF's readers know the root of the sources.
const sourceRoot = "SRCROOT"

// WriteSARIF writes the findings as SARIF 2.1.0, by paths relative to the root of the sources.
func WriteSARIF(w io.Writer, r *Report, root string) error {
	finite(reflect.ValueOf(r))
	name, version, _ := strings.Cut(r.Tool, " ")
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Bases: map[string]sarifBase{sourceRoot: {sarifText{"The root of the sources."}}},
		Tool:  sarifTool{sarifDriver{Name: cmp.Or(name, "lime"), Version: version, Rules: []sarifRule{}}}}
	for _, f := range findings(r, root) {
		k := slices.IndexFunc(run.Tool.Driver.Rules, func(x sarifRule) bool { return x.ID == f.rule })
		if k < 0 {
			k = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{f.rule, sarifText{f.title}})
		}
		run.Results = append(run.Results,
			sarifResult{RuleID: f.rule, RuleIndex: k, Level: "warning", Message: sarifText{clean(f.text)}, Rank: 100 * clamp(f.share),
				Locations: []sarifLocation{{sarifPhysical{sarifArtifact{(&url.URL{Path: f.file}).String(), sourceRoot}, sarifRegion{f.line}}}}})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// WriteGitHub writes the findings as workflow commands, which GitHub shows beside the lines of a
// change.
func WriteGitHub(w io.Writer, r *Report, root string) error {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for _, f := range findings(r, root) {
		_, err := fmt.Fprintf(w, "::warning file=%s,line=%d,title=%s::%s\n", property.Replace(clean(f.file)), f.line,
			property.Replace(clean("lime: "+f.title)), data.Replace(clean(f.text)))
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown writes the account and the findings, for a comment on a change.
func WriteMarkdown(w io.Writer, r *Report, root string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### lime: `%s`\n\n", strings.ReplaceAll(clean(r.Program.CommandLine()), "`", "'"))
	if l := r.Loss; l != nil && l.CoreTime > 0 {
		fmt.Fprintf(&b, "**%s**\n\n| %s | | most of it at |\n|---|---:|---|\n", markdown(l.Headline), markdown(lossTitle(r)))
		for _, t := range l.shownTerms() {
			at := ""
			if len(t.Places) > 0 && t.Name != analysis.TermUseful {
				at = t.Places[0].at()
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", markdown(t.Title), unit.Percent(t.Share), markdown(at))
		}
	}
	list := findings(r, root)
	if len(list) > 0 {
		b.WriteString("\n| where | what | |\n|---|---|---|\n")
	}
	for _, f := range list {
		fmt.Fprintf(&b, "| %s:%d | %s | %s |\n", markdown(f.file), f.line, markdown(f.title), markdown(f.text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown keeps text from being read as Markdown or HTML.
func markdown(text string) string {
	var b strings.Builder
	for _, r := range clean(text) {
		switch {
		case strings.ContainsRune("\\`*_{}[]#|~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
