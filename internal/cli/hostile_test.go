package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/report"
	"lime/internal/safe"
)

// attack sets a terminal's title, clears it, and turns the order of reading.
const attack = "\x1b]0;title\a\x1b[2J\u009b2J\u202e\u2066\r\x7f"

// poison appends the attack to all strings within v, but for the fields that are named.
func poison(v reflect.Value, but []string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + attack)
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), but)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			v.SetMapIndex(it.Key(), reflect.ValueOf(it.Value().String()+attack))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(but, f.Name) {
				poison(v.Field(i), but)
			}
		}
	}
}

// poisoned writes a profile with an attack in every string but the fields that are named.
func poisoned(t *testing.T, but ...string) string {
	t.Helper()
	f, err := os.Open("testdata/uneven8.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.ReadText(f)
	if err != nil {
		t.Fatal(err)
	}
	path := p.AddPath(profile.PathNode{Parent: profile.None, Node: 0})
	for _, metric := range []string{"time", profile.MetricIdleness} {
		p.AddPathSample(profile.PathSample{Path: path, Metric: metric, Value: 5})
	}
	m := *p.Meta()
	m.Notes = append(m.Notes, profile.Note{Code: profile.NoteElsewhere, Text: "elsewhere", N: 1}, profile.Note{Code: "x", Text: "y", N: 1})
	poison(reflect.ValueOf(&m).Elem(), but)
	poison(reflect.ValueOf(p.Tables()).Elem(), but)
	if err := p.UpdateMeta(m); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := profile.WriteText(&b, p); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hostile.txt")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestNothingSteersTheTerminal runs the verbs over profiles with an attack in every string: with
// words that steer lime left whole, so that it goes on, and without.
func TestNothingSteersTheTerminal(t *testing.T) {
	words := []string{"Collector", "Model", "Machine", "NodeTime", "EndState", "Kind", "Metric", "Superior", "ClockUnit"}
	for _, but := range [][]string{nil, words, words[:len(words)-1]} {
		path := poisoned(t, but...)
		for _, args := range [][]string{
			{"report"}, {"report", "--all"}, {"report", "--all", "--color=always"}, {"report", "--json"}, {"report", "--html"}, {"report", "--tree"},
			{"report", "--bottom-up"}, {"report", "--flat"}, {"report", "--verify"}, {"export", "--csv"}, {"export", "--folded"},
			{"export", "--perfetto"}, {"export", "--pprof"}, {"export", "--speedscope"}, {"export", "--text"},
			{"annotate", "main"}, {"annotate", "--events", "uneven.c" + attack},
			{"diff", path}, {"diff", "--all", path}, {"diff", "--json", path}, {"whatif", "--erase", "top"}, {"whatif", "--even", "uneven.c:5"},
			{"whatif", "--even", "uneven.c:5", "--estimate"}, {"resolve"}, {"report", "--section", attack},
		} {
			code, stdout, stderr := lime(t, append(args, path)...)
			t.Logf("%q: status %d, %d bytes", args, code, len(stdout))
			for name, text := range map[string]string{"output": stdout, "errors": stderr} {
				if i, r := steering(text, args); i >= 0 {
					t.Errorf("%q (but %v): %q on %s: %q", args, but, r, name, text[max(0, i-40):min(len(text), i+20)])
				}
			}
		}
	}
}

// steering finds the first character that must not be there.
func steering(text string, args []string) (int, string) {
	if slices.Contains(args, "--color=always") {
		for _, s := range report.Styles() {
			text = strings.ReplaceAll(text, s, "")
		}
	}
	if strings.HasPrefix(text, "\x1f\x8b") {
		z, err := gzip.NewReader(strings.NewReader(text))
		if err != nil {
			return 0, err.Error()
		}
		b, _ := io.ReadAll(z)
		text = string(b)
	}
	if slices.Contains(args, "--perfetto") || slices.Contains(args, "--pprof") { // its numbers are bytes of any value
		for _, s := range []string{"\x1b]0", "\x1b[2J", "\u202e", "\u2066"} {
			if i := strings.Index(text, s); i >= 0 {
				return i, fmt.Sprintf("%q", s)
			}
		}
		return -1, ""
	}
	i := strings.IndexFunc(text, safe.Steers)
	if i < 0 {
		return -1, ""
	}
	return i, fmt.Sprintf("%q", []rune(text[i:])[0])
}
