package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A textField is one key=value of a line of the text twin. A field at its
// default is left out; a key that gives several values is written several times.
type textField struct {
	key string
	get func() []string
	set func(string) error
}

// dec is a decimal integer.
func dec[T integer](key string, p *T, def T) textField {
	return textField{key, func() []string {
		if *p == def {
			return nil
		}
		if T(0)-1 > 0 { // unsigned
			return []string{strconv.FormatUint(uint64(*p), 10)}
		}
		return []string{strconv.FormatInt(int64(*p), 10)}
	}, func(s string) error { return parseInt(s, p) }}
}

// hex is an address or another number that people read in hexadecimal.
func hex(key string, p *uint64) textField {
	return textField{key, func() []string {
		if *p == 0 {
			return nil
		}
		return []string{"0x" + strconv.FormatUint(*p, 16)}
	}, func(s string) error { return parseInt(s, p) }}
}

// id is a row's id, None if left out.
func id[T ~int32](key string, p *T) textField { return dec(key, p, T(None)) }

// parseInt reads an integer in any notation of Go.
func parseInt[T integer](s string, p *T) error {
	if T(0)-1 > 0 {
		v, err := strconv.ParseUint(s, 0, 64)
		if err == nil && uint64(T(v)) != v {
			err = strconv.ErrRange
		}
		*p = T(v)
		return numError(s, err)
	}
	v, err := strconv.ParseInt(s, 0, 64)
	if err == nil && int64(T(v)) != v {
		err = strconv.ErrRange
	}
	*p = T(v)
	return numError(s, err)
}

func numError(s string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*strconv.NumError); ok {
		err = e.Err
	}
	return fmt.Errorf("%q is no number that fits (%w)", s, err)
}

// str is a string, quoted.
func str[T ~string](key string, p *T) textField {
	return textField{key, func() []string {
		if *p == "" {
			return nil
		}
		return []string{strconv.Quote(string(*p))}
	}, func(s string) error {
		v, err := unquote(s)
		*p = T(v)
		return err
	}}
}

// unquote reads a quoted string, or a bare word.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	v, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("%s is not a quoted string", s)
	}
	return v, nil
}

// strs is a list of strings.
func strs(key string, p *[]string) textField {
	return textField{key, func() (out []string) {
		for _, s := range *p {
			out = append(out, strconv.Quote(s))
		}
		return out
	}, func(s string) error {
		v, err := unquote(s)
		*p = append(*p, v)
		return err
	}}
}

// float is a floating-point number.
func float(key string, p *float64) textField {
	return textField{key, func() []string {
		if *p == 0 {
			return nil
		}
		return []string{strconv.FormatFloat(*p, 'g', -1, 64)}
	}, func(s string) (err error) {
		*p, err = strconv.ParseFloat(s, 64)
		if err == nil && math.IsNaN(*p) {
			err = strconv.ErrRange
		}
		return numError(s, err)
	}}
}

// boolean is left out when false.
func boolean(key string, p *bool) textField {
	return textField{key, func() []string {
		if !*p {
			return nil
		}
		return []string{"true"}
	}, func(s string) (err error) {
		*p, err = strconv.ParseBool(s)
		return numError(s, err)
	}}
}

// enum is one of names, the first by default.
func enum[T ~uint8](key string, names []string, p *T) textField {
	return textField{key, func() []string {
		if *p == 0 {
			return nil
		}
		return []string{name(names, *p)}
	}, func(s string) error {
		i := slices.Index(names, s)
		if i < 0 {
			return fmt.Errorf("%q is none of %s", s, strings.Join(names, ", "))
		}
		*p = T(i)
		return nil
	}}
}

// nodeList is a stack of nodes: 3,4,5; empty if it is known to be empty; left out if unknown.
func nodeList(key string, p *[]NodeID) textField {
	return textField{key, func() []string {
		if *p == nil {
			return nil
		}
		var out []string
		for _, n := range *p {
			out = append(out, strconv.Itoa(int(n)))
		}
		return []string{strings.Join(out, ",")}
	}, func(s string) error {
		*p = []NodeID{}
		if s == "" {
			return nil
		}
		for _, w := range strings.Split(s, ",") {
			var n NodeID
			if err := parseInt(w, &n); err != nil {
				return err
			}
			*p = append(*p, n)
		}
		return nil
	}}
}

// frames are positions, innermost first, one FILE:LINE:COLUMN:"FUNCTION" each; a number of 0 may be
// left out.
func frames(key string, p *[]Frame) textField {
	return textField{key, func() (out []string) {
		for _, f := range *p {
			out = append(out, formatFrame(f))
		}
		return out
	}, func(s string) error {
		f, err := parseFrame(s)
		*p = append(*p, f)
		return err
	}}
}

func formatFrame(f Frame) string {
	s := fmt.Sprintf("%d:%d", f.File, f.Line)
	named := f.Function != "" || f.Offset != 0
	if f.Column != 0 || named {
		s += fmt.Sprintf(":%d", f.Column)
	}
	if named {
		s += ":" + strconv.Quote(f.Function)
	}
	if f.Offset != 0 {
		s += fmt.Sprintf("+%#x", f.Offset)
	}
	return s
}

func parseFrame(s string) (f Frame, err error) {
	words := strings.SplitN(s, ":", 4)
	for i, p := range []*int32{(*int32)(&f.File), &f.Line, &f.Column} {
		if i < len(words) && words[i] != "" && err == nil {
			err = parseInt(words[i], p)
		}
	}
	if len(words) == 4 && err == nil {
		f.Function, f.Offset, err = parseName(words[3])
	}
	if err != nil {
		err = fmt.Errorf("position %s: %w", s, err)
	}
	return f, err
}

// parseName reads a bare word, or a quoted name with the offset that may stand behind it.
func parseName(s string) (name string, offset uint32, err error) {
	if quoted, qerr := strconv.QuotedPrefix(s); qerr == nil && s[0] == '"' {
		if tail, ok := strings.CutPrefix(s[len(quoted):], "+"); ok {
			s, err = quoted, parseInt(tail, &offset)
		}
	}
	if err == nil {
		name, err = unquote(s)
	}
	return name, offset, err
}
