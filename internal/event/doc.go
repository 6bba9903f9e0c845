// Package event is data in motion between the engine and whoever shows it: events out, ops in, and Conn, the
// two methods that are all a front end knows of us. An event states a fact, never a wish of a screen.
package event
