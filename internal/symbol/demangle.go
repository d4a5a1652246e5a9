package symbol

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled bounds what is demangled: longer names take time without use.
const maxMangled = 1 << 14

// Demangle returns a linkage name of C++, Rust or D as people write it; other names as they are.
func Demangle(link string) string {
	if !mangled(link) || len(link) > maxMangled {
		return link
	}
	// An empty pack of template arguments leaves its comma behind.
	return strings.ReplaceAll(demangle.Filter(link, demangle.MaxLength(14)), ", >", ">")
}

func mangled(link string) bool {
	for _, p := range []string{"_Z", "_R", "__Z", "_D"} {
		if strings.HasPrefix(link, p) {
			return true
		}
	}
	return false
}

// display chooses the name for people from a function's name and linkage name.
func display(name, link string) string {
	if link != "" && mangled(link) {
		if d := Demangle(link); d != link {
			return d
		}
	}
	if name != "" {
		return Demangle(name)
	}
	return link
}
