package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"lime/internal/testenv"
)

func htmlReport(t *testing.T, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHTMLGolden(t *testing.T) {
	page := htmlReport(t, Build(sample(8)))
	page = bytes.Replace(page, []byte(pageCSS), nil, 1)
	golden(t, "lu8.html", bytes.Replace(page, []byte(pageJS), nil, 1))
}

func TestHTMLLoadsNothing(t *testing.T) {
	page := string(htmlReport(t, Build(sample(64))))
	for _, never := range []string{"http:", "https:", "//cdn", "@import", "url(", "<link", "<img", " src="} {
		if strings.Contains(page, never) {
			t.Errorf("the page contains %q", never)
		}
	}
	if !strings.Contains(page, "default-src 'none'") {
		t.Error("the page may load things")
	}
}

// Every link leads to an id of the page, and every id is there once.
func TestHTMLLinks(t *testing.T) {
	page := string(htmlReport(t, Build(sample(32))))
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		ids[m[1]]++
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("id %s stands %d times", id, n)
		}
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby="|data-for=")([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("nothing has the id %q", m[1])
		}
	}
}

// Tags are balanced: the body reads as XML once void elements are closed.
func TestHTMLIsWellFormed(t *testing.T) {
	page := string(htmlReport(t, Build(sample(8))))
	page = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`<(meta[^>]*)>`).ReplaceAllString(page, "<$1/>")
	page = regexp.MustCompile(`(?i)<!doctype html>`).ReplaceAllString(page, "")
	page = strings.ReplaceAll(page, " hidden>", ` hidden="">`)
	page = strings.ReplaceAll(page, "<details open>", "<details>")
	dec := xml.NewDecoder(strings.NewReader(page))
	dec.Entity = xml.HTMLEntity
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestHTMLEscapesWhatTheProfileSays(t *testing.T) {
	r := Build(sample(8))
	evil := `"><script>alert(1)</script>'`
	r.Program.Command = []string{evil}
	c := &r.Sections[0].Causes[0]
	c.File, c.Function, c.Sentence, c.Title, c.Source[0].Text = evil, evil, evil, evil, evil
	r.Sections[0].EndsAt = Place{File: evil, Line: 1, Function: evil}
	r.Sections[0].Threads[0].Name = evil
	r.Notes[0].Text = evil
	if page := string(htmlReport(t, r)); strings.Contains(page, "<script>alert") {
		t.Error("text of the profile became markup")
	}
}

func TestHTMLOfAnEmptyReport(t *testing.T) {
	if page := string(htmlReport(t, &Report{})); !strings.Contains(page, "There is nothing to balance") {
		t.Error("an empty report has nothing to say")
	}
}

func TestWriteSamplePages(t *testing.T) {
	dir := os.Getenv("LIME_PAGES")
	if dir == "" {
		testenv.Skip(t, testenv.OnRequest, "LIME_PAGES names no directory to leave the sample pages in")
	}
	for name, n := range map[string]int{"lu8": 8, "lu32": 32, "lu256": 256} {
		if err := os.WriteFile(dir+"/"+name+".html", htmlReport(t, Build(sample(n))), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
