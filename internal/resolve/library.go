package resolve

import (
	"strings"

	"lime/internal/symbol"
)

// ownFrames drops the innermost frames that are inlined code of a standard library or of an
// installed header: people look for the line of their own that called it (the head of
// a loop over a list, not the comparison of its iterators). Where all frames are
// such code, all are kept.
func (r *resolver) ownFrames(fs []symbol.Frame) []symbol.Frame {
	if r.o.AllFrames {
		return fs
	}
	for i := range fs {
		if !libraryFile(fs[i].File) {
			return fs[i:]
		}
	}
	return fs
}

// libraryFile reports whether a source file is no part of the program; no file counts as the program's own.
func libraryFile(path string) bool {
	for _, p := range libraryRoots() {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	for _, p := range libraryParts() {
		if strings.Contains(path, p) {
			return true
		}
	}
	return false
}

// libraryRoots are where installed headers and standard libraries lie, or lay when they were compiled.
func libraryRoots() []string {
	return []string{"/usr/include/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/", "/usr/bin/../", "/usr/local/go/src/", "/rustc/", "/rust/deps/"}
}

// libraryParts are directories of standard libraries wherever they are installed: C++, compilers' own headers, Rust.
func libraryParts() []string {
	return []string{"/include/c++/", "/lib/gcc/", "/lib/clang/", "/lib/rustlib/src/", "/.cargo/registry/src/"}
}
