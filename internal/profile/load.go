package profile

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lime/internal/safe"
)

// openLogged opens a file with the log of a killed or running collector beside it. SQLite
// must write to take up the log; where it may not, a copy is opened.
func (r *Reader) openLogged() error {
	db, err := openDB(r.path, "mode=rw&"+safety)
	if err == nil {
		var n int
		if err = db.QueryRow("PRAGMA schema_version").Scan(&n); err == nil {
			r.db = db
			return nil
		}
		db.Close()
	}
	if r.tmp, err = safe.TempDir(); err != nil {
		return err
	}
	to := filepath.Join(r.tmp.Path, "profile")
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(to+suffix, r.path+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	r.db, err = openDB(to, "mode=rw&"+safety)
	return err
}

func copyFile(to, from string) error {
	src, err := safe.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// loader reads the tables within one transaction.
type loader struct {
	tx      *sql.Tx
	env     env
	version int64           // of the file's format
	absent  map[string]bool // tables that the file is too old for
}

// checkSchema demands a lime profile of a version known here, with this version's tables.
func (l *loader) checkSchema() error {
	var app int64
	if err := l.tx.QueryRow("PRAGMA application_id").Scan(&app); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if err := l.tx.QueryRow("PRAGMA user_version").Scan(&l.version); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if app != applicationID {
		return errors.New("not a lime profile (a SQLite database of another program)")
	}
	if l.version > FormatVersion {
		return fmt.Errorf("written by a newer lime: format %d, this lime reads up to %d; update lime", l.version, FormatVersion)
	}
	for _, t := range schemaOf(l.version) {
		if err := l.checkTable(t); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) checkTable(t tableSpec) error {
	var create string
	err := l.tx.QueryRow("SELECT sql FROM sqlite_master WHERE type='table' AND name=?", t.name).Scan(&create)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("damaged: %w", err)
	}
	if later(t.name) && errors.Is(err, sql.ErrNoRows) {
		l.absent[t.name] = true
		return nil
	}
	if create != t.create {
		return fmt.Errorf("damaged: table %s is not as format %d has it", t.name, l.version)
	}
	return nil
}

// scan calls row for every row of a query; row reads the columns.
func (l *loader) scan(table, query string, row func(i int, rows *sql.Rows) error) error {
	rows, err := l.tx.Query(query)
	if err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		if err := row(i, rows); err != nil {
			return fmt.Errorf("table %s, row %d: %w", table, i, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	return nil
}

// loadRows reads a table whose ids count up from 0.
func loadRows[Row any](l *loader, spec rowSpec[Row], to *[]Row) error {
	if l.absent[spec.table] {
		return nil
	}
	args := []any{}
	return l.scan(spec.table, "SELECT * FROM "+spec.table+" ORDER BY id", func(i int, rows *sql.Rows) error {
		var r Row
		var id int64
		args = append(args[:0], &id)
		for _, c := range spec.cols(&r, &l.env) {
			args = append(args, c)
		}
		if err := rows.Scan(args...); err != nil {
			return err
		}
		if id != int64(i) {
			return fmt.Errorf("its id is %d", id)
		}
		*to = append(*to, r)
		return nil
	})
}

func (l *loader) load(m *Meta, t *Tables) error {
	for _, step := range []func() error{
		func() error { return l.loadMeta(m) },
		func() error { return l.ofVersion(l.loadStacks, l.loadStacks1) },
		func() error { return loadRows(l, imageRows, &t.Images) },
		func() error { return loadRows(l, fileRows, &t.Files) },
		func() error { return l.loadLines(t.Files) },
		func() error { return loadRows(l, functionRows, &t.Functions) },
		func() error {
			return l.ofVersion(func() error { return l.loadNodes(t) }, func() error { return loadRows(l, nodeRows1, &t.Nodes) })
		},
		func() error {
			return l.ofVersion(func() error { return l.loadEdges(t) }, func() error { return loadRows(l, edgeRows1, &t.Edges) })
		},
		func() error { return loadRows(l, kindRows, &t.Kinds) },
		func() error { return loadRows(l, eventRows, &t.Events) },
		func() error { return loadRows(l, sectionRows, &t.Sections) },
		func() error { return loadRows(l, threadRows, &t.Threads) },
		func() error { return loadRows(l, pathRows, &t.Paths) },
		func() error { return loadRows(l, sampleRows, &t.PathSamples) },
		func() error { return loadRows(l, wasteTotalRows, &t.WasteTotals) },
		func() error { return loadRows(l, wastePairRows, &t.WastePairs) },
		func() error { return loadRows(l, accountRows, &t.Accounts) },
		func() error { return loadRows(l, traceRows, &t.Traces) },
		func() error { return loadRows(l, lockRows, &t.Locks) },
		func() error { return loadRows(l, lockWaitRows, &t.LockWaits) },
		func() error { return loadRows(l, lockHoldRows, &t.LockHolds) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) loadMeta(m *Meta) error {
	m.FormatVersion = FormatVersion
	err := l.scan("meta", "SELECT key, value FROM meta", func(i int, rows *sql.Rows) error {
		var key string
		var value any
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		f, ok := findMeta(key)
		if !ok {
			return nil
		}
		if err := f.col(m, &l.env).Scan(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	if err == nil && (m.TimeLabel > Unavailable || m.CountLabel > Unavailable) {
		err = fmt.Errorf("table meta: label %d or %d is unknown", m.TimeLabel, m.CountLabel)
	}
	if err == nil {
		err = loadRows(l, noteRows, &m.Notes)
	}
	return err
}

func (l *loader) loadLines(files []File) error {
	lastFile, lastLine := int64(-1), int64(-1)
	return l.scan("source_line", "SELECT file, line, text FROM source_line ORDER BY file, line", func(i int, rows *sql.Rows) error {
		var file, line int64
		var s string
		if err := rows.Scan(&file, &line, text[string]{&s, &l.env}); err != nil {
			return err
		}
		if file < 0 || file >= int64(len(files)) || line < 0 || line > 1<<31-1 {
			return fmt.Errorf("line %d of file %d cannot be", line, file)
		}
		if file == lastFile && line <= lastLine || file < lastFile {
			return fmt.Errorf("line %d of file %d is out of order", line, file)
		}
		lastFile, lastLine = file, line
		if files[file].Lines == nil {
			files[file].Lines = map[int32]string{}
		}
		files[file].Lines[int32(line)] = s
		return nil
	})
}

// blobLengths is what an instance's blobs take; SQLite reads it without the blobs.
const blobLengths = "ifnull(length(parts),0)+ifnull(length(edges),0)+ifnull(length(events),0)+ifnull(length(costs),0)+ifnull(length(times),0)"

// index reads the ids of the instances by section, which stand in the order of Seq.
// Together they cannot be longer than the file: pages that several of them claim are no data.
func (l *loader) index(sections int, size int64, p *pages) ([][]int64, error) {
	ids := make([][]int64, sections)
	n := int64(0)
	err := l.places(p, func(id, section, seq, length int64) error {
		if size -= length; length < 0 || size < 0 {
			return fmt.Errorf("instance %d of section %d: the instances are longer than the file", seq, section)
		}
		if section < 0 || section >= int64(sections) {
			return fmt.Errorf("section %d does not exist (there are %d)", section, sections)
		}
		if id != n || seq != int64(len(ids[section])) {
			return fmt.Errorf("instance %d of section %d is out of order (id %d)", seq, section, id)
		}
		ids[section] = append(ids[section], id)
		n++
		return nil
	})
	return ids, err
}

// places calls each for every instance: where it belongs, and what its blobs take.
func (l *loader) places(p *pages, each func(id, section, seq, length int64) error) error {
	if p == nil {
		return l.scan("instance", "SELECT id, section, seq, "+blobLengths+" FROM instance ORDER BY id", func(_ int, row *sql.Rows) error {
			var id, section, seq, length int64
			if err := row.Scan(&id, &section, &seq, &length); err != nil {
				return err
			}
			return each(id, section, seq, length)
		})
	}
	c, i := p.cursor(), 0
	for ; c.instance.Next(); i++ {
		section, seq, err := c.place()
		if err == nil {
			err = each(c.instance.ID, section, seq, c.blobs())
		}
		if err != nil {
			return fmt.Errorf("table instance, row %d: %w", i, err)
		}
	}
	if err := c.instance.Err(); err != nil {
		return fmt.Errorf("table instance: %w", err)
	}
	return nil
}
