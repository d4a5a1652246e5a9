package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lime/internal/collect/callgrind"
	"lime/internal/profile"
	"lime/internal/safe"
)

func (a *app) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Make a profile of another tool's data",
		Args:  noVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.importCallgrindCommand())
	return cmd
}

// callgrindFlags are the options of import callgrind.
type callgrindFlags struct {
	output, threads string
	force           bool
	parts           bool
}

func (a *app) importCallgrindCommand() *cobra.Command {
	var f callgrindFlags
	cmd := &cobra.Command{
		Use:   "callgrind FILE...",
		Short: "Make a profile of callgrind's output",
		Long: `import callgrind makes a profile of the files that valgrind's callgrind wrote,
one for each thread:

    valgrind --tool=callgrind --separate-threads=yes --dump-instr=yes \
        --collect-jumps=yes --callgrind-out-file=cg.out ./app
    lime import callgrind cg.out-*

Callgrind tells neither sections nor waits: the profile has one section, and a
thread's time is the instructions that it ran. Cache and branch simulation
(--cache-sim=yes --branch-sim=yes) become hardware events.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.importCallgrind(args, &f) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", defaultProfile, "write the profile to this `file`")
	forceFlag(fl, &f.force)
	fl.StringVar(&f.threads, "threads", "",
		"compare these `threads`, as in 2-9,12; otherwise those that ran the function that most of them share")
	fl.BoolVar(&f.parts, "parts", false, "each part (--dump-after and the like) is an instance of its own")
	return cmd
}

func (a *app) importCallgrind(paths []string, f *callgrindFlags) error {
	o := callgrind.Options{Parts: f.parts, Source: readLines}
	if f.threads != "" {
		threads, err := callgrind.ParseThreads(f.threads)
		if err != nil {
			return usage(err)
		}
		o.Threads = threads
	}
	dumps, err := readDumps(paths)
	if err != nil {
		return failed(err)
	}
	return failed(writeImport(f.output, f.force, dumps, o))
}

// readDumps reads the files; those that hold nothing, which callgrind leaves
// behind beside the threads' own, are passed over.
func readDumps(paths []string) ([]*callgrind.Dump, error) {
	var out []*callgrind.Dump
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && info.Size() == 0 {
			continue
		}
		dumps, err := readDump(path)
		if err != nil {
			return nil, err
		}
		out = append(out, dumps...)
	}
	if len(out) == 0 {
		return nil, errors.New("the files are empty; callgrind writes them when the program ends")
	}
	return out, nil
}

func readDump(path string) ([]*callgrind.Dump, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return callgrind.Parse(f, path)
}

// writeImport converts in memory first, so that a failure leaves no file behind.
func writeImport(path string, force bool, dumps []*callgrind.Dump, o callgrind.Options) error {
	p := profile.New(profile.Meta{})
	if err := callgrind.Convert(dumps, p, o); err != nil {
		return err
	}
	if err := profile.Validate(p); err != nil {
		return fmt.Errorf("the files contradict one another: %w", err)
	}
	return profile.Save(path, force, p)
}
