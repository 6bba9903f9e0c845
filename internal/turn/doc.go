// Package turn is what flows through the pipeline and what runs it: the Turn, a Stage as a table row, and the
// Runner that walks a Turn through the table. It knows no stage; the table is in package pipeline.
// Package engine makes a Turn of each prompt and runs it.
package turn
