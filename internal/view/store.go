// What took long to make of a profile is kept in files: its index, and answers. The next start
// reads them back.

package view

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lime/internal/safe"
)

// store is the directory of one profile. A nil store keeps nothing: what cannot be kept is made
// again.
type store struct {
	dir   string
	worth time.Duration // what took less to make is not kept
}

// Bounds of what is kept.
const (
	worthKeeping = 20 * time.Millisecond // about what a person does not notice, and ten times what reading a file takes
	keptTotal    = 4 << 30               // bytes, of all profiles together: a dozen of the largest that people look at
)

// openStore finds or makes the directory for a profile in root. The name says which file it was
// made of, in which state, and by which lime: another of these leads to another directory, and what
// was kept of the same file before is dropped.
func openStore(root, path, state string) (*store, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(root); err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s: others may write to it", root)
	}
	of := short(whole) + "-"
	s := &store{dir: filepath.Join(root, of+short(state)), worth: worthKeeping}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), of) && e.Name() != filepath.Base(s.dir) {
			os.RemoveAll(filepath.Join(root, e.Name()))
		}
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	now := time.Now()
	_ = os.Chtimes(s.dir, now, now) // the last to be dropped
	sweep(root, s.dir, keptTotal)
	return s, nil
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:10])
}

// sweep drops what was not used for longest, until the rest takes at most limit bytes. What is just
// being used stays.
func sweep(root, keep string, limit int64) {
	type place struct {
		dir  string
		used time.Time
		size int64
	}
	var all []place
	total := int64(0)
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() {
			continue
		}
		p := place{dir: filepath.Join(root, e.Name()), used: info.ModTime()}
		_ = filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					p.size += info.Size()
				}
			}
			return nil
		})
		total += p.size
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.dir, b.dir)) })
	for _, p := range all {
		if total <= limit {
			return
		}
		if p.dir != keep {
			os.RemoveAll(p.dir)
			total -= p.size
		}
	}
}

// file is where something is kept.
func (s *store) file(name string) string { return filepath.Join(s.dir, name) }

// write keeps bytes in one piece: whoever reads finds all of them or nothing. What a killed lime
// leaves beside them does not add up.
func (s *store) write(name string, fill func(*os.File) error) error {
	f, err := safe.Temp(s.file(name))
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = os.Rename(f.Name(), s.file(name)) // before it is closed, and not locked any more
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return cmp.Or(err, f.Close())
}

// Answers begin with a letter that says what they are.
const (
	markJSON   = 'j'
	markBinary = 'b'
)

func answerFile(question string) string { return "a" + short(question) }

// find returns an answer that was kept, or nil.
func (s *store) find(question string) *Answer {
	if s == nil {
		return nil
	}
	b, err := os.ReadFile(s.file(answerFile(question)))
	if err != nil || len(b) == 0 {
		return nil
	}
	switch b[0] {
	case markJSON:
		return &Answer{typeJSON, b[1:]}
	case markBinary:
		return &Answer{typeBinary, b[1:]}
	}
	return nil
}

// keep keeps an answer that took so long to make.
func (s *store) keep(question string, a *Answer, took time.Duration) {
	if s == nil || took < s.worth {
		return
	}
	mark := byte(markBinary)
	if a.Type == typeJSON {
		mark = markJSON
	}
	_ = s.write(answerFile(question), func(f *os.File) error { // what cannot be kept is made again
		_, err := f.Write(append([]byte{mark}, a.Body...))
		return err
	})
}
