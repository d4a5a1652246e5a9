package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lime/internal/collect/sim"
	"lime/internal/profile"
	"lime/internal/unit"
)

// A program with the programs that it starts (--children): a directory of profiles, one for each.

// familyFlags are the options by which children are followed.
type familyFlags struct {
	children bool
	dir      string // of the profiles; "": the program's own is the only one
}

func (f *familyFlags) add(fl *pflag.FlagSet, what string) {
	fl.BoolVar(&f.children, "children", false, what+" the programs that it starts, too, and those that they start; -o names a directory")
}

// room makes the directory that -o names, and turns -o into the first program's profile in it.
func (f *familyFlags) room(output *string, force bool, me profile.RankInfo, program string) error {
	switch {
	case !f.children:
		return nil
	case me.Launcher != "":
		return usage(fmt.Errorf("--children under %s: a rank has one profile; leave it out", me.Launcher))
	case *output == defaultProfile:
		return usage(errors.New("--children: name a directory for the profiles with -o"))
	}
	dir, err := filepath.Abs(*output)
	if err != nil {
		return failed(fmt.Errorf("-o %s: %w", *output, err))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return failed(fmt.Errorf("-o %s: a directory for the profiles: %w", *output, err))
	}
	old, err := familyFiles(dir)
	switch {
	case err != nil:
		return failed(err)
	case len(old) > 0 && !force:
		return failed(fmt.Errorf("-o %s: there are profiles of another run; name another directory, or remove them (--force does)", *output))
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return failed(err)
		}
	}
	f.dir, *output = dir, sim.ChildProfile(dir, program, os.Getpid())
	return nil
}

// familyFiles are the profiles in a directory, the largest first.
func familyFiles(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.lime"))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(paths, func(a, b string) int {
		if d := sizes([]string{b}) - sizes([]string{a}); d != 0 {
			return int(min(max(d, -1), 1))
		}
		return strings.Compare(a, b)
	})
	return paths, nil
}

// escapeGlob makes a path a pattern that matches itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// tellFamily says which of the profiles in a directory there are to look at.
func tellFamily(dir string, paths []string) error {
	const most = 20
	var b strings.Builder
	fmt.Fprintf(&b, "%s: profiles of %d programs, each of its own; name one of them:", dir, len(paths))
	for _, path := range paths[:min(len(paths), most)] {
		fmt.Fprintf(&b, "\n  %s  %s", path, familyLine(path))
	}
	if n := len(paths) - most; n > 0 {
		fmt.Fprintf(&b, "\n  and %d smaller ones", n)
	}
	return errors.New(b.String())
}

// familyLine is a program in a few words.
func familyLine(path string) string {
	r, err := profile.Open(path)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer r.Close()
	m := r.Meta()
	words := strings.Join(m.Command, " ")
	if len(words) > 60 {
		words = words[:57] + "..."
	}
	threads, plural := len(r.Tables().Threads), "s"
	if threads == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d thread%s, %s %s: %s", threads, plural, unit.SI(float64(m.RunTime)), m.ClockUnit, words)
}
