package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manDate dates the man pages, so that equal sources give equal pages.
var manDate = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func (a *app) manCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [VERB]",
		Short: "Print a man page, or write all of them",
		Long:  "man prints the man page of lime, or of one of its verbs.",
		Args:  cobra.MaximumNArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.man(cmd.Root(), dir, args) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write every page into this `directory`")
	return cmd
}

func (a *app) man(root *cobra.Command, dir string, args []string) error {
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: "lime " + version, Manual: "lime", Date: &manDate}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return failed(err)
		}
		return failed(doc.GenManTree(root, header, dir))
	}
	cmd, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return usage(fmt.Errorf("no verb %q", args[0]))
	}
	return failed(doc.GenMan(cmd, header, a.stdout))
}
