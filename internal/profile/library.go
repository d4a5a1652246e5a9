package profile

import "strings"

// LibraryFile reports whether a source file is no part of the program; no file counts as the program's own.
func LibraryFile(path string) bool {
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

// SameFile reports whether want, which somebody wrote, is a path or its end from a slash on.
func SameFile(path, want string) bool {
	want = strings.TrimPrefix(want, "./")
	return path == want || strings.HasSuffix(path, "/"+want)
}

// libraryRoots are where installed headers and standard libraries lie, or lay when they were compiled.
func libraryRoots() []string {
	return []string{"/usr/include/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/", "/usr/bin/../", "/usr/local/go/src/", "/rustc/", "/rust/deps/", "/usr/src/rustc-"}
}

// libraryParts are directories of standard libraries wherever they are installed: C++, compilers' own headers, Rust.
func libraryParts() []string {
	return []string{"/include/c++/", "/lib/gcc/", "/lib/clang/", "/lib/rustlib/src/", "/.cargo/registry/src/"}
}

// LibraryImage reports whether an ELF file is a library of the system, or the kernel's.
func LibraryImage(path string) bool {
	return strings.HasPrefix(path, "/lib") || strings.HasPrefix(path, "/usr/lib") || strings.HasPrefix(path, "[")
}

// SameFunction reports whether want, which somebody wrote, is the name of a function: whole, or without the types of its arguments, those of a
// template, and what it is part of (NAME for "ns::NAME<int>(float) const").
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
