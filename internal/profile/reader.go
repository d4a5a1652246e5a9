package profile

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"lime/internal/safe"
)

// Reader reads a profile's file. Its methods may be called from several goroutines.
type Reader struct {
	path    string
	db      *sql.DB
	pages   *pages // nil: instances are read from db
	get     *sql.Stmt
	several *sql.Stmt // batchSize at once
	meeting *sql.Stmt // nil: no instance has one
	onHost  bool      // some have host times
	tmp     *safe.Dir // of a copy, removed by Close
	meta    Meta
	tables  Tables
	ids     [][]int64 // of the instances, by section
	limits  extent
	size    int64 // of the file, its log included
}

var _ Source = (*Reader)(nil)

// Open reads a file's tables into memory and validates them. Instances are read when asked for.
func Open(path string) (*Reader, error) {
	r := &Reader{path: path}
	if err := r.open(); err != nil {
		r.Close()
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	return r, nil
}

// Allow lets instances take as much memory as a file of so many bytes may: those that this one was
// made of. Equal counts of a thousand ranks take next to no room in it.
func (r *Reader) Allow(bytes int64) { r.size = max(r.size, bytes) }

// Close frees what the Reader holds.
func (r *Reader) Close() error {
	errs := []error{r.pages.close()} // whoever reads still gets an error
	if r.meeting != nil {
		errs = append(errs, r.meeting.Close())
	}
	for _, q := range []*sql.Stmt{r.get, r.several} {
		if q != nil {
			errs = append(errs, q.Close())
		}
	}
	if r.db != nil {
		errs = append(errs, r.db.Close())
	}
	if r.tmp != nil {
		errs = append(errs, r.tmp.Remove())
	}
	return errors.Join(errs...)
}

func (r *Reader) open() error {
	size, err := checkHeader(r.path)
	if err != nil {
		return err
	}
	if size > 0 {
		err = r.openLogged()
	} else {
		r.pages = openPages(r.path)
		r.db, err = openDB(r.path, "mode=ro&immutable=1&"+safety)
	}
	if err != nil {
		return err
	}
	if st, err := os.Stat(r.path); err == nil {
		size += st.Size()
	}
	return r.load(size)
}

// safety keeps a hostile schema from running anything.
const safety = "_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=busy_timeout(1000)"

const sqliteMagic = "SQLite format 3\x00"

// IsProfile tells whether a file begins like a lime profile: SQLite's with lime's number, or one in
// text.
func IsProfile(f io.ReaderAt) bool {
	const appAt = 68 // where SQLite keeps the application's number
	head := make([]byte, appAt+4)
	n, _ := f.ReadAt(head, 0)
	if strings.HasPrefix(string(head[:n]), textWord) {
		return true
	}
	return n == len(head) && string(head[:len(sqliteMagic)]) == sqliteMagic && binary.BigEndian.Uint32(head[appAt:]) == applicationID
}

// isDatabase tells whether a file begins like SQLite's.
func isDatabase(path string) bool {
	f, err := safe.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == sqliteMagic
}

// isProfileAt is IsProfile of the file at path; a file that cannot be read may be one.
func isProfileAt(path string) bool {
	f, err := safe.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	return IsProfile(f)
}

// textWord begins a profile in text, of any version.
const textWord = "lime-profile "

// checkHeader tells foreign files from profiles before SQLite sees them. It
// returns the size of the log beside the file, which holds what a killed run left.
func checkHeader(path string) (wal int64, err error) {
	f, err := safe.Open(path)
	if err != nil {
		return 0, unwrapPath(err)
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	if _, err := io.ReadFull(f, head); err != nil {
		return 0, fmt.Errorf("not a lime profile: it is only a few bytes long, or unreadable (%w)", unwrapPath(err))
	}
	if string(head) != sqliteMagic {
		return 0, errors.New("not a lime profile (it does not start like a SQLite file)")
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if st, err := os.Stat(path + suffix); err == nil {
			wal += st.Size()
		}
	}
	return wal, nil
}

// unwrapPath drops the path that an error of package os repeats.
func unwrapPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// load reads the tables in one transaction, so that a running collector cannot change them
// meanwhile.
func (r *Reader) load(size int64) error {
	tx, err := r.db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var pages, page int64 // of a file that a run writes just now: more than there were a moment ago
	if tx.QueryRow("PRAGMA page_count").Scan(&pages) == nil && tx.QueryRow("PRAGMA page_size").Scan(&page) == nil {
		size = max(size, pages*page)
	}
	r.size = size
	l := &loader{tx: tx, env: env{budget: size, room: newBudget(size)}, absent: map[string]bool{}}
	if err := l.checkSchema(); err != nil {
		return err
	}
	if err := l.load(&r.meta, &r.tables); err != nil {
		return err
	}
	r.limits.advance(&r.tables)
	if err := r.tables.check(extent{}, r.limits); err != nil {
		return err
	}
	if r.pages != nil && !r.pages.same(r.path) { // another file came between
		r.pages.close()
		r.pages = nil
	}
	if r.ids, err = l.index(r.limits.sections, size, r.pages); err != nil {
		return err
	}
	return r.prepare(l)
}

// prepare finds out what stands beside the instances, and makes ready what is asked of the database.
func (r *Reader) prepare(l *loader) error {
	err := r.prepareMeetings(l.absent["meeting"])
	if err == nil {
		err = r.prepareHostTimes(l.absent["host_time"])
	}
	if err != nil {
		return err
	}
	if r.pages != nil {
		r.pages.without(r.meeting == nil, !r.onHost)
		return nil
	}
	r.get, err = r.db.Prepare(r.whole("", "WHERE instance.id=?"))
	if err == nil {
		r.several, err = r.db.Prepare(r.whole("", batchCondition))
	}
	return err
}

// Meta returns the description of the run.
func (r *Reader) Meta() *Meta { return &r.meta }

// Tables returns the tables.
func (r *Reader) Tables() *Tables { return &r.tables }

// InstanceCount returns the number of a section's instances.
func (r *Reader) InstanceCount(s SectionID) int {
	if s < 0 || int(s) >= len(r.ids) {
		return 0
	}
	return len(r.ids[s])
}

// Instance reads instance seq of section s.
func (r *Reader) Instance(s SectionID, seq int) (*Instance, error) {
	if seq < 0 || seq >= r.InstanceCount(s) {
		return nil, fmt.Errorf("profile %s: section %d has no instance %d", r.path, s, seq)
	}
	in := &Instance{Section: s, Seq: seq}
	var err error
	if r.pages != nil {
		err = r.pages.with(func(c *cursor) error { return r.pick(c, in) })
	} else {
		err = r.read(in, r.get.QueryRow(r.ids[s][seq]).Scan)
	}
	if err != nil {
		return nil, fmt.Errorf("profile %s: section %d, instance %d: %w", r.path, s, seq, err)
	}
	return in, nil
}

// pick reads an instance by its number.
func (r *Reader) pick(c *cursor, in *Instance) error {
	if err := c.find(r.ids[in.Section][in.Seq]); err != nil {
		return err
	}
	if _, _, err := c.place(); err != nil { // sections may have been merged since
		return err
	}
	return c.whole(r, in)
}

var errMoved = errors.New("it was not there when the profile was opened")

// read fills in the rest of an instance from its row; some columns come before.
func (r *Reader) read(in *Instance, scan func(...any) error, before ...any) error {
	var id int64
	var row instanceRow
	err := scan(append(before, &id, &row.sums[0], &row.sums[1], &row.sums[2],
		&row.blobs[0], &row.blobs[1], &row.blobs[2], &row.blobs[3], &row.blobs[4], &row.host.chance, &row.host.parts)...)
	if err == nil {
		row.meeting, err = r.meetingOf(id)
	}
	if err != nil {
		return err
	}
	return r.complete(in, &row)
}

// complete unpacks an instance and holds it against the rules, and against what its row says of its
// parts.
func (r *Reader) complete(in *Instance, row *instanceRow) error {
	if in.Seq < 0 || in.Seq >= r.InstanceCount(in.Section) {
		return errMoved
	}
	if err := in.unpack(row.blobs, r.limits, r.size); err != nil {
		return err
	}
	if err := row.meeting.take(in, r.size); err != nil {
		return err
	}
	if err := row.host.take(in, r.size); err != nil {
		return err
	}
	if err := in.checkParts(r.limits); err != nil { // unpack has checked the counts
		return err
	}
	return in.checkSums(row.sums)
}

func (in *Instance) unpack(blobs [5][]byte, n extent, size int64) error {
	room := newBudget(size)
	payload, err := unpack(blobs[0], room)
	if err == nil {
		in.Parts, err = parseParts(payload, n.threads, room, in.Parts)
	}
	if err != nil {
		return fmt.Errorf("parts: %w", err)
	}
	limits := [4]int{n.edges, n.events, n.events, n.nodes}
	for i, m := range in.matrices() {
		payload, err := unpack(blobs[i+1], room)
		if err == nil {
			*m, err = parseMatrix(payload, limits[i], len(in.Parts), room)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", matrixNames[i], err)
		}
	}
	return nil
}

// checkSums holds the columns that repeat the parts against them.
func (in *Instance) checkSums(row [3]int64) error {
	threads, longest, work := row[0], row[1], row[2]
	sum := uint64(0)
	for i := range in.Parts {
		sum += in.Parts[i].Time()
	}
	if threads != int64(len(in.Parts)) || longest != int64(in.longest()) || work != int64(sum) {
		return fmt.Errorf("its row says %d threads, longest %d, work %d; its parts say %d, %d, %d",
			threads, longest, work, len(in.Parts), in.longest(), sum)
	}
	return nil
}

// ReadMeta reads the description of a profile's run, and nothing else.
func ReadMeta(path string) (*Meta, error) {
	r := &Reader{path: path}
	defer r.Close()
	size, err := checkHeader(path)
	if err == nil && size > 0 {
		err = r.openLogged()
	} else if err == nil {
		r.db, err = openDB(path, "mode=ro&immutable=1&"+safety)
	}
	if err == nil {
		err = r.readMeta(size)
	}
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	return &r.meta, nil
}

// readMeta reads it from a file with so many bytes of log beside it.
func (r *Reader) readMeta(log int64) error {
	tx, err := r.db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	st, err := os.Stat(r.path)
	if err != nil {
		return err
	}
	l := &loader{tx: tx, env: env{budget: st.Size() + log}, absent: map[string]bool{}}
	if err := l.checkSchema(); err != nil {
		return err
	}
	return l.loadMeta(&r.meta)
}
