package cli

import (
	"errors"
	"io"
	"os"

	"lime/internal/safe"
)

// form is what an output is to its reader.
type form int

const (
	asText  form = iota // for people: what steers a terminal is a dot
	asData              // for programs, in text: what steers a terminal is an escape
	asBytes             // for programs: as it is, the exporter sees to its strings
)

func dataIf(data bool) form {
	if data {
		return asData
	}
	return asText
}

// output writes to the file at path, or to standard output if path is "" or "-".
func (a *app) output(path string, as form, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return failed(gated(a.program.stdout, as, write))
	}
	file, err := os.Create(path)
	if err != nil {
		return failed(err)
	}
	return failed(errors.Join(gated(file, as, write), file.Close()))
}

// gated writes through the gate of a form.
func gated(w io.Writer, as form, write func(io.Writer) error) error {
	if as == asBytes {
		return write(w)
	}
	standIn := safe.Dot
	if as == asData {
		standIn = safe.Escape
	}
	g := safe.NewWriter(w, standIn)
	return errors.Join(write(g), g.Flush())
}
