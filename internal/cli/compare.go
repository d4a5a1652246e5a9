// What counting costs: the program is run natively once, too.

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
)

// cost is what a run took.
type cost struct{ wall, cpu time.Duration }

// costOf measures what f's child processes take, which it waits for.
func costOf(f func()) cost {
	began, before := time.Now(), childTime()
	f()
	return cost{time.Since(began), childTime() - before}
}

// childTime is the processor time of the child processes that have been waited for.
func childTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// second is a program to be run natively, with the input that it has had before.
type second struct {
	args  []string
	input *os.File // nil: none
	from  int64
}

// rerunnable prepares a second run of a program, before the first: what it reads must be there
// twice.
func (a *app) rerunnable(args []string) (*second, error) {
	n := &second{args: args}
	f, ok := a.stdin.(*os.File)
	if a.stdin == nil {
		f, ok = os.Stdin, true
	}
	if !ok {
		return n, nil
	}
	info, err := f.Stat()
	if err != nil { // closed
		return n, nil
	}
	switch {
	case info.Mode().IsRegular():
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, fmt.Errorf("--compare: the program's input: %w", err)
		}
		n.input, n.from = f, at
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0:
		return nil, usage(errors.New("--compare runs the program twice, and its input is a pipe, which can be read " +
			"once: give it a file (< FILE), or /dev/null"))
	}
	return n, nil
}

// run runs it; what it prints has been printed by the first run.
func (n *second) run() (string, error) {
	cmd := exec.Command(n.args[0], n.args[1:]...)
	if n.input != nil {
		f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", n.input.Fd()))
		if err != nil {
			return "", err
		}
		defer f.Close()
		if _, err := f.Seek(n.from, io.SeekStart); err != nil {
			return "", err
		}
		cmd.Stdin = f
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ProcessState.String(), nil
	}
	return "exit status 0", err
}

// noteCost runs the program natively, and says in the profile what counting has cost.
func noteCost(path string, n *second, counted cost, ended int) error {
	var how string
	var err error
	plain := costOf(func() { how, err = n.run() })
	if err != nil {
		return fmt.Errorf("--compare: run %s natively: %w", n.args[0], err)
	}
	text := costWords(counted, plain)
	if want := fmt.Sprintf("exit status %d", ended); how != want && ended < 128 {
		text += fmt.Sprintf("; natively it ended otherwise: %s, counted %s", how, want)
	}
	return profile.Amend(path, func(m *profile.Meta) {
		m.Notes = append(m.Notes, profile.Note{Code: profile.NoteCompared, Text: text, N: 1})
	})
}

// costWords compares two runs.
func costWords(counted, plain cost) string {
	ratio := func(a, b time.Duration) string {
		const least = 10 * time.Millisecond // the clock of processor time ticks every 1 to 10 ms
		if b < least {
			return "natively " + seconds(b)
		}
		return fmt.Sprintf("%.2f times the native %s", float64(a)/float64(b), seconds(b))
	}
	return fmt.Sprintf("the run took %s, %s, and %s of processor time, %s", seconds(counted.wall), ratio(counted.wall, plain.wall),
		seconds(counted.cpu), ratio(counted.cpu, plain.cpu))
}

func seconds(d time.Duration) string { return strings.TrimSpace(fmt.Sprintf("%.2f s", d.Seconds())) }
