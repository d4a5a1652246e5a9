package cli

import "testing"

func TestLocaleSaysTheEncoding(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, true}, {map[string]string{"LANG": "C.UTF-8"}, true}, {map[string]string{"LANG": "de_DE.utf8"}, true},
		{map[string]string{"LANG": "C"}, false},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "POSIX", "LC_CTYPE": "C.UTF-8"}, true}, {map[string]string{"LC_ALL": "", "LANG": "en_US.ISO-8859-1"}, false},
	} {
		a := &app{getenv: func(name string) string { return c.env[name] }}
		if got := a.utf8(); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}
