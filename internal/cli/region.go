package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lime/internal/binfile"
	"lime/internal/collect/image"
	"lime/internal/collect/region"
	"lime/internal/profile"
	"lime/internal/symbol"
)

// regionFlags are the options that say which part of the run is measured.
type regionFlags struct{ spec region.Spec }

func (f *regionFlags) add(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.spec.From, "from", nil, "measure only while some thread is in this `function`, each time it runs; may be repeated")
	fl.StringVar(&f.spec.Phase, "phase", "", "measure only while some thread is in a phase that the program marks by this `name` "+
		"(LIME_BEGIN of lime.h); "+region.AnyPhase+": in any")
	f.addTimes(fl)
}

// addTimes adds those that a collector understands which sees no calls of the program's functions.
func (f *regionFlags) addTimes(fl *pflag.FlagSet) {
	fl.DurationVar(&f.spec.Delay, "delay", 0, "measure nothing before this `time` is over, for example 2s")
	fl.DurationVar(&f.spec.Duration, "duration", 0, "measure for this `time` in all")
}

// check says what does not go together, and which functions the program does not have.
func (f *regionFlags) check(program []string, me profile.RankInfo, children bool) error {
	if err := f.spec.Check(); err != nil {
		return usage(err)
	}
	switch {
	case !f.spec.On():
		return nil
	case children:
		return usage(errors.New("--children and a part of the run: each program would have parts of its own; choose one of them"))
	case me.Launcher != "":
		return usage(fmt.Errorf("a part of the run under %s: the ranks' parts would not belong together; measure the whole run", me.Launcher))
	case len(f.spec.From) > 0 && len(program) > 0:
		return f.exist(program[0])
	}
	return nil
}

// exist reports whether a program, or a library that it is linked with, has the functions. Of what
// cannot be read, a script or a file without symbols, nothing is said.
func (f *regionFlags) exist(program string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil // whoever runs it says so
	}
	files, readable := linkedWith(path)
	var names []string
	missing := slices.Clone(f.spec.From)
	for _, file := range files {
		syms := functionsOf(file)
		readable = readable && (len(syms) > 0 || file != path)
		for _, s := range syms {
			link, _, _ := strings.Cut(s, "@")
			name := symbol.Demangle(link)
			missing = slices.DeleteFunc(missing, func(from string) bool {
				one := region.Spec{From: []string{from}}
				return one.Mark(link, name) != region.None
			})
			if len(missing) == 0 {
				return nil
			}
			names = append(names, name)
		}
	}
	if !readable {
		return nil
	}
	words := fmt.Sprintf("--from %s: neither %s nor the libraries that it is linked with have such a function", missing[0], program)
	if near := region.Near(missing[0], names); len(near) > 0 {
		words += "; there is " + strings.Join(near, ", ")
	}
	return usage(errors.New(words + " (a function that the compiler has inlined everywhere, or one of a library that is loaded later, is not found)"))
}

// functionsOf lists the symbols of a file's functions.
func functionsOf(path string) (out []string) {
	im := image.Open(path)
	defer im.Close()
	im.Load()
	for _, s := range im.Code() {
		if s.Kind == binfile.SymFunc || s.Kind == binfile.SymIFunc {
			out = append(out, s.Name)
		}
	}
	return out
}

// linkedWith lists a program and the libraries that it is linked with, as its loader finds them
// (ld.so(8), --list). ok is false if the file is no program, or its loader does not say.
func linkedWith(path string) (files []string, ok bool) {
	b, err := binfile.Open(path)
	if err != nil {
		return nil, false
	}
	defer b.Close()
	files = []string{path}
	text, _, err := b.Section(".interp")
	loader := strings.TrimRight(string(text), "\x00")
	if err != nil || loader == "" {
		return files, true
	}
	cmd := exec.Command(loader, "--list", path)
	cmd.Env = os.Environ()
	out, err := cmd.Output()
	if err != nil {
		return files, false
	}
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "/") {
				files = append(files, word)
			}
		}
	}
	return files, true
}

// nothingMeasured takes an empty profile away and says why it was empty.
func nothingMeasured(output, why string) error {
	_ = profile.Remove(output) // an empty profile helps nobody
	return failed(fmt.Errorf("nothing was measured, and there is no profile: %s", why))
}
