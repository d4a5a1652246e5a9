package binfile

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"

	"lime/internal/safe"
)

// DefaultDebugDirs is where distributions put separate debug files.
func DefaultDebugDirs() []string { return []string{"/usr/lib/debug"} }

// ErrNoDebugFile says that no separate debug file was found.
var ErrNoDebugFile = errors.New("no separate debug file")

// OpenDebug opens the separate file with the debug information, found by build id or by debug link.
// dirs are roots like /usr/lib/debug.
func (f *File) OpenDebug(dirs []string) (*File, error) {
	for _, path := range f.byBuildID(f.BuildID, dirs) {
		if d, err := Open(path); err == nil {
			if d.BuildID == f.BuildID {
				return d, nil
			}
			d.Close()
		}
	}
	name, sum, ok := f.debugLink()
	if !ok {
		return nil, fmt.Errorf("%s: %w", f.Path, ErrNoDebugFile)
	}
	for _, path := range f.besides(name, dirs) {
		if d, err := f.openLinked(path, sum); err == nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("%s: %w: %s is not where it should be", f.Path, ErrNoDebugFile, name)
}

func (f *File) byBuildID(id string, dirs []string) (paths []string) {
	if len(id) < 4 {
		return nil
	}
	for _, d := range dirs {
		paths = append(paths, filepath.Join(d, ".build-id", id[:2], id[2:]+".debug"))
	}
	return paths
}

// debugLink reads .gnu_debuglink: a file name, padded to four bytes, and the file's CRC.
func (f *File) debugLink() (name string, sum uint32, ok bool) {
	b, _, err := f.Section(".gnu_debuglink")
	if err != nil {
		return "", 0, false
	}
	name = cString(b, 0)
	at := (len(name) + 4) &^ 3
	if name == "" || at+4 > len(b) || filepath.Base(name) != name {
		return "", 0, false
	}
	return name, f.elf.ByteOrder.Uint32(b[at:]), true
}

// besides lists where a file named by a link may lie.
func (f *File) besides(name string, dirs []string) []string {
	dir := filepath.Dir(f.Path)
	if p, err := filepath.Abs(f.Path); err == nil {
		dir = filepath.Dir(p)
	}
	paths := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	for _, d := range dirs {
		paths = append(paths, filepath.Join(d, dir, name))
	}
	return paths
}

func (f *File) openLinked(path string, sum uint32) (*File, error) {
	got, err := fileSum(path)
	if err != nil {
		return nil, err
	}
	if got != sum {
		return nil, fmt.Errorf("%s: belongs to another build of %s", path, f.Path)
	}
	return Open(path)
}

func fileSum(path string) (uint32, error) {
	r, err := safe.Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, r); err != nil {
		return 0, err
	}
	return h.Sum32(), nil
}

// OpenAlt opens the file that dwz moved shared debug information to (.gnu_debugaltlink).
func (f *File) OpenAlt(dirs []string) (*File, error) {
	b, _, err := f.Section(".gnu_debugaltlink")
	if err != nil {
		return nil, err
	}
	name := cString(b, 0)
	id := fmt.Sprintf("%x", b[min(len(name)+1, len(b)):])
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(filepath.Dir(f.Path), name)
	}
	for _, p := range append([]string{path}, f.byBuildID(id, dirs)...) {
		if d, err := Open(p); err == nil {
			if d.BuildID == id {
				return d, nil
			}
			d.Close()
		}
	}
	return nil, fmt.Errorf("%s: %w: %s", f.Path, ErrNoDebugFile, name)
}
