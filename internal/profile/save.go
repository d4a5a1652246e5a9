package profile

import "errors"

// Whole writes a profile beside path, and puts it in the place of what stands there when it is
// whole: until then, and if it fails or is killed, that stays. What is no profile stays unless that
// is forced.
func Whole(path string, force bool, meta Meta, fill func(Sink) error) error {
	path, err := placeFor(path, force)
	if err != nil {
		return err
	}
	tmp := path + tmpSuffix
	w, err := create(tmp, path, meta)
	if err != nil {
		return err
	}
	err = fill(w)
	if err = errors.Join(err, w.Close()); err == nil {
		err = replace(tmp, path)
	}
	if err != nil {
		_ = removeAll(tmp)
	}
	return err
}

// Save writes a profile to a file, as Whole does.
func Save(path string, force bool, src Source) error {
	meta := *src.Meta()
	meta.EndState, meta.Complete = "running", false
	return Whole(path, force, meta, func(to Sink) error { return Copy(to, src) })
}

// Copy puts the rows and instances of a profile into an empty sink.
func Copy(to Sink, src Source) error {
	copyRows(to, src.Tables())
	for s := range src.Tables().Sections {
		for in, err := range src.Instances(SectionID(s)) {
			if err != nil {
				return err
			}
			if err := to.WriteInstance(in); err != nil {
				return err
			}
		}
	}
	return to.UpdateMeta(*src.Meta())
}

func copyRows(to Sink, t *Tables) {
	each(t.Images, to.AddImage)
	each(t.Files, to.AddFile)
	each(t.Functions, to.AddFunction)
	each(t.Nodes, to.AddNode)
	each(t.Edges, to.AddEdge)
	each(t.Kinds, to.AddKind)
	each(t.Events, to.AddEvent)
	each(t.Sections, to.AddSection)
	each(t.Threads, to.AddThread)
	each(t.Paths, to.AddPath)
	for _, r := range t.PathSamples {
		to.AddPathSample(r)
	}
	for _, r := range t.WasteTotals {
		to.AddWasteTotal(r)
	}
	for _, r := range t.WastePairs {
		to.AddWastePair(r)
	}
	for _, r := range t.Accounts {
		to.AddAccount(r)
	}
	for _, r := range t.Traces {
		to.AddTrace(r)
	}
	each(t.Locks, to.AddLock)
	for _, r := range t.LockWaits {
		to.AddLockWait(r)
	}
	for _, r := range t.LockHolds {
		to.AddLockHold(r)
	}
}

func each[Row, ID any](rows []Row, add func(Row) ID) {
	for _, r := range rows {
		add(r)
	}
}
