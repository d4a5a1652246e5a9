// Package collect holds what the collectors share: the notes that they leave for the reader of a
// profile. It must not import a collector.
package collect
