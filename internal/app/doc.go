// Package app is the only package that knows everyone: it reads flags and settings, builds the session and its
// pipeline, runs a front end, and turns what happened into an exit code. No logic of the agent lives here.
package app
