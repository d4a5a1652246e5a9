package sim

import (
	"regexp"
	"strings"

	"lime/internal/section"
)

// inLibrary counts the innermost calls that stand in functions of the language's own library, if there are others
// further out. Generic code of the library is compiled into the program, so that its image does not
// tell it from the program's own; who joins a thread looks for the line that asked for it.
func (r *run) inLibrary(s *section.Site) int {
	for i := range s.Stack {
		name, entry := r.images.function(uint64(s.Stack[i].Call))
		if entry == 0 || !languageFunction(name) {
			return i
		}
	}
	return 0
}

// languageFunction reports whether a mangled name lies in the name spaces of the standard libraries of C++ or Rust.
func languageFunction(name string) bool {
	for _, p := range languageSpaces() {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	if m := rustTraitImpl.FindStringSubmatch(name); m != nil {
		return true
	}
	if !strings.HasPrefix(name, "_R") {
		return false
	}
	m := rustCrate.FindStringSubmatch(name)
	return m != nil && rustRuntime(m[1], m[2])
}

// languageSpaces are the starts of such names: C++ (Itanium ABI, 5.1.2 and 5.1.10) and Rust's older mangling.
func languageSpaces() []string {
	return []string{"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN3std", "_ZN4core", "_ZN5alloc"}
}

// rustTraitImpl is a method that std, core or alloc implements for one of its traits, in Rust's older mangling: <T as
// std::Trait>::method. Where the trait is the library's and the type is the program's, the library's name comes second.
var rustTraitImpl = regexp.MustCompile(`^_ZN[0-9]+_\$LT\$(?:alloc|core|std)\.\.`)
