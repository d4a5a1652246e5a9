package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"lime/internal/profile"
	"lime/internal/safe"
)

// form is what an output is to its reader.
type form int

const (
	asText    form = iota // for people: what steers a terminal is a dot
	asData                // for programs, in text: what steers a terminal is an escape
	asProfile             // a profile in text, which may take another's place
	asBytes               // for programs: as it is, the exporter sees to its strings
)

func dataIf(data bool) form {
	if data {
		return asData
	}
	return asText
}

// target is the file that an output goes to.
type target struct {
	path  string
	as    form
	reads []string // the files that are read, which must stay
}

// output writes to the file at path, or to standard output if path is "" or "-". The files that are
// read must stay.
func (a *app) output(path string, reads []string, as form, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return failed(gated(a.program.stdout, as, write))
	}
	to := target{path, as, reads}
	return failed(to.replace(func(f *os.File) error { return gated(f, as, write) }))
}

// replace writes a new file beside the target and puts it in its place, so that the old one stays
// whole until the new one is. A link is followed, the mode is kept. What is no regular file, and
// what a process has open, as /dev/stderr, is written as it is.
func (to *target) replace(write func(*os.File) error) error {
	path, open, err := safe.Follow(to.path)
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	switch {
	case err == nil && st.Mode().IsRegular():
		err = to.mayReplace(path)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	switch {
	case err != nil:
		return err
	case open, st != nil && !st.Mode().IsRegular():
		return direct(path, write)
	}
	return beside(path, st, write)
}

// beside writes a file under another name, and then renames it; st is what stands there now, nil if
// there is nothing.
func beside(path string, st fs.FileInfo, write func(*os.File) error) error {
	f, err := safe.Temp(path)
	if err != nil {
		return err
	}
	if st != nil {
		err = safe.Inherit(f.Name(), st)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = os.Rename(f.Name(), path) // before it is closed, and not locked any more
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return errors.Join(err, f.Close())
}

// direct writes to a device, a FIFO, or what a process has open. One of lime's own descriptors is
// written where it stands, and a file behind another one at its end.
func direct(path string, write func(*os.File) error) error {
	f, err := ownDescriptor(path)
	if f == nil && err == nil {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// ownDescriptor is a copy of the descriptor that a path below /proc or /dev/fd names, nil if that is
// none of this process.
func ownDescriptor(path string) (*os.File, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil || !strings.HasPrefix(dir, fmt.Sprintf("/proc/%d/", os.Getpid())) || filepath.Base(dir) != "fd" {
		return nil, nil
	}
	number, err := strconv.Atoi(filepath.Base(path))
	if err != nil {
		return nil, nil
	}
	fd, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// sameFile tells whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// mayReplace refuses files that are read now, and profiles, which nobody makes again by the same
// command.
func (to *target) mayReplace(path string) error {
	for _, in := range to.reads {
		if sameFile(path, in) {
			return fmt.Errorf("-o %s: that is the file that is read; name another", to.path)
		}
	}
	f, err := safe.Open(path)
	if err != nil {
		return nil // what cannot be read can be replaced
	}
	defer f.Close()
	if to.as != asProfile && profile.IsProfile(f) {
		return fmt.Errorf("-o %s: there is a profile; remove it, or name another file", to.path)
	}
	return nil
}

// gated writes through the gate of a form.
func gated(w io.Writer, as form, write func(io.Writer) error) error {
	if as == asBytes {
		return write(w)
	}
	standIn := safe.Dot
	if as != asText {
		standIn = safe.Escape
	}
	g := safe.NewWriter(w, standIn)
	return errors.Join(write(g), g.Flush())
}

// forceFlag adds --force.
func forceFlag(fl *pflag.FlagSet, force *bool) {
	fl.BoolVar(force, "force", false, "write the profile even where a file of another kind stands")
}

// makeRoom removes what stands where a profile is to be written, if that is forced and it is a
// plain file. Profiles are replaced anyway, and what is no plain file is refused by who writes.
func makeRoom(path string, force bool) error {
	if !force {
		return nil
	}
	f, err := safe.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if profile.IsProfile(f) {
		return nil
	}
	file, open, err := safe.Follow(path)
	if err != nil || open {
		return err
	}
	return os.Remove(file)
}
