// Package collect holds what the collectors share: the notes that they leave for the reader of a
// profile, and the traces of call paths. It must not import a collector.
package collect
