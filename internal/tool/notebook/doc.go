// Package notebook is the tool NotebookEdit: it replaces, inserts or deletes one cell of a Jupyter notebook. In goes
// the cell and its new source; out comes the file with every other byte as it was, in the formatting that notebook
// programs write. Called by pipeline/tools (stage 9).
package notebook
