package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
)

// WriteJSON writes the report as docs/report-json.md describes it. Figures
// that JSON cannot hold are made finite first: no number becomes 0.
func WriteJSON(w io.Writer, r *Report) error {
	finite(reflect.ValueOf(r))
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// finite replaces NaN by 0 and the infinities by the largest numbers in
// everything that v holds.
func finite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			finite(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			finite(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			finite(v.Index(i))
		}
	case reflect.Float64:
		if x := v.Float(); v.CanSet() && (math.IsNaN(x) || math.IsInf(x, 0)) {
			v.SetFloat(finiteFloat(x))
		}
	}
}

func finiteFloat(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return 0
	case x > 0:
		return math.MaxFloat64
	}
	return -math.MaxFloat64
}

// ErrNotAReport marks JSON that is no report of lime's.
var ErrNotAReport = errors.New("not a lime report")

// ReadJSON reads a report that WriteJSON wrote.
func ReadJSON(in io.Reader) (*Report, error) {
	r := new(Report)
	if err := json.NewDecoder(in).Decode(r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAReport, err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("%w: schema %q; this lime reads %q", ErrNotAReport, cut(clean(strings.TrimSpace(r.Schema)), 40), Schema)
	}
	return r, nil
}
