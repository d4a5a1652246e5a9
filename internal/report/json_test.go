package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSONGolden(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, Build(sample(8))); err != nil {
		t.Fatal(err)
	}
	golden(t, "lu8.json", b.Bytes())
}

// The names that other programs rely on, spelled out.
func TestJSONContract(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, Build(sample(8))); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   *string `json:"schema"`
		Sections []struct {
			EndsAt *struct {
				File, Function *string
				Line           *int
			} `json:"ends_at"`
			Imbalance *float64          `json:"imbalance"`
			LostShare *float64          `json:"lost_share"`
			Instances *int              `json:"instances"`
			Causes    *[]map[string]any `json:"causes"`
		} `json:"sections"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i, s := range got.Sections {
		if s.EndsAt == nil || s.EndsAt.File == nil || s.EndsAt.Line == nil || s.EndsAt.Function == nil ||
			s.Imbalance == nil || s.LostShare == nil || s.Instances == nil || s.Causes == nil {
			t.Errorf("section %d lacks a field: %+v", i, s)
		}
	}
	cause := (*got.Sections[0].Causes)[0]
	for name, want := range map[string]any{"rank": 1.0, "family": "control-flow", "event": "branch",
		"file": "src/lu.c", "line": 535.0, "function": "lu", "score": 0.972, "share": 0.931} {
		if cause[name] != want {
			t.Errorf("cause has %s = %v, want %v", name, cause[name], want)
		}
	}
	if got.Schema == nil || *got.Schema != Schema {
		t.Errorf("schema %v", got.Schema)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	want := Build(sample(4))
	var b bytes.Buffer
	if err := WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(emptyIsNil)); diff != "" {
		t.Error(diff)
	}
}

// emptyIsNil compares lists that JSON leaves out when they are empty.
func emptyIsNil(a, b []Cause) bool {
	return len(a) == len(b) && (len(a) == 0 || a[0].Sentence == b[0].Sentence && a[0].Line == b[0].Line)
}

func TestJSONHoldsNoNaN(t *testing.T) {
	r := Build(sample(4))
	r.Sections[0].Imbalance = math.NaN()
	r.Sections[0].Speedup = math.Inf(1)
	r.Sections[0].Ledger.Rows[0].Share = math.Inf(-1)
	r.Sections[0].Causes[0].R2.Low = math.NaN()
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
}

func TestReadJSONRefusesOthers(t *testing.T) {
	for _, text := range []string{"", "{", `[]`, `{"schema":"lime-report/99"}`, `{"schema":3}`, `{}`} {
		if _, err := ReadJSON(strings.NewReader(text)); !errors.Is(err, ErrNotAReport) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Every field of the JSON form stands in its documentation.
func TestJSONIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/report-json.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), Schema) {
		t.Errorf("docs/report-json.md does not name %s", Schema)
	}
	for name := range fields(reflect.TypeFor[Report](), map[string]bool{}) {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/report-json.md lacks `%s`", name)
		}
	}
}

// fields collects the JSON names of t and everything in it.
func fields(t reflect.Type, names map[string]bool) map[string]bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		fields(t.Elem(), names)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names[name] = true
			}
			fields(f.Type, names)
		}
	}
	return names
}

// Whatever a file claims to be, reading, printing and comparing it does not fail.
func FuzzReadJSON(f *testing.F) {
	var b bytes.Buffer
	if err := WriteJSON(&b, Build(sample(2))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":"lime-report/1","sections":[{"threads":[{}],"course":{"points":[{},{},{}]},"causes":[{"counts":[{}]}],"ledger":{"rows":[{}]}}]}`))
	f.Add([]byte(`{"schema":"lime-report/1","program":{"run_time":1e308},"sections":[{"imbalance":-1e308,"threads":[{"time":-1,"wait":1e308}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			return
		}
		textReport(t, r, TextOptions{All: true})
		htmlReport(t, r)
		if err := WriteDiffText(&b, Compare(r, Build(sample(2))), TextOptions{All: true}); err != nil {
			t.Fatal(err)
		}
		b.Reset()
	})
}
