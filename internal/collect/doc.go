// Package collect holds what the collectors share: the notes that they leave for the reader of a profile, and the names
// by which the runtimes of languages and threads are told from the program's own code. It must not import a collector.
package collect
