package ranks

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
)

// FileOf is where a rank's profile stands in a directory.
func FileOf(dir string, rank int) string {
	return filepath.Join(dir, fmt.Sprintf("rank-%05d.lime", rank))
}

var rankFile = regexp.MustCompile(`^rank-(\d{5,8})\.lime$`)

// Placed is where a rank's profile goes. As long as the process lives, no other one gets the place.
type Placed struct {
	Path string
	held *os.File
}

// claims is the file in a directory by which ranks that run at the same time are told apart: each
// locks the byte of its number. The locks go with the processes, and nothing is ever written.
const claims = ".ranks"

// claim locks the rank's byte. Where the file system knows no locks, there is none.
func claim(dir string, me profile.RankInfo) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, claims), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, nil // who writes the profile says what is wrong with the directory
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: int64(me.Rank), Len: 1}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		f.Close()
		return nil, fmt.Errorf("-o %s: another process is rank %d (%s) at this moment, too: name another directory, "+
			"or the variable that tells the ranks apart with --rank-var", dir, me.Rank, me.Launcher)
	}
	return f, nil
}

// Place makes the directory, if it is not there, and returns the file of a rank in it. No rank asks
// another. A profile that a rank of the same number has left there is replaced if it is an earlier
// run's.
func Place(dir string, me profile.RankInfo) (*Placed, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		if st, serr := os.Stat(dir); serr == nil && !st.IsDir() {
			return nil, fmt.Errorf("-o %s: there is a file of this name, and ranks write into a directory: name another", dir)
		}
		return nil, fmt.Errorf("-o %s: a directory for the ranks' profiles: %w", dir, err)
	}
	held, err := claim(dir, me)
	if err != nil {
		return nil, err
	}
	placed := &Placed{held: held}
	if placed.Path, err = free(dir, me); err != nil {
		placed.Leave()
		return nil, err
	}
	return placed, nil
}

// Leave gives the place to others before the process ends.
func (p *Placed) Leave() {
	if p.held != nil {
		p.held.Close()
	}
}

// free is the rank's file, unless a process of this run has left one there.
func free(dir string, me profile.RankInfo) (string, error) {
	path := FileOf(dir, me.Rank)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	r, err := profile.Open(path)
	if err != nil {
		return path, nil // who writes the profile says what is wrong with it
	}
	defer r.Close()
	if m := r.Meta(); me.Job != "" && m.Job == me.Job && m.Launcher == me.Launcher {
		return "", fmt.Errorf("%s: another process of this run (%s, job %s) was rank %d, too, and has written it: "+
			"name another directory with -o, or the variable that tells the ranks apart with --rank-var",
			path, me.Launcher, me.Job, me.Rank)
	}
	return path, nil
}

// Files lists the ranks' profiles in a directory in the order of their numbers; none if there are
// none.
func Files(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type file struct {
		n    int
		name string
	}
	var found []file
	for _, e := range entries {
		if m := rankFile.FindStringSubmatch(e.Name()); m != nil {
			n, _ := strconv.Atoi(m[1])
			found = append(found, file{n, e.Name()})
		}
	}
	slices.SortFunc(found, func(a, b file) int { return a.n - b.n })
	for _, f := range found {
		paths = append(paths, filepath.Join(dir, f.name))
	}
	return paths, nil
}
