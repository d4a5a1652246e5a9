package safe

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// mostLinks is how many links a path may lead over, as in Linux (path_resolution(7)).
const mostLinks = 40

// Follow returns the file that a path leads to, which need not be there: a link whose end is
// missing says where the file is to be made. Links of the kernel's to open files (proc(5),
// /proc/PID/fd) are not followed, open is then true: the file behind them is whatever a process has
// open, so it can be written, and must not be replaced or removed.
func Follow(path string) (file string, open bool, err error) {
	for range mostLinks + 1 {
		link, err := os.Readlink(path)
		if err != nil {
			return path, false, nil
		}
		// not filepath.Dir: a ".." behind a link to a directory is the kernel's to resolve
		dir := path[:strings.LastIndexByte(path, '/')+1]
		if onProc(dir) {
			return path, true, nil
		}
		if path = link; !strings.HasPrefix(link, "/") {
			path = dir + link
		}
	}
	return "", false, &os.PathError{Op: "follow", Path: path, Err: errors.New("too many links")}
}

// onProc reports whether a directory, "" for the current one, is the kernel's proc.
func onProc(dir string) bool {
	if dir == "" {
		dir = "."
	}
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && kernelFiles[int64(fs.Type)] == "proc"
}
