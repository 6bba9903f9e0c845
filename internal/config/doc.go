// Package config reads settings: the files of every scope, merged by the documented rules, each value with its
// origin. Files are JSON and may have comments, trailing commas and a byte order mark. Called by package app at
// start; what it returns is handed on as plain values.
package config
