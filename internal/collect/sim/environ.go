// The environment that the program gets.

package sim

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// environ is lime's own environment as a shell would have given it to the program: shells put the
// path of what they start into the variable _, and the program is not to see where lime lies. Its
// length alone would move all that is on the stack.
func environ(cmd string) []string {
	env := os.Environ()
	i := slices.IndexFunc(env, func(s string) bool { return strings.HasPrefix(s, "_=") })
	if i < 0 || !isLime(env[i][2:]) {
		return env
	}
	if path, err := exec.LookPath(cmd); err == nil {
		cmd = path
	}
	env[i] = "_=" + cmd
	return env
}

// isLime reports whether a path is that of this program.
func isLime(path string) bool {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	other, err := os.Stat(path)
	return err == nil && os.SameFile(self, other)
}
