package native

import "testing"

// Programs may lie anywhere in the file system, in /dev/shm too; what only looks like a path is
// none.
func TestMappingsOfFiles(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/bin/xz": true, "/dev/shm/build/app": true, "/dev/zero (deleted)": false, "/dev/dri/card0": false,
		"/memfd:lime (deleted)": false, "//anon": false, "[vdso]": false, "": false,
	} {
		if got := isFile(path); got != want {
			t.Errorf("%q is a file: %v, want %v", path, got, want)
		}
	}
}
