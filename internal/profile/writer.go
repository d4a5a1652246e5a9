package profile

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/safe"
)

const (
	commitFirst = 100 * time.Millisecond // between two transactions; twice as long after each
	commitMost  = time.Second            // but not longer
	queueLimit  = 256                    // instances that may wait; WriteInstance blocks beyond
	tmpSuffix   = ".tmp"                 // of a file that is not yet, or no longer, at its place
)

// Writer writes a profile to a file while the run goes. Finished instances, with the rows that they
// need, are in the file a second later, at the run's beginning a tenth of a second, and stay if the
// process is killed. Its methods may be called from several goroutines.
type Writer struct {
	path    string
	name    string      // of the file as people know it
	info    os.FileInfo // of the file that Create made
	claimed *os.File    // the same, locked
	db      *sql.DB
	known   *statements
	env     env
	pack    packer

	commits sync.Mutex // held while a batch is taken and committed

	mu     sync.Mutex
	room   sync.Cond // signalled when the queue was taken
	next   batch     // what is not yet handed to the store
	at     extent    // ids of next's first rows
	seq    []int     // instances written, by section
	total  int       // instances written
	err    error     // first failure of the store; stays
	wake   chan struct{}
	hurry  chan struct{} // ends the pause between two commits
	closed chan struct{} // the goroutine has ended
	done   bool          // Close was called
}

// batch is what one transaction writes.
type batch struct {
	tables    Tables
	at        extent
	places    placeRows
	threads   map[ThreadID]Thread // rows to replace
	details   map[EventID]string
	instances []*Instance
	first     int // id of the first instance
	meta      *Meta
}

var _ Sink = (*Writer)(nil)

// Create makes the file, or replaces it, and starts to write. Until Close the
// file says EndState "running".
func Create(path string, meta Meta) (*Writer, error) {
	path, err := placeFor(path, false)
	if err != nil {
		return nil, err
	}
	return create(path, path, meta)
}

func create(path, name string, meta Meta) (*Writer, error) {
	w := &Writer{path: path, name: name, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), closed: make(chan struct{})}
	w.room.L = &w.mu
	if err := w.begin(meta); err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, roomError(path, err))
	}
	go w.run()
	return w, nil
}

// mayWrite says why no file can be made in a directory, if so: the database engine has one error
// for everything.
func mayWrite(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no directory %s", dir)
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	const write, search = 2, 1
	if err := unix.Access(dir, write|search); err != nil {
		return fmt.Errorf("no file can be made in %s (%w)", dir, err)
	}
	return nil
}

// errNoRoom is what a full disk comes to.
var errNoRoom = errors.New("there is no room left on the device")

// roomError adds the likely reason to an error of the database engine's.
func roomError(path string, err error) error {
	var fs unix.Statfs_t
	if err == nil || errors.Is(err, errNoRoom) || unix.Statfs(filepath.Dir(path), &fs) != nil || fs.Bavail*uint64(fs.Bsize) >= 1<<20 {
		return err
	}
	return fmt.Errorf("%w (%w)", errNoRoom, err)
}

// placeFor returns a path with links followed, if a profile may be written there, and removes what
// killed runs have left beside it. What is no profile stays unless that is forced.
func placeFor(path string, force bool) (string, error) {
	path, err := followed(path)
	if err != nil {
		return "", err
	}
	if err := mayWrite(filepath.Dir(path)); err != nil {
		return "", fmt.Errorf("profile %s: %w; name another file with -o", path, err)
	}
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		return "", fmt.Errorf("profile %s: not a regular file; name another with -o", path)
	}
	if err == nil && st.Size() > 0 && !force && !isProfileAt(path) {
		return "", fmt.Errorf("profile %s: there is a file that is no profile; remove it (--force does), or name another with -o", path)
	}
	for _, at := range []string{path, path + tmpSuffix} {
		if err := unclaimed(at); err != nil {
			return "", fmt.Errorf("profile %s: %w; name another file with -o", path, err)
		}
	}
	for _, left := range []string{path + tmpSuffix, path + tmpSuffix + tmpSuffix} {
		if err := removeAll(left); err != nil {
			return "", fmt.Errorf("profile %s: %w", path, err)
		}
	}
	return path, nil
}

// followed is the file that a path leads to, which need not be there.
func followed(path string) (string, error) {
	file, open, err := safe.Follow(path)
	if err == nil && open {
		err = errors.New("it leads to what a process has open, which cannot be replaced")
	}
	if err != nil {
		return "", fmt.Errorf("profile %s: %w; name another file with -o", path, err)
	}
	return file, nil
}

// Remove removes the profile at path. A link that leads to it stays.
func Remove(path string) error {
	path, err := followed(path)
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// begin makes the file under another name and puts it in its place when it
// opens, so that a killed run leaves a profile or nothing.
func (w *Writer) begin(meta Meta) error {
	if meta.EndState == "" {
		meta.EndState = "running"
	}
	tmp := w.path + tmpSuffix
	err := w.open(tmp)
	if err == nil {
		err = createSchema(w.db)
		if err == nil {
			err = w.commit(&batch{meta: &meta})
		}
		err = errors.Join(err, w.db.Close())
		if _, left := os.Stat(tmp + "-wal"); err == nil && left == nil {
			err = errNoRoom // the database engine closes without a word
		}
	}
	if err == nil {
		err = removeLog(w.path)
	}
	if err == nil {
		err = inTheRightsOf(tmp, w.path)
	}
	if err == nil {
		err = os.Rename(tmp, w.path)
	}
	if err != nil {
		_ = removeAll(tmp)
		return err
	}
	if w.info, err = os.Stat(w.path); err != nil {
		return err
	}
	if err = w.open(w.path); err != nil {
		return err
	}
	// Everything is opened now, and not when the first batch comes: by then it may be taken for a
	// file of the program's.
	var rows int
	if err = w.db.QueryRow("SELECT count(*) FROM meta").Scan(&rows); err != nil {
		return err
	}
	return w.claim()
}

func (w *Writer) open(path string) error {
	db, err := openDB(path, "_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(1000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	w.db, w.known = db, newStatements()
	return nil
}

// run commits a batch when something waits, at most every commitMost.
func (w *Writer) run() {
	defer close(w.closed)
	wait := commitFirst
	for range w.wake {
		w.flush()
		w.mu.Lock()
		done := w.done
		w.mu.Unlock()
		if done {
			return
		}
		w.pause(wait)
		wait = min(2*wait, commitMost)
	}
}

// pause waits for the next commit, shorter if the queue is full or the writer closes.
func (w *Writer) pause(most time.Duration) {
	next := time.NewTimer(most)
	defer next.Stop()
	select {
	case <-next.C:
	case <-w.hurry:
	}
}

// rush ends the pause. The caller holds mu.
func (w *Writer) rush() {
	select {
	case w.hurry <- struct{}{}:
	default:
	}
}

// Flush returns when all that was added is in the file.
func (w *Writer) Flush() error {
	w.flush()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// flush commits what waits.
func (w *Writer) flush() {
	w.commits.Lock()
	defer w.commits.Unlock()
	w.mu.Lock()
	b := w.next
	b.at, b.places = w.at, w.env.places.take()
	w.at.advance(&b.tables)
	limits := w.at
	w.next = batch{first: w.total}
	w.room.Broadcast()
	failed := w.err != nil
	w.mu.Unlock()
	if failed {
		return
	}
	err := b.tables.check(b.at, limits)
	if err == nil {
		err = w.commit(&b)
	}
	if err != nil {
		w.mu.Lock()
		w.err = fmt.Errorf("profile %s: %w", w.name, roomError(w.path, err))
		w.mu.Unlock()
	}
}

// commit writes a batch in one transaction.
func (w *Writer) commit(b *batch) error {
	if err := w.known.prepare(w.db); err != nil {
		return err
	}
	tx, err := w.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	in := newInserter(tx, &w.env, w.known)
	if err := in.insertTables(&b.tables, b.at); err != nil {
		return err
	}
	if err := in.insertPlaces(b.places); err != nil {
		return err
	}
	for id, t := range b.threads {
		if err := insertRow(in, threadRows, int(id), &t); err != nil {
			return err
		}
	}
	for _, id := range sortedKeys(b.details) {
		if _, err := tx.Exec("UPDATE event SET detail=? WHERE id=?", b.details[id], int64(id)); err != nil {
			return fmt.Errorf("event %d: %w", id, err)
		}
	}
	if err := in.insertInstances(&w.pack, b.first, b.instances); err != nil {
		return err
	}
	if b.meta != nil {
		if err := in.insertMeta(b.meta); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// limits returns the number of rows that instances may refer to.
func (w *Writer) limits() extent {
	e := w.at
	e.advance(&w.next.tables)
	return e
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// WriteInstance sets Seq, sorts the counts, and queues the instance for the next transaction. An
// error may be that of an earlier write.
func (w *Writer) WriteInstance(in *Instance) error {
	in.Sort()
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.next.instances) >= queueLimit && w.err == nil {
		w.room.Wait()
	}
	if w.err != nil {
		return w.err
	}
	if err := in.check(w.limits()); err != nil {
		return fmt.Errorf("profile %s: instance %d: %w", w.name, w.total, err)
	}
	for len(w.seq) <= int(in.Section) {
		w.seq = append(w.seq, 0)
	}
	in.Seq = w.seq[in.Section]
	w.seq[in.Section]++
	w.total++
	w.next.instances = append(w.next.instances, in)
	w.signal()
	if len(w.next.instances) >= queueLimit/2 {
		w.rush()
	}
	return nil
}

// UpdateMeta replaces the description of the run, with the next transaction.
func (w *Writer) UpdateMeta(m Meta) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.meta = &m
	w.signal()
	return w.err
}

// SetThread replaces the row of a thread.
func (w *Writer) SetThread(id ThreadID, t Thread) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := int(id) - w.at.threads; i >= 0 {
		w.next.tables.Threads[i] = t
		return
	}
	if w.next.threads == nil {
		w.next.threads = map[ThreadID]Thread{}
	}
	w.next.threads[id] = t
}

// SetEventDetail replaces the detail of an event.
func (w *Writer) SetEventDetail(id EventID, detail string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := int(id) - w.at.events; i >= 0 {
		w.next.tables.Events[i].Detail = detail
		return
	}
	if w.next.details == nil {
		w.next.details = map[EventID]string{}
	}
	w.next.details[id] = detail
}

// Close writes what waits and leaves one file behind, whose bytes depend on the content only.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.done {
		w.mu.Unlock()
		return w.err
	}
	w.done = true
	w.signal()
	w.rush()
	w.mu.Unlock()
	<-w.closed
	w.flush()
	err := w.err
	if err == nil {
		err = w.finish()
	}
	return errors.Join(err, w.db.Close(), w.claimed.Close())
}

// finish copies the content in order to a new file and puts it in place of the old one. Killed
// at any point it leaves a whole file.
func (w *Writer) finish() error {
	st, err := os.Stat(w.path)
	if errors.Is(err, os.ErrPermission) {
		return nil // the program has given up its rights, and lime's with them: the file stays as it is, with its log beside it
	}
	if err != nil || !os.SameFile(st, w.info) {
		return fmt.Errorf("profile %s: another run has replaced it; name it with -o", w.name)
	}
	tmp := w.path + tmpSuffix
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(tmp, nil, 0o666); errors.Is(err, os.ErrPermission) {
		return nil // likewise
	} else if err != nil {
		return err
	}
	if _, err := w.db.Exec("VACUUM INTO ?", tmp); err != nil {
		_ = removeAll(tmp)
		return fmt.Errorf("profile %s: %w", w.name, roomError(w.path, err))
	}
	if !w.dropWAL() {
		return os.Remove(tmp)
	}
	if err := inTheRightsOf(tmp, w.path); err != nil { // the program may have changed what new files get
		return err
	}
	return os.Rename(tmp, w.path)
}

// dropWAL removes the log, which would spoil the new file. If somebody reads the
// file just now the log may not go, and the file stays as it is, with its log beside it.
func (w *Writer) dropWAL() bool {
	var mode string
	err := w.db.QueryRow("PRAGMA journal_mode=DELETE").Scan(&mode)
	return err == nil && mode == "delete"
}
