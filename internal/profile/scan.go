package profile

import "fmt"

// ScanParts calls each with every instance of all sections, in the order in which they were written, its parts filled in and its counts
// left out: most of a profile's bytes are counts, which are not read. It stops at the first error.
func (r *Reader) ScanParts(each func(*Instance) error) error {
	rows, err := r.db.Query("SELECT section, seq, threads, longest, work, parts FROM instance ORDER BY id")
	if err != nil {
		return fmt.Errorf("profile %s: instances: %w", r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		in := &Instance{}
		if err := r.scanParts(in, rows.Scan); err != nil {
			return fmt.Errorf("profile %s: section %d, instance %d: %w", r.path, in.Section, in.Seq, err)
		}
		if err := each(in); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("profile %s: instances: %w", r.path, err)
	}
	return nil
}

// scanParts reads an instance's row of ScanParts.
func (r *Reader) scanParts(in *Instance, scan func(...any) error) error {
	var threads, longest, work int64
	var blob []byte
	if err := scan(&in.Section, &in.Seq, &threads, &longest, &work, &blob); err != nil {
		return err
	}
	if in.Seq < 0 || in.Seq >= r.InstanceCount(in.Section) {
		return fmt.Errorf("it was not there when the profile was opened")
	}
	if err := in.unpack([5][]byte{blob}, r.limits, r.size); err != nil {
		return err
	}
	if err := in.checkParts(r.limits); err != nil {
		return err
	}
	return in.checkSums(threads, longest, work)
}

// ScanParts calls each with every instance, in the order in which they were written.
func (p *Profile) ScanParts(each func(*Instance) error) error {
	for _, in := range p.order {
		if err := each(in); err != nil {
			return err
		}
	}
	return nil
}

// Instance returns instance seq of section s.
func (p *Profile) Instance(s SectionID, seq int) (*Instance, error) {
	if seq < 0 || seq >= p.InstanceCount(s) {
		return nil, fmt.Errorf("section %d has no instance %d", s, seq)
	}
	return p.instances[s][seq], nil
}
