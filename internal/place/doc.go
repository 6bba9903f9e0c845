// Package place finds where a run happens and what it starts from: the directories, the settings of all scopes, and
// whether what the project's files grant counts, which is bound to what the user has approved (trust). What it finds
// also says what of the outside is redacted, and what makes plain commands here something else than their names say.
// It starts nothing and writes only the user's trust.
//
// In: the process's environment and directory, and Options. Out: a Place. Called at the start of package app and by each
// command of the command line.
package place
