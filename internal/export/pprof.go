package export

import (
	"cmp"
	"io"
	"path"
	"slices"

	pprof "github.com/google/pprof/profile"

	"lime/internal/origin"
	"lime/internal/profile"
)

// Pprof writes a profile for 'go tool pprof': its call paths, or its blocks alone if it has none.
func Pprof(w io.Writer, src profile.Source) error {
	src = newVisible(src)
	if len(src.Tables().PathSamples) > 0 {
		return pprofPaths(w, src)
	}
	return pprofBlocks(w, src)
}

// pprofFile is a file in the making: the images, and every function once.
type pprofFile struct {
	t         *profile.Tables
	out       *pprof.Profile
	images    []*pprof.Mapping // by image
	functions map[pprofFunction]*pprof.Function
}

type pprofFunction struct{ name, file string }

func newPprofFile(src profile.Source) pprofFile {
	t := src.Tables()
	f := pprofFile{t: t, out: &pprof.Profile{}, functions: map[pprofFunction]*pprof.Function{}}
	for i := range t.Images {
		im := &t.Images[i]
		f.images = append(f.images, &pprof.Mapping{ID: uint64(i) + 1, Start: im.Lo, Limit: im.Hi, File: im.Path, BuildID: im.BuildID,
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true})
	}
	f.out.Mapping = slices.Clone(f.images)
	if i := programImage(src); i > 0 { // the tool takes the first for the program
		f.out.Mapping[0], f.out.Mapping[i] = f.out.Mapping[i], f.out.Mapping[0]
	}
	return f
}

// programImage is the image of the program that was run, or of one that it went on as; -1 if there
// is none.
func programImage(src profile.Source) int {
	images := src.Tables().Images
	if command := src.Meta().Command; len(command) > 0 {
		if i := slices.IndexFunc(images, func(im profile.Image) bool { return path.Base(im.Path) == path.Base(command[0]) }); i >= 0 {
			return i
		}
	}
	return slices.IndexFunc(images, func(im profile.Image) bool { return !origin.LibraryImage(im.Path) })
}

// location adds a place in an image.
func (f *pprofFile) location(image profile.ImageID, addr uint64, lines ...pprof.Line) *pprof.Location {
	l := &pprof.Location{ID: uint64(len(f.out.Location)) + 1, Address: addr, Line: lines}
	if image >= 0 {
		l.Mapping = f.images[image]
	}
	f.out.Location = append(f.out.Location, l)
	return l
}

func (f *pprofFile) function(name, file string) *pprof.Function {
	k := pprofFunction{name, file}
	if fn := f.functions[k]; fn != nil {
		return fn
	}
	fn := &pprof.Function{ID: uint64(len(f.out.Function)) + 1, Name: name, SystemName: name, Filename: file}
	f.functions[k] = fn
	f.out.Function = append(f.out.Function, fn)
	return fn
}

// pprofUnit is pprof's word for the unit of a clock.
func pprofUnit(clock string) string {
	if clock == "ns" {
		return "nanoseconds"
	}
	return cmp.Or(clock, "count")
}
