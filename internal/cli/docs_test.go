package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

const commandsFile = "../../docs/commands.md"

// commandsPage is docs/commands.md: the help of every verb.
func commandsPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# The commands\n\nWritten from the command definitions by `go test ./internal/cli -update`; `lime " +
		"man` prints the same as man pages.\n")
	a := &app{}
	var page func(cmd *cobra.Command, words []string)
	page = func(cmd *cobra.Command, words []string) {
		_, help, _ := lime(t, append(words, "--help")...)
		fmt.Fprintf(&b, "\n## `%s`\n\n```text\n%s\n```\n", strings.Join(append([]string{"lime"}, words...), " "), strings.TrimSpace(help))
		for _, sub := range cmd.Commands() {
			if name := sub.Name(); !sub.Hidden && name != "completion" && name != "help" {
				page(sub, append(append([]string{}, words...), name))
			}
		}
	}
	page(a.root(), nil)
	return b.String()
}

func TestCommandsAreDocumented(t *testing.T) {
	got := commandsPage(t)
	if *update {
		if err := os.WriteFile(commandsFile, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(commandsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/commands.md is not as the commands are; run go test ./internal/cli -update (-want +got):\n%s", diff)
	}
}

// Every exit status of the table is one of the constants.
func TestExitStatusesAreDistinct(t *testing.T) {
	seen := map[int]bool{}
	table := fmt.Sprint(exitCodes())
	for _, code := range []int{ExitOK, ExitUsage, ExitWeak, ExitGate, ExitFailed, ExitCannotRun, ExitNotFound} {
		if seen[code] {
			t.Errorf("status %d has two meanings", code)
		}
		seen[code] = true
		if !strings.Contains(table, fmt.Sprintf("{%d ", code)) {
			t.Errorf("status %d is not in the table", code)
		}
	}
}
