package profile

import (
	"errors"
	"fmt"
	"os"

	"lime/internal/safe"
)

// How a new file takes the place of an old one, with the files that the database engine keeps beside
// them.

// logs are the ends of the names of what the database engine keeps beside a file.
var logs = [...]string{"-wal", "-journal", "-shm"}

// replace puts tmp in place of to, with the owner and mode of that. The log of a killed run that lies
// beside to goes first into the old file, for it would spoil the new one.
func replace(tmp, to string) error {
	for _, path := range []string{tmp, to} {
		if err := alone(path); err != nil {
			return fmt.Errorf("profile %s: a run still writes it, or its log cannot be read: %w", to, err)
		}
	}
	if err := inTheRightsOf(tmp, to); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// inTheRightsOf gives tmp the owner and mode of what stands at to, if there is something.
func inTheRightsOf(tmp, to string) error {
	old, err := os.Stat(to)
	if err != nil {
		return nil
	}
	return safe.Inherit(tmp, old)
}

// alone leaves no log beside a file. One beside what is no database is nobody's.
func alone(path string) error {
	for _, suffix := range logs {
		if _, err := os.Stat(path + suffix); err != nil {
			continue
		}
		if isDatabase(path) {
			return foldLog(path)
		}
		return removeLog(path)
	}
	return nil
}

// foldLog brings a file's log into the file and removes the log.
func foldLog(path string) error {
	db, err := openDB(path, "mode=rw&"+safety)
	if err != nil {
		return err
	}
	var mode string
	err = db.QueryRow("PRAGMA journal_mode=DELETE").Scan(&mode)
	if err == nil && mode != "delete" {
		err = errors.New("database is locked")
	}
	err = errors.Join(err, db.Close())
	for _, suffix := range []string{"-wal", "-journal"} {
		if st, serr := os.Stat(path + suffix); err == nil && serr == nil && st.Size() > 0 {
			err = errors.New("the log stays")
		}
	}
	return err
}

// removeLog removes a file's log, whatever is in it.
func removeLog(path string) error {
	for _, suffix := range logs {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeAll removes a file that may be there with its log.
func removeAll(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return removeLog(path)
}
