package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Names of a profile may be as long as it likes; a page shows this many characters of a text. The
// report's sentences are shorter.
const longestName = 1500

// tidy makes JSON safe to look at: control characters and those that reverse the direction of
// writing become a dot, overlong texts lose their middle. JSON without such is given back as it is.
func tidy(b []byte) ([]byte, error) {
	if clean(b) {
		return b, nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(tidyValue(v))
}

// clean tells whether there is nothing to tidy.
func clean(b []byte) bool {
	in, length := false, 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case !in:
			in, length = c == '"', 0
			continue
		case c == '"':
			in = false
			continue
		case c == '\\':
			if i+5 < len(b) && b[i+1] == 'u' {
				if code := string(b[i+2 : i+6]); code != "003c" && code != "003e" && code != "0026" {
					return false // only what is odd is written so, and what has a meaning in HTML
				}
				i += 4
			}
			i++
		case c >= 0x7f && c != 0xc3: // beyond Latin letters: may be one of those characters
			return false
		}
		if length++; length > longestName {
			return false
		}
	}
	return true
}

func tidyValue(v any) any {
	switch v := v.(type) {
	case string:
		return tidyText(v)
	case []any:
		for i := range v {
			v[i] = tidyValue(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = tidyValue(v[k])
		}
	}
	return v
}

func tidyText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case unicode.IsControl(r), r == unicode.ReplacementChar, unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return '·'
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > longestName {
		half := longestName/2 - 1
		return string(runes[:half]) + " … " + string(runes[len(runes)-half:])
	}
	return s
}
