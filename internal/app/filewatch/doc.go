// Package filewatch looks at files every now and then and tells what became of them. It asks the system for nothing but their
// times and sizes, so it works in every folder.
//
// In: names and paths. Out: changes. Called for FileChanged hooks; where nothing is added, nothing runs.
package filewatch
