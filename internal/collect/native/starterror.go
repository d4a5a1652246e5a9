package native

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"lime/internal/binfile"
)

// startError says why a program could not be started, and what to do.
type startError struct {
	name, why, hint string
	err             error
}

func (e *startError) Error() string {
	if e.hint == "" {
		return e.name + ": " + e.why
	}
	return fmt.Sprintf("%s: %s (%s)", e.name, e.why, e.hint)
}

func (e *startError) Unwrap() error { return e.err }

var errNoName = errors.New("no program named")

// notStarted explains what the kernel, or the search for the program, answered.
func notStarted(name string, err error) error {
	out := &startError{name: name, err: err}
	switch st, statErr := os.Stat(name); {
	case name == "":
		out.name, out.why, out.hint, out.err = `""`, errNoName.Error(), "lime record -- PROGRAM ARGS", errNoName
	case (errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot)) && !strings.Contains(name, "/"):
		out.why, out.hint = "command not found", "check the name and PATH"
		if statErr == nil {
			out.hint = "it is in the current directory: write ./" + name
		}
	case errors.Is(statErr, fs.ErrNotExist), errors.Is(statErr, unix.ENOTDIR):
		out.why, out.hint = "no such file", "check the name; a program in the current directory needs ./"
	case errors.Is(err, fs.ErrNotExist):
		out.why, out.hint = "its interpreter is missing", missing(name)
	case statErr == nil && st.IsDir():
		out.why = "a directory, not a program"
	case errors.Is(err, fs.ErrPermission) && statErr == nil && st.Mode()&0o111 == 0:
		out.why, out.hint = "not executable", "chmod +x "+name
	case errors.Is(err, unix.ENOEXEC):
		out.why, out.hint = "neither a program for this machine nor a script that begins with #!", "for a shell script: lime record -- sh "+name
	default:
		return fmt.Errorf("start %s: %w", name, err)
	}
	return out
}

var errKind = errors.New("a program for another kind of processor")

// wrongKind tells that a program which has been started is not for x86-64.
func wrongKind(name string, pid int) error {
	f, err := binfile.Open(procPath(pid, "exe"))
	if err != nil {
		return nil // whoever needs to read it will tell
	}
	defer f.Close()
	if f.Class == elf.ELFCLASS64 && f.Machine == elf.EM_X86_64 {
		return nil
	}
	kind := f.Machine.String()
	switch f.Machine {
	case elf.EM_386:
		kind = "32-bit x86"
	case elf.EM_X86_64:
		kind = "x32, with 32-bit addresses"
	}
	return &startError{name: name, why: "a program for " + kind, hint: "lime records x86-64 programs only: build it with -m64", err: errKind}
}

// missing names the interpreter that a file asks for: that of a script, or the dynamic linker.
func missing(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n') // what can be read is enough
	if words := strings.Fields(strings.TrimPrefix(line, "#!")); strings.HasPrefix(line, "#!") && len(words) > 0 {
		return fmt.Sprintf("its first line names %q", words[0])
	}
	if bin, err := binfile.NewFile(f, name); err == nil && bin.Interp != "" {
		return "it asks for " + bin.Interp
	}
	return "neither it nor the file it names as its interpreter can be run"
}
