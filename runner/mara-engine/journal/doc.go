// Package journal keeps states in directories, buckets and databases whose writing costs grow with the number of
// resources, and not with its square. Pulumi writes the whole state before and after each step. Here an operation that
// has many steps, or a slow backend, writes what each step has done to a journal beside the state:
//
//	.pulumi/mara-journal/PROJECT/STACK/EPOCH/   one directory for each operation
//	    base.json                               the state when the operation began
//	    journal, or 0000000001.json ...         what has been done since, in records
//
// The state itself lags behind then, and is fenced: it has a mark that makes Pulumi refuse to work on it. When the
// operation ends it writes the whole state, without a fence, and removes the journal. One that was cut off leaves both,
// and the next operation replays the journal before it begins. What only looks replays it in memory.
package journal
