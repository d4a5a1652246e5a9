package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"lime/internal/profile"
	"lime/internal/safe"
)

// defaultProfile is the file that collectors write and reports read unless told otherwise.
const defaultProfile = "lime.data"

// textMark begins a profile in text form.
const textMark = "lime-profile "

// openProfile opens a profile, in its file format or in text, or the profiles of a run's ranks in a
// directory as one.
func openProfile(path string) (profile.Source, func() error, error) {
	if isDir(path) {
		return openRanks(path)
	}
	text, err := isText(path)
	if err != nil {
		return nil, nil, failed(explainOpen(path, err))
	}
	if text {
		return openText(path)
	}
	r, err := profile.Open(path)
	if err != nil {
		return nil, nil, failed(err)
	}
	if err := resolved(r); err != nil {
		r.Close()
		return nil, nil, failed(err)
	}
	return r, r.Close, nil
}

func openText(path string) (profile.Source, func() error, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, nil, failed(err)
	}
	defer f.Close()
	p, err := profile.ReadText(f)
	if err != nil {
		return nil, nil, failed(fmt.Errorf("profile %s: %w", path, err))
	}
	return p, func() error { return nil }, failed(resolved(p))
}

// isText tells whether the file at path is a profile in text form.
func isText(path string) (bool, error) {
	f, err := safe.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, _ := bufio.NewReader(f).Peek(len(textMark))
	return strings.HasPrefix(string(head), textMark), nil
}

// explainOpen tells what to do about a file that cannot be opened.
func explainOpen(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if path == defaultProfile {
			return fmt.Errorf("no %s here; run 'lime simulate -- PROGRAM' first, or name the profile", path)
		}
		return fmt.Errorf("no profile %s", path)
	}
	return err
}

// oneOr returns the only argument, or else.
func oneOr(args []string, otherwise string) string {
	if len(args) == 1 {
		return args[0]
	}
	return otherwise
}
