package proc

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"
)

// Further descriptors come after those of the script and the report, and are closed here.
func TestFilesOfTheCaller(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, err = group(t).Run(context.Background(), Spec{
		Args: []string{"bash", "-c", "cat <&3 >&5"}, Script: []byte("hello"), Report: true, Files: []*os.File{w}, Env: Env(os.Environ()), Out: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r) // ends only when our end is closed
	if err != nil || string(got) != "hello" || out.Len() > 0 {
		t.Errorf("read %q, %v; output %q", got, err, out.String())
	}
}
