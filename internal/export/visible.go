package export

import (
	"reflect"

	"lime/internal/profile"
	"lime/internal/safe"
)

// visible is a profile whose strings cannot steer what reads the export: the gate of all formats.
type visible struct {
	profile.Source
	meta   *profile.Meta
	tables *profile.Tables
}

func (v *visible) Meta() *profile.Meta     { return v.meta }
func (v *visible) Tables() *profile.Tables { return v.tables }

// newVisible returns the profile itself if there is nothing in it to escape.
func newVisible(src profile.Source) profile.Source {
	meta, tables := reflect.ValueOf(src.Meta()).Elem(), reflect.ValueOf(src.Tables()).Elem()
	if !steers(meta) && !steers(tables) {
		return src
	}
	return &visible{src, escaped(meta).Addr().Interface().(*profile.Meta), escaped(tables).Addr().Interface().(*profile.Tables)}
}

// steers looks for a string that has to be escaped.
func steers(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return safe.Visible(v.String(), safe.Escape) != v.String()
	case reflect.Struct:
		for i := range v.NumField() {
			if steers(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		if !hasStrings(v.Type().Elem()) {
			return false
		}
		for i := range v.Len() {
			if steers(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if steers(it.Value()) {
				return true
			}
		}
	}
	return false
}

// hasStrings tells whether there can be strings in a value of this type.
func hasStrings(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Slice, reflect.Map:
		return hasStrings(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasStrings(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// escaped copies a value with its strings escaped; the copy can be addressed.
func escaped(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	if !hasStrings(v.Type()) {
		return out
	}
	switch v.Kind() {
	case reflect.String:
		out.SetString(safe.Visible(v.String(), safe.Escape))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(escaped(v.Field(i)))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return out
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(escaped(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return out
		}
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), escaped(it.Value()))
		}
	}
	return out
}
