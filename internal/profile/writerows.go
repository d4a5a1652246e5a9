package profile

// queue appends a row under the lock; first is the id of the batch's first row.
func queue[ID ~int32, Row any](w *Writer, first *int, appendRow func(Row) ID, r Row, places ...[]Frame) ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fs := range places {
		if len(fs) > 0 {
			w.env.places.intern(fs) // here, so that ids do not depend on the borders of transactions
		}
	}
	return ID(*first) + appendRow(r)
}

// AddImage appends a row to be written with the next transaction.
func (w *Writer) AddImage(r Image) ImageID {
	return queue(w, &w.at.images, w.next.tables.AddImage, r)
}

// AddFile appends a row to be written with the next transaction.
func (w *Writer) AddFile(r File) FileID {
	return queue(w, &w.at.files, w.next.tables.AddFile, r)
}

// AddFunction appends a row to be written with the next transaction.
func (w *Writer) AddFunction(r Function) FunctionID {
	return queue(w, &w.at.functions, w.next.tables.AddFunction, r)
}

// AddNode appends a row to be written with the next transaction.
func (w *Writer) AddNode(r Node) NodeID {
	return queue(w, &w.at.nodes, w.next.tables.AddNode, r, r.Frames, r.First)
}

// AddEdge appends a row to be written with the next transaction.
func (w *Writer) AddEdge(r Edge) EdgeID {
	return queue(w, &w.at.edges, w.next.tables.AddEdge, r)
}

// AddKind appends a row to be written with the next transaction.
func (w *Writer) AddKind(r EventKind) int32 {
	return queue(w, &w.at.kinds, w.next.tables.AddKind, r)
}

// AddEvent appends a row to be written with the next transaction.
func (w *Writer) AddEvent(r Event) EventID {
	return queue(w, &w.at.events, w.next.tables.AddEvent, r, r.Frames)
}

// AddSection appends a row to be written with the next transaction.
func (w *Writer) AddSection(r Section) SectionID {
	return queue(w, &w.at.sections, w.next.tables.AddSection, r, r.Frames, r.Starts)
}

// AddThread appends a row to be written with the next transaction.
func (w *Writer) AddThread(r Thread) ThreadID {
	return queue(w, &w.at.threads, w.next.tables.AddThread, r)
}

// AddPath appends a row to be written with the next transaction.
func (w *Writer) AddPath(r PathNode) PathID {
	return queue(w, &w.at.paths, w.next.tables.AddPath, r)
}

// AddPathSample appends a row to be written with the next transaction.
func (w *Writer) AddPathSample(r PathSample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.tables.AddPathSample(r)
}
