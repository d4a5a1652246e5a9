package profile

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// Rewrite copies the profile from to the file to, which may be the same, with its tables and
// description changed by edit. Instances are copied as they are, so edit must not remove or
// renumber what they refer to; sections it may merge. The file to is replaced in one step, or not
// at all.
func Rewrite(from, to string, edit func(*Meta, *Tables) error) error {
	r, err := Open(from)
	if err != nil {
		return err
	}
	return r.Rewrite(to, edit)
}

// Rewrite is the function of that name for an open profile, whose instances edit may read. It
// closes the Reader.
func (r *Reader) Rewrite(to string, edit func(*Meta, *Tables) error) error {
	defer r.Close()
	if err := edit(&r.meta, &r.tables); err != nil {
		return err
	}
	if err := r.checkEdit(); err != nil {
		return fmt.Errorf("profile %s: %w", r.path, err)
	}
	to, err := followed(to)
	if err != nil {
		return err
	}
	if st, err := os.Stat(to); err == nil && (!st.Mode().IsRegular() || st.Size() > 0 && !isProfileAt(to)) {
		return fmt.Errorf("profile %s: there is a file that is no profile; remove it, or name another with -o", to)
	}
	tmp := to + tmpSuffix
	if err := unclaimed(tmp); err != nil {
		return fmt.Errorf("profile %s: %w; name another file with -o", to, err)
	}
	defer removeAll(tmp)
	if err := r.copyTo(tmp); err != nil {
		return fmt.Errorf("profile %s: %w", to, err)
	}
	if err := r.Close(); err != nil {
		return err
	}
	return replace(tmp, to)
}

// checkEdit holds the changed tables against the rules and the instances' ids.
func (r *Reader) checkEdit() error {
	var n extent
	n.advance(&r.tables)
	o := r.limits
	if n.nodes < o.nodes || n.edges < o.edges || n.events < o.events || r.tables.merged == nil &&
		n.sections < o.sections || n.threads < o.threads {
		return errors.New("rows that instances refer to were removed")
	}
	return r.tables.check(extent{}, n)
}

// copyTo writes a new file with the tables as they are now and the stored instances.
func (r *Reader) copyTo(path string) error {
	if err := removeAll(path); err != nil {
		return err
	}
	db, err := openDB(path, "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = createSchema(db)
	if err == nil {
		err = r.copyRows(db)
	}
	return errors.Join(err, db.Close())
}

// copyRows fills a new file in the order in which a fresh run would have.
func (r *Reader) copyRows(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	e := &env{starts: startsOf(&r.tables)}
	in := newInserter(tx, e, newStatements())
	if err := in.insertTables(&r.tables, extent{}); err != nil {
		return err
	}
	if err := in.insertPlaces(e.places.take()); err != nil {
		return err
	}
	if err := in.insertMeta(&r.meta); err != nil {
		return err
	}
	if err := r.copyInstances(in); err != nil {
		return err
	}
	if err := r.copyMeetings(in); err != nil {
		return err
	}
	if err := r.copyHostTimes(in); err != nil {
		return err
	}
	return tx.Commit()
}

// copyInstances copies the rows without unpacking them, renumbered if sections were merged.
func (r *Reader) copyInstances(in *inserter) error {
	rows, err := r.db.Query("SELECT * FROM instance ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	var raw [11]any
	var to []any
	for i := range raw {
		to = append(to, &raw[i])
	}
	number := newRenumber(&r.tables)
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		old, ok := raw[1].(int64)
		if !ok || old < 0 || old >= int64(r.limits.sections) {
			return fmt.Errorf("instance of section %v", raw[1])
		}
		section, seq := number.section(SectionID(old))
		raw[1], raw[2] = int64(section), int64(seq)
		if err := in.insert("instance", raw[:]...); err != nil {
			return err
		}
	}
	return rows.Err()
}
