package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// flagError says what is wrong with the command line, and what was most likely meant.
func flagError(f *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		if meant := nearFlag(f, unknown.GetSpecifiedName()); meant != "" {
			return fmt.Errorf("%w. Did you mean --%s? (see lathe --help)", err, meant)
		}
	case errors.As(err, &value):
		kinds := map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false"}
		if kind := kinds[value.GetFlag().Value.Type()]; kind != "" {
			return fmt.Errorf("--%s must be %s, not %q", value.GetFlag().Name, kind, value.GetValue())
		}
	}
	return fmt.Errorf("%w (see lathe --help)", err)
}

// nearFlag finds the flag of which the name differs by one letter, or only by case, hyphens and underscores.
func nearFlag(f *pflag.FlagSet, name string) string {
	plain := strings.NewReplacer("-", "", "_", "")
	bare := strings.ToLower(plain.Replace(name))
	meant := ""
	f.VisitAll(func(flag *pflag.Flag) {
		have := strings.ToLower(plain.Replace(flag.Name))
		if !flag.Hidden && meant == "" && (bare == have || near(bare, have)) {
			meant = flag.Name
		}
	})
	return meant
}
