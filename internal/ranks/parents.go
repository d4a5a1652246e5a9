package ranks

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// Who started this process: some launchers tell their job only to one another.

// Parents are the commands of the processes that led to this one, the nearest first.
type Parents func() [][]string

// Ancestors are those of the running process, as far as /proc tells: a launcher's own helper, or
// a shell in between.
func Ancestors() (list [][]string) {
	const far = 4 // beyond a helper and a script or two it is no longer the launcher
	pid := os.Getppid()
	for range far {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return list
		}
		list = append(list, strings.Split(string(bytes.TrimRight(text, "\x00")), "\x00"))
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		i := bytes.LastIndexByte(stat, ')') // the name before it may hold anything
		if err != nil || i < 0 {
			return list
		}
		var state string
		if n, _ := fmt.Sscan(string(stat[i+1:]), &state, &pid); n < 2 || pid <= 0 {
			return list
		}
	}
	return list
}
