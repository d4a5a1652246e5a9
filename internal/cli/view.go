package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lime/internal/analysis"
	"lime/internal/ranks"
	"lime/internal/view"
)

// viewFlags are the options of view.
type viewFlags struct {
	listen, export     string
	noBrowser, noCache bool
	allowRun, binaries bool
	analysis           analysis.Options
}

func (a *app) viewCommand() *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "view [PROFILE|DIRECTORY...]",
		Short: "Look at profiles in a browser",
		Long: `view shows profiles in a browser: what is lost, sections as heat maps of threads
and instances, the threads over time, call paths, source, and two runs beside
each other. It reads ` + defaultProfile + `, the PROFILEs that are
named, or those in a DIRECTORY (` + defaultProfile + ` and *.lime); a DIRECTORY of
ranks is one run.

It prints the page's address and serves it until it is interrupted: on this
machine alone, on a free port, to those who have the address with its token. On
a machine far away, forward the port: ssh -L 8080:127.0.0.1:PORT machine, and
open the address with 8080 for its port.

What takes long to make of a large profile is kept in ~/.cache/lime/view
($XDG_CACHE_HOME), so that it opens at once the next time.

--allow-run has buttons beside causes and lines that run the program of a
simulated profile again without them, as whatif and report --verify do.

--export writes the page and all that it shows of small profiles to a directory
instead, to be opened from there or put on any web server.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.view(cmd.Context(), args, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "", "serve at this `host:port` instead; others may then reach it")
	fl.BoolVar(&f.noBrowser, "no-browser", false, "print the address, do not open a browser")
	fl.StringVar(&f.export, "export", "", "write a static copy to this `directory`, and serve nothing")
	fl.BoolVar(&f.allowRun, "allow-run", false, "let the page run the profiles' programs again, changed, as whatif does")
	fl.BoolVar(&f.binaries, "binaries", false, "read the binaries that the profiles name, to show instructions beside the source")
	fl.BoolVar(&f.noCache, "no-cache", false, "keep nothing for the next start")
	analysisFlags(cmd, &f.analysis)
	return cmd
}

func (a *app) view(ctx context.Context, args []string, f *viewFlags) error {
	if err := checkAnalysis(&f.analysis); err != nil {
		return err
	}
	paths, err := profilesIn(args)
	if err != nil {
		return err
	}
	runs, closeRuns, err := openRuns(paths, f.analysis, new(view.Heap))
	defer closeRuns()
	if err != nil {
		return err
	}
	if f.export != "" {
		return failed(view.Export(f.export, runs))
	}
	if dir := a.viewCache(); dir != "" && !f.noCache {
		for _, r := range runs {
			if err := r.Keep(dir, f.analysis); err != nil {
				fmt.Fprintln(a.stderr, "lime:", err) // it is slower, and works
			}
		}
	}
	return a.serve(ctx, paths, runs, f)
}

// viewCache is the directory for what view keeps of profiles between two starts, "" if there is
// none.
func (a *app) viewCache() string {
	if a.getenv == nil {
		return ""
	}
	if dir := a.getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "lime", "view")
	}
	if home := a.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "lime", "view")
	}
	return ""
}

// serve answers until the user interrupts it.
func (a *app) serve(ctx context.Context, paths []string, runs []*view.Run, f *viewFlags) error {
	s, err := view.Listen(f.listen, runs)
	if err != nil {
		return failed(err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if f.binaries {
		s.AllowBinaries(newViewBinaries(view.Tables(runs)))
	}
	if f.allowRun {
		s.Allow(ctx, &viewAgain{app: a, paths: paths, an: f.analysis})
	}
	if !s.Loopback() {
		fmt.Fprintln(a.stderr, "lime: others on the network may reach this address; what they read is not encrypted on its way")
	}
	fmt.Fprintln(a.stdout, s.Address())
	if !f.noBrowser && a.desktop() {
		openBrowser(s.Address())
	}
	return failed(s.Serve(ctx))
}

// desktop tells whether there is one to open a browser on.
func (a *app) desktop() bool {
	return a.getenv != nil && isTerminal(a.stdout) && (a.getenv("DISPLAY") != "" || a.getenv("WAYLAND_DISPLAY") != "")
}

// openBrowser opens an address; the address has been printed, in case nothing comes of it.
func openBrowser(address string) {
	cmd := exec.Command("xdg-open", address)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}

// profilesIn lists the profiles that the arguments name.
func profilesIn(args []string) ([]string, error) {
	if len(args) == 0 {
		return []string{defaultProfile}, nil
	}
	var out []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() {
			out = append(out, arg) // openProfile says what is wrong with it
			continue
		}
		if of, err := ranks.Files(arg); err == nil && len(of) > 0 {
			out = append(out, arg) // one run
			continue
		}
		found, err := profilesOf(arg)
		if err != nil {
			return nil, failed(err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// profilesOf lists the profiles of a directory.
func profilesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && (e.Name() == defaultProfile || strings.HasSuffix(e.Name(), ".lime")) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no profile (%s or *.lime)", dir, defaultProfile)
	}
	return out, nil
}

// openRuns opens profiles for the view.
func openRuns(paths []string, o analysis.Options, heap *view.Heap) (runs []*view.Run, closeAll func() error, err error) {
	var closers []func() error
	closeAll = func() error {
		var errs []error
		for _, c := range slices.Backward(closers) {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	for _, path := range paths {
		src, closeSource, err := openProfile(path)
		if err != nil {
			return nil, closeAll, err
		}
		closers = append(closers, closeSource)
		any, ok := src.(view.Source)
		if !ok {
			return nil, closeAll, failed(fmt.Errorf("%s cannot be read in any order", path))
		}
		runs = append(runs, view.NewRun(any, path, o, heap))
	}
	return runs, closeAll, nil
}
