package redact

import (
	"net/url"
	"strings"
)

// secretName reports whether a variable's name says that its value is a secret.
func secretName(name string) bool {
	words := strings.Split(strings.ToUpper(name), "_")
	switch words[len(words)-1] {
	case "FILE", "PATH", "DIR", "SOCK", "SOCKET", "URL", "URI", "NAME", "TYPE", "HELPER", "TTL", "MS", "COUNT", "MAX", "LIMIT",
		"SIZE", "PORT", "HOST", "ENABLED", "DISABLED", "COMMAND", "CMD", "ASKPASS", "VERSION", "ALGORITHM", "HEADER", "PREFIX", "FIELD":
		return false
	}
	for i, w := range words {
		switch w {
		case "SECRET", "SECRETS", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "CREDENTIALS", "ACCESSKEY", "PRIVATEKEY":
			return true
		case "KEY":
			if i == 0 {
				continue
			}
			switch words[i-1] {
			case "API", "SECRET", "ACCESS", "PRIVATE", "ENCRYPTION", "SIGNING", "AUTH", "LICENSE", "MASTER", "ACCOUNT", "SERVICE", "DEPLOY", "SSH":
				return true
			}
		case "PASS", "PWD", "PAT":
			if i > 0 {
				return true
			}
		}
	}
	last := words[len(words)-1]
	return len(last) > 6 && (strings.HasSuffix(last, "TOKEN") || strings.HasSuffix(last, "SECRET") || strings.HasSuffix(last, "PASSWORD") || strings.HasSuffix(last, "APIKEY"))
}

// Env makes the secrets of an environment ("NAME=value") known: values of variables whose names say so, if they look
// like more than a word, a number or a path, and passwords in URLs.
func (r *Redactor) Env(environ []string) {
	if r == nil {
		return
	}
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok {
			continue
		}
		if secretName(name) && looksSecret(value) {
			r.Add(name, value)
		}
		if strings.Contains(value, "://") && len(value) < 4096 {
			if u, err := url.Parse(value); err == nil && u.User != nil {
				if pass, ok := u.User.Password(); ok && looksSecret(pass) {
					r.Add(name, pass)
				}
			}
		}
	}
}

// Header makes the secrets of "Name: value" lines known.
func (r *Redactor) Header(lines string) {
	for _, line := range strings.Split(lines, "\n") {
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if !ok || !strings.EqualFold(name, "authorization") && !strings.EqualFold(name, "proxy-authorization") && !secretName(strings.ReplaceAll(name, "-", "_")) {
			continue
		}
		if i := strings.LastIndexByte(value, ' '); i >= 0 { // behind "Bearer"
			value = value[i+1:]
		}
		r.Add(name, value)
	}
}

// looksSecret reports whether a value is more than a word, a number, a switch or a path: such a value would be found in
// text that has nothing to do with it.
func looksSecret(v string) bool {
	v = strings.TrimSpace(v)
	if len(v) < minValue {
		return false
	}
	if v[0] == '/' || v[0] == '~' || strings.HasPrefix(v, "./") {
		if strings.Count(v, "/") > 1 && !strings.ContainsAny(v, "+=") {
			return false // a path
		}
	}
	var lower, upper, digit, other bool
	for i := range len(v) {
		switch b := v[i]; {
		case b >= 'a' && b <= 'z':
			lower = true
		case b >= 'A' && b <= 'Z':
			upper = true
		case b >= '0' && b <= '9':
			digit = true
		default:
			other = true
		}
	}
	if !lower && !upper {
		return len(v) >= 16 // a number
	}
	return digit || other || lower && upper || len(v) >= 20
}
