package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lime/internal/profile"
	"lime/internal/ranks"
	"lime/internal/safe"
)

// mergeFlags are the options of merge.
type mergeFlags struct{ output string }

func (a *app) mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge [-o FILE] DIR|PROFILE...",
		Short: "Make one profile of those of a run's ranks",
		Long: `merge puts the profiles that the ranks of one run left together: the k-th
collective operation of a communicator is one instance, in which all its ranks
take part. 'lime report DIR' does the same for itself each time; of many ranks
one file is read faster. Files that are merged can be merged again, so that many
ranks can be put together in a tree.

    lime merge -o all.lime DIR
    lime report all.lime`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.merge(args, &f) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", defaultProfile, "write the profile to this `file`")
	return cmd
}

func (a *app) merge(args []string, f *mergeFlags) error {
	var paths []string
	for _, arg := range args {
		list, err := rankFiles(arg)
		if err != nil {
			return failed(err)
		}
		paths = append(paths, list...)
	}
	for _, p := range paths {
		if sameFile(p, f.output) {
			return failed(fmt.Errorf("-o %s: that is one of the profiles that are read; name another file", f.output))
		}
	}
	return failed(mergeInto(f.output, paths, false))
}

// rankFiles are the profiles in a directory, or the one file that is named.
func rankFiles(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, explainOpen(path, err)
	}
	if !st.IsDir() {
		return []string{path}, nil
	}
	list, err := ranks.Files(path)
	if err == nil && len(list) == 0 {
		if others, _ := familyFiles(path); len(others) > 0 {
			return nil, tellFamily(path, others)
		}
		err = fmt.Errorf("%s: a directory without profiles of ranks (rank-00000.lime and so on); run 'mpirun lime "+
			"record -o %s -- PROGRAM' first, or name a profile", path, path)
	}
	return list, err
}

func mergeInto(out string, paths []string, last bool) error {
	return profile.Whole(out, false, profile.Meta{}, func(to profile.Sink) error { return ranks.Merge(paths, last, to) })
}

// openRanks opens the profiles of a directory as one.
func openRanks(dir string) (profile.Source, func() error, error) {
	paths, err := rankFiles(dir)
	if err != nil {
		return nil, nil, failed(err)
	}
	tmp, err := safe.TempDir()
	if err != nil {
		return nil, nil, failed(fmt.Errorf("room for the ranks' profiles as one: %w", err))
	}
	one := filepath.Join(tmp.Path, defaultProfile)
	if err = mergeInto(one, paths, true); err != nil {
		return nil, nil, failed(errors.Join(fmt.Errorf("%s: %w", dir, err), tmp.Remove()))
	}
	r, err := profile.Open(one)
	if err != nil {
		return nil, nil, failed(errors.Join(err, tmp.Remove()))
	}
	r.Allow(sizes(paths))
	if err := resolved(r); err != nil {
		return nil, nil, failed(errors.Join(err, r.Close(), tmp.Remove()))
	}
	return r, func() error { return errors.Join(r.Close(), tmp.Remove()) }, nil
}

// sizes is how long files are together.
func sizes(paths []string) (sum int64) {
	for _, p := range paths {
		if st, err := os.Stat(p); err == nil {
			sum += st.Size()
		}
	}
	return sum
}

// isDir tells whether a path is a directory's.
func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
