package binfile

import (
	"bytes"
	"errors"
	"io"

	"github.com/ulikunitz/xz"
)

const (
	maxMini     = 64 << 20 // bytes of the unpacked file
	maxDictBits = 28       // of its dictionary: 64 MB
)

// miniSymbols reads the symbols that some distributions leave in stripped files: an ELF file with a
// symbol table only, packed by xz, in the section .gnu_debugdata.
func (f *File) miniSymbols() (out []Symbol) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	packed, _, err := f.Section(".gnu_debugdata")
	if err != nil {
		return nil
	}
	b, err := unxz(packed)
	if err != nil {
		return nil
	}
	mini, err := NewFile(bytes.NewReader(b), f.Path)
	if err != nil {
		return nil
	}
	return mini.table(mini.elf.Symbols)
}

// unxz unpacks a stream whose dictionary is not too large.
func unxz(packed []byte) ([]byte, error) {
	// Stream header of 12 bytes; block header: its size, flags, filter 0x21 (LZMA2), size of its
	// properties, dictionary size.
	if len(packed) < 17 || packed[14] != 0x21 || packed[16] > maxDictBits {
		return nil, errors.New("unusual xz stream")
	}
	r, err := xz.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxMini+1))
	if len(b) > maxMini {
		return nil, errors.New("too large")
	}
	return b, err
}
