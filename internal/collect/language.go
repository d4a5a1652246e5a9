package collect

import (
	"regexp"
	"strings"
)

// LanguageFunction reports whether a mangled name lies in the name spaces of the standard libraries of C++ or Rust.
func LanguageFunction(name string) bool {
	for _, p := range languageSpaces() {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	if strings.HasPrefix(name, "_ZL") && strings.Contains(name, "__gthread_") { // what libstdc++ has between itself and the thread library
		return true
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

// languageSpaces are the starts of such names: C++ (Itanium ABI, 5.1.2 and 5.1.10) and Rust's older mangling. TBB and
// the parallel algorithms of C++ that stand on it are headers, too.
func languageSpaces() []string {
	return []string{"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN3std", "_ZN4core", "_ZN5alloc", "_ZN3tbb", "_ZNK3tbb", "_ZN6__pstl", "_ZNK6__pstl"}
}

// rustTraitImpl is a method that std, core or alloc implements for one of its traits, in Rust's older mangling: <T as
// std::Trait>::method. Where the trait is the library's and the type is the program's, the library's name comes second.
var rustTraitImpl = regexp.MustCompile(`^_ZN[0-9]+_\$LT\$(?:alloc|core|std)\.\.`)
