package profile

import "fmt"

// ScanParts calls each with every instance of all sections, in the order in which they were
// written, its parts filled in and its counts left out: most of a profile's bytes are counts, which
// are not read. It stops at the first error. An instance is good until each returns.
func (r *Reader) ScanParts(each func(*Instance) error) error { return r.ScanShare(0, 1, each) }

// ScanShare is ScanParts of one of so many equal shares of the instances, counted from 0; shares
// may be read at the same time.
func (r *Reader) ScanShare(share, of int, each func(*Instance) error) error {
	n := r.instances()
	if r.pages != nil {
		in := &Instance{} // one for all: parts of their own would be garbage of many times the index
		again := func() *Instance { *in = Instance{Parts: in.Parts}; return in }
		return r.eachPage(again, (*cursor).parts, each, n*share/of, n*(share+1)/of)
	}
	return r.each(scanQuery+"WHERE id>=? AND id<? ORDER BY id",
		r.scanParts, each, n*share/of, n*(share+1)/of)
}

// ScanPicked is ScanParts of those instances that were written as these numbers, counted from 0: for
// who wants some of a million, and not to read the others.
func (r *Reader) ScanPicked(numbers []int, each func(*Instance) error) error {
	for _, n := range numbers {
		if n < 0 || n >= r.instances() {
			return fmt.Errorf("profile %s: there is no instance %d", r.path, n)
		}
	}
	if r.pages == nil {
		for _, n := range numbers {
			if err := r.each(scanQuery+"WHERE id=?", r.scanParts, each, n); err != nil {
				return err
			}
		}
		return nil
	}
	return r.pages.with(func(c *cursor) error {
		in := &Instance{}
		for _, n := range numbers {
			*in = Instance{Parts: in.Parts}
			err := c.find(int64(n))
			if err == nil {
				err = c.begin(r, in)
			}
			if err == nil {
				err = c.parts(r, in)
			}
			if err != nil {
				return fmt.Errorf("profile %s: instance %d: %w", r.path, n, err)
			}
			if err := each(in); err != nil {
				return err
			}
		}
		return nil
	})
}

const scanQuery = "SELECT section, seq, threads, longest, work, parts FROM instance "

// instances is how many there are, of all sections.
func (r *Reader) instances() (n int) {
	for _, ids := range r.ids {
		n += len(ids)
	}
	return n
}

// each reads the rows of a query for instances with read, and calls do with every one.
func (r *Reader) each(query string, read func(*Instance, func(...any) error) error, do func(*Instance) error, args ...any) error {
	rows, err := r.db.Query(query, args...)
	if err != nil {
		return fmt.Errorf("profile %s: instances: %w", r.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		in := &Instance{}
		if err := read(in, rows.Scan); err != nil {
			return fmt.Errorf("profile %s: section %d, instance %d: %w", r.path, in.Section, in.Seq, err)
		}
		if err := do(in); err != nil {
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
	return r.complete(in, &instanceRow{sums: [3]int64{threads, longest, work}, blobs: [5][]byte{blob}})
}

// eachPage is each from the file's pages, of the instances that were written as number first to
// last, each put into a fresh one.
func (r *Reader) eachPage(fresh func() *Instance, read func(*cursor, *Reader, *Instance) error, do func(*Instance) error, first, last int) error {
	if first >= last {
		return nil
	}
	c := r.pages.cursor()
	c.instance.From(int64(first))
	for c.instance.Next() && c.instance.ID < int64(last) {
		in := fresh()
		err := c.begin(r, in)
		if err == nil {
			err = read(c, r, in)
		}
		if err != nil {
			return fmt.Errorf("profile %s: section %d, instance %d: %w", r.path, in.Section, in.Seq, err)
		}
		if err := do(in); err != nil {
			return err
		}
	}
	if err := c.instance.Err(); err != nil {
		return fmt.Errorf("profile %s: instances: %w", r.path, err)
	}
	return nil
}

// ScanParts calls each with every instance, in the order in which they were written.
func (p *Profile) ScanParts(each func(*Instance) error) error { return p.ScanShare(0, 1, each) }

// ScanShare is ScanParts of one of so many equal shares of the instances.
func (p *Profile) ScanShare(share, of int, each func(*Instance) error) error {
	n := len(p.order)
	for _, in := range p.order[n*share/of : n*(share+1)/of] {
		if err := each(in); err != nil {
			return err
		}
	}
	return nil
}

// ScanPicked is ScanParts of those instances that were written as these numbers.
func (p *Profile) ScanPicked(numbers []int, each func(*Instance) error) error {
	for _, n := range numbers {
		if n < 0 || n >= len(p.order) {
			return fmt.Errorf("there is no instance %d", n)
		}
		if err := each(p.order[n]); err != nil {
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

// Scan calls each with every instance of all sections, whole, in the order in which they were
// written. It stops at the first error.
func (r *Reader) Scan(each func(*Instance) error) error {
	if r.pages != nil {
		return r.eachPage(func() *Instance { return &Instance{} }, (*cursor).whole, each, 0, r.instances())
	}
	return r.each(r.whole("section, seq, ", "ORDER BY instance.id"), r.scan, each)
}

// scan reads an instance's row of Scan.
func (r *Reader) scan(in *Instance, scan func(...any) error) error {
	return r.read(in, scan, &in.Section, &in.Seq)
}

// Scan calls each with every instance of all sections in the order in which they were written.
func (p *Profile) Scan(each func(*Instance) error) error {
	for _, in := range p.order {
		if err := each(in); err != nil {
			return err
		}
	}
	return nil
}
