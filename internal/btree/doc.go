// Package btree reads the rows of a table straight from the pages of a SQLite file: in the order of
// their ids, or one by its id, and of each row no more than is asked for. It is for tables of a
// million rows, of which a database engine makes a million results, and for a row here and there of
// one. It knows no SQL, no index, and no table without row ids; it writes nothing, and imports
// nothing of this program.
//
// The format is that of https://www.sqlite.org/fileformat2.html, whose sections the constants name.
// A file that is in use, or whose last changes stand in a log beside it, is not for this package:
// Open refuses one that is in the mode with a write-ahead log, and whoever opens another sees to it
// that there is no rollback journal beside it, and that nobody writes meanwhile.
//
// A file that is damaged gives an error that names the page. No length that it states is believed
// before there are as many bytes, and no walk is longer than the file has pages.
package btree
