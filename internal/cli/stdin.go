package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a prompt on standard input.
const (
	maxStdin  = 10 << 20 // bytes
	stdinWait = 3 * time.Second
)

// errNoPrompt and errBlank are worded as scripts expect them.
var (
	//lint:ignore ST1005 the documented wording
	errNoPrompt = errors.New("Input must be provided either through stdin or as a prompt argument when using --print")
	//lint:ignore ST1005 the documented wording
	errBlank = errors.New("Input contained only whitespace")
)

// promptText joins the prompt argument and what is piped in. warn is told what a user should know.
func promptText(arg string, in io.Reader, warn func(string)) (string, error) {
	piped := isPiped(in)
	if !piped {
		return checkPrompt(arg, errNoPrompt)
	}
	text, err := readStdin(in, arg != "", warn)
	if err != nil {
		if arg == "" || errors.Is(err, errTooLarge) {
			return "", err
		}
		warn(fmt.Sprintf("standard input could not be read (%v); going on with the prompt argument alone", err))
	}
	switch {
	case text == "":
		return checkPrompt(arg, errNoPrompt)
	case arg == "":
		return checkPrompt(text, errBlank)
	}
	return checkPrompt(arg+"\n\n"+text, errBlank)
}

func checkPrompt(text string, empty error) (string, error) {
	switch {
	case text == "":
		return "", empty
	case strings.TrimSpace(text) == "":
		return "", errBlank
	}
	return text, nil
}

// isPiped reports whether there may be something to read: not for a terminal, /dev/null or a closed descriptor.
func isPiped(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in != nil
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

var errTooLarge = fmt.Errorf("standard input is larger than %d MB; put it in a file and name the file in the prompt", maxStdin>>20)

// readStdin reads all of the input. Where there is a prompt argument already, an input that stays silent is left
// alone after a while: a script may have inherited a pipe that nobody will ever write to or close.
func readStdin(in io.Reader, optional bool, warn func(string)) (string, error) {
	type chunk struct {
		data []byte
		err  error
	}
	first := make(chan chunk, 1)
	go func() { // ends with the process when the pipe stays silent: a read from it cannot be cancelled
		buf := make([]byte, 64<<10)
		n, err := in.Read(buf)
		first <- chunk{buf[:n], err}
	}()
	var got chunk
	if optional {
		select {
		case got = <-first:
		case <-time.After(stdinWait):
			warn("nothing came on standard input in 3 seconds; going on without it (close it, or redirect it from /dev/null)")
			return "", nil
		}
	} else {
		got = <-first
	}
	if got.err != nil && !errors.Is(got.err, io.EOF) {
		return "", fmt.Errorf("read standard input: %w", got.err)
	}
	rest := []byte(nil)
	if got.err == nil {
		var err error
		if rest, err = io.ReadAll(io.LimitReader(in, maxStdin+1)); err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
	}
	data := append(got.data, rest...)
	if len(data) > maxStdin {
		return "", errTooLarge
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	if !utf8.ValidString(text) {
		warn("standard input is not valid UTF-8; broken bytes are replaced")
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return text, nil
}
