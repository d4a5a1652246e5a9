package origin

// Source files and files with code, by where they lie.

import (
	"path"
	"slices"
	"strings"
)

// LibraryFile reports whether a source file is no part of the program; no file counts as the
// program's own.
func LibraryFile(file string) bool {
	return hasPrefix(file, libraryRoots()) || slices.ContainsFunc(libraryParts(), func(p string) bool { return strings.Contains(file, p) })
}

// libraryRoots are where installed headers and standard libraries lie, or lay when they were
// compiled.
func libraryRoots() []string {
	return []string{"/usr/include/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/", "/usr/bin/../",
		"/usr/local/go/src/", "/rustc/", "/rust/deps/", "/usr/src/rustc-"}
}

// libraryParts are directories of standard libraries wherever they are installed: C++, compilers'
// own headers, Rust.
func libraryParts() []string {
	return []string{"/include/c++/", "/lib/gcc/", "/lib/clang/", "/lib/rustlib/src/", "/.cargo/registry/src/"}
}

// LibraryImage reports whether an ELF file is a library of the system, or the kernel's.
func LibraryImage(file string) bool {
	return strings.HasPrefix(file, "/lib") || strings.HasPrefix(file, "/usr/lib") || strings.HasPrefix(file, "[")
}

// Linker reports whether a file is the dynamic linker.
func Linker(file string) bool { return strings.HasPrefix(path.Base(file), "ld-") }

// SystemDir reports whether a directory is the system's: it holds no sources of the programs in it.
func SystemDir(dir string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(dir, "/"), "/")
	return slices.Contains([]string{"usr", "lib", "lib32", "lib64", "libx32", "bin", "sbin"}, top) && strings.HasPrefix(dir, "/")
}
