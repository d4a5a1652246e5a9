package profile

import "strings"

// SameFile reports whether want, which somebody wrote, is a path or its end from a slash on.
func SameFile(path, want string) bool {
	want = strings.TrimPrefix(want, "./")
	return path == want || strings.HasSuffix(path, "/"+want)
}

// SameFunction reports whether want, which somebody wrote, is the name of a function: whole, or
// without the types of its arguments, those of a template, and what it is part of (NAME for
// "ns::NAME<int>(float) const").
func SameFunction(name, want string) bool {
	if want == "" || name == want {
		return name == want
	}
	name = withoutClosing(strings.TrimSuffix(name, " const"), '(', ')')
	for _, n := range [...]string{name, withoutClosing(name, '<', '>')} {
		if n == want || strings.HasSuffix(n, "::"+want) || strings.HasSuffix(n, "."+want) || strings.HasSuffix(n, " "+want) {
			return true
		}
	}
	return false
}

// withoutClosing takes the last bracket off a name that ends with it.
func withoutClosing(name string, opening, closing byte) string {
	if name == "" || name[len(name)-1] != closing {
		return name
	}
	for i, open := len(name)-1, 0; i > 0; i-- {
		switch name[i] {
		case closing:
			open++
		case opening:
			if open--; open == 0 {
				return name[:i]
			}
		}
	}
	return name
}
