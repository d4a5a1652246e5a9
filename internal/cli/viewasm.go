package cli

// Instructions for the page of 'lime view --binaries'.

import (
	"errors"
	"fmt"
	"sync"

	"lime/internal/listing"
	"lime/internal/profile"
	"lime/internal/view"
)

// viewBinaries reads the binaries that profiles name.
type viewBinaries struct {
	tables []*profile.Tables
	mu     sync.Mutex
	open   map[viewImage]*viewBinary
}

// viewImage is an image of a profile.
type viewImage struct {
	profile int
	image   profile.ImageID
}

// viewBinary is a binary, or why there is none.
type viewBinary struct {
	*listing.Binary
	err error
}

var _ view.Assembler = (*viewBinaries)(nil)

func newViewBinaries(tables []*profile.Tables) *viewBinaries {
	return &viewBinaries{tables: tables, open: map[viewImage]*viewBinary{}}
}

// Block returns the instructions of a block.
func (v *viewBinaries) Block(p int, id profile.NodeID) ([]view.Instruction, error) {
	t := v.tables[p]
	n := &t.Nodes[id]
	if n.Image < 0 {
		return nil, errors.New("this code is of no file: the program made it")
	}
	im := &t.Images[n.Image]
	b := v.binary(viewImage{p, n.Image}, im)
	if b.err != nil {
		return nil, b.err
	}
	code, err := b.Block(n.Addr-im.Base, int(n.Size))
	out := make([]view.Instruction, len(code))
	for i, c := range code {
		out[i] = view.Instruction{Addr: fmt.Sprintf("%x", c.Addr), Text: c.Text, File: c.File, Line: int(c.Line)}
	}
	return out, err
}

func (v *viewBinaries) binary(k viewImage, im *profile.Image) *viewBinary {
	v.mu.Lock()
	defer v.mu.Unlock()
	if b := v.open[k]; b != nil {
		return b
	}
	b := &viewBinary{}
	b.Binary, b.err = listing.Open(im.Path, im.BuildID)
	v.open[k] = b
	return b
}
