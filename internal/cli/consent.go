package cli

// Whether the command that a profile names may be run: a profile may come from a stranger. What was
// simulated here before is run without a question; for all else the command is shown, and a person
// or --yes decides.

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lime/internal/profile"
	"lime/internal/safe"
)

// mayRepeat reports why the run of a profile cannot or may not be repeated; nil if it may.
func (a *app) mayRepeat(src profile.Source, yes bool) error {
	if err := repeatable(src); err != nil {
		return err
	}
	command := src.Meta().Command
	if yes || a.ran(command) {
		return nil
	}
	shown := quoted(command)
	if !isTerminal(a.stdin) || !isTerminal(a.stderr) {
		return fmt.Errorf("this would run the command that the profile names, which was not simulated here before: "+
			"%s; if you trust it, say --yes", shown)
	}
	return a.ask(shown)
}

// yesFlag adds --yes.
func yesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "run the command that the profile names, whoever wrote it")
}

// ask has a person at the terminal decide.
func (a *app) ask(shown string) error {
	dir, _ := os.Getwd()
	fmt.Fprintf(a.stderr, "The profile names a command that was not simulated here before:\n    %s\nin %s. Run it? [y/N] ", shown, dir)
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n')
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
		return errors.New("not run, as you said")
	}
	return nil
}

// quoted is a command as a shell would take it, with what steers a terminal made visible.
func quoted(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return !plain(r) }) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = safe.Visible(w, safe.Escape)
	}
	return strings.Join(words, " ")
}

// plain tells the characters that no shell gives a meaning.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./,:@%", r)
}

// The list of what was simulated here: a line for each command, its digest. It is halved when it is
// full, and what is forgotten is asked about again.
const (
	digestLine  = 2*sha256.Size + 1 // bytes
	listedRuns  = 8192              // commands: half a megabyte, many years of one person's different commands
	listedBytes = listedRuns * digestLine
)

// runsList is the file of the list, "" if there is no room for one.
func (a *app) runsList() string {
	if dir := a.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "lime", "simulated")
	}
	if home := a.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "lime", "simulated")
	}
	return ""
}

// remember notes that a command is simulated here. That it cannot be noted leads to a question
// later.
func (a *app) remember(command []string) {
	path, line := a.runsList(), digest(command)
	if path == "" || line == "" || a.ran(command) || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	shorten(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(line + "\n") // in one piece, beside others that do the same
	_ = f.Close()
}

// shorten leaves the newer half of a list that is full.
func shorten(path string) {
	text, err := readList(path)
	if err != nil || len(text) < listedBytes {
		return
	}
	tmp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if os.WriteFile(tmp, text[listedBytes/2:], 0o600) == nil {
		_ = os.Rename(tmp, path)
	}
}

// ran tells whether a command was simulated here: the same program, byte for byte, with the same
// arguments in the same directory.
func (a *app) ran(command []string) bool {
	path, line := a.runsList(), digest(command)
	if path == "" || line == "" {
		return false
	}
	text, err := readList(path)
	return err == nil && slices.Contains(strings.Split(string(text), "\n"), line)
}

// readList reads the list, as far as a list of ours goes. Only its owner may have written it.
func readList(path string) ([]byte, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s: others may write to it", path)
	}
	return io.ReadAll(io.LimitReader(f, listedBytes+digestLine))
}

// digest names a command: its directory, the bytes of its program, its arguments; "" if there is no
// such program.
func digest(command []string) string {
	if len(command) == 0 {
		return ""
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return ""
	}
	program, err := safe.Open(path)
	if err != nil {
		return ""
	}
	defer program.Close()
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	image, h := sha256.New(), sha256.New()
	if _, err := io.Copy(image, program); err != nil {
		return ""
	}
	fmt.Fprintf(h, "%q %x %q", dir, image.Sum(nil), command)
	return hex.EncodeToString(h.Sum(nil))
}
