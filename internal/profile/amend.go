package profile

import "fmt"

// Amend changes the description of the run in a file that is there already: that of a
// run that was lost, say.
func Amend(path string, change func(*Meta)) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	meta := *r.Meta()
	r.Close()
	change(&meta)
	db, err := openDB(path, "_pragma=busy_timeout(1000)")
	if err != nil {
		return fmt.Errorf("profile %s: %w", path, err)
	}
	defer db.Close()
	w := Writer{path: path, db: db, known: newStatements()}
	if err := w.commit(&batch{meta: &meta}); err != nil {
		return fmt.Errorf("profile %s: %w", path, err)
	}
	return nil
}
