package ranks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"lime/internal/profile"
)

// FileOf is where a rank's profile stands in a directory.
func FileOf(dir string, rank int) string {
	return filepath.Join(dir, fmt.Sprintf("rank-%05d.lime", rank))
}

var rankFile = regexp.MustCompile(`^rank-(\d{5,8})\.lime$`)

// Place makes the directory, if it is not there, and returns the file of a rank in it. No rank asks
// another. A profile that a rank of the same number has left there is replaced if it is an earlier
// run's.
func Place(dir string, me profile.RankInfo) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		if st, serr := os.Stat(dir); serr == nil && !st.IsDir() {
			return "", fmt.Errorf("-o %s: there is a file of this name, and ranks write into a directory: name another", dir)
		}
		return "", fmt.Errorf("-o %s: a directory for the ranks' profiles: %w", dir, err)
	}
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
