package resolve

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"lime/internal/profile"
	"lime/internal/symbol"
)

// detailPart is what a collector leaves to be resolved in an event's detail: an address in the
// program, or a symbol.
var detailPart = regexp.MustCompile(`\b(?:at|with) 0x[0-9a-f]+|\b_[ZR][\w.$]+`)

// detail puts source lines in the place of the addresses in an event's detail, and names as people
// write them in that of symbols.
func (r *resolver) detail(text string) string {
	return detailPart.ReplaceAllStringFunc(text, func(part string) string {
		if part[0] == '_' {
			return symbol.Demangle(part)
		}
		word, hex, _ := strings.Cut(part, " 0x")
		addr, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			return part
		}
		loc, ok := r.at(profile.None, addr)
		if !ok {
			return part
		}
		f := loc.frames[0]
		if f.Line == 0 || f.File == profile.None {
			return word + " " + f.Name()
		}
		return fmt.Sprintf("%s %s:%d", word, filepath.Base(r.t.Files[f.File].Path), f.Line)
	})
}
