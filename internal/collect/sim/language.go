package sim

import (
	"lime/internal/origin"
	"lime/internal/section"
)

// inLibrary counts the innermost calls that stand in functions of the language's own library, if
// there are others further out. Generic code of the library is compiled into the program, so that
// its image does not tell it from the program's own; who joins a thread looks for the line that
// asked for it.
func (r *run) inLibrary(s *section.Site) int {
	for i := range s.Stack {
		name, entry := r.images.function(uint64(s.Stack[i].Call))
		if entry == 0 || !origin.LanguageFunction(name) {
			return i
		}
	}
	return 0
}
