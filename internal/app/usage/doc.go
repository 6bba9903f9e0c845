// Package usage measures what fills the context window, kind by kind, and shows it: as a picture with tables for a person, as
// the documented answer for a program.
//
// In: the parts of the next request. Out: a Size. Called by /context and the query get_context_usage.
package usage
