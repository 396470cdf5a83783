package driver

import (
	"encoding"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// asDefault is a value that every option takes: its default, which is zero in
// the field. With it a DSN can undo an option of a service file.
const asDefault = "default"

// option is one key of a DSN and the Config field behind it.
type option struct {
	key     string // with the prefix
	initial string // the default: what zero in the field stands for
	planned bool   // see the function of that name
	values  string // what a value must be, for an error's sentence

	isZero func(*Config) bool
	clear  func(*Config)
	// text writes the field. Of a value that set gives no field, it writes what
	// set refuses.
	text func(*Config) string
	// set is the inverse of text. It reports whether the text is a valid value,
	// and leaves the field alone if it is not.
	set func(*Config, string) bool
}

// parse sets the option's field to what value says.
//
// Errors: value is not valid; the sentence does not repeat it.
func (o option) parse(c *Config, value string) error {
	if value == asDefault {
		o.clear(c)
		return nil
	}
	if !o.set(c, value) {
		return errors.New("pgryw: " + o.key + " must be " + o.values + ", or " + asDefault)
	}
	return nil
}

// format is the inverse of parse.
func (o option) format(c *Config) string {
	if o.isZero(c) {
		return asDefault
	}
	return o.text(c)
}

// check reports whether the option's field may have the value that it has.
//
// Errors: no DSN could have set it, or its effect is not built yet.
func (o option) check(c *Config) error {
	value := o.format(c)
	if err := o.parse(new(Config), value); err != nil {
		return err
	}
	if o.planned && value != asDefault && value != o.initial {
		return errors.New("pgryw: " + o.key + " is not built yet; it can only be left at its default, " + o.initial)
	}
	return nil
}

// newOption returns an option without its values, text and set.
func newOption[T comparable](key, initial string, field func(*Config) *T) option {
	var zero T
	return option{
		key:     prefix + key,
		initial: initial,
		isZero:  func(c *Config) bool { return *field(c) == zero },
		clear:   func(c *Config) { *field(c) = zero },
	}
}

// word returns an option whose values have names.
func word[T interface {
	~uint8
	fmt.Stringer
	encoding.TextMarshaler
}, P interface {
	*T
	encoding.TextUnmarshaler
}](key, initial string, field func(*Config) P) option {
	var names []string
	for v := T(0); ; v++ {
		name, err := v.MarshalText()
		if err != nil {
			break
		}
		names = append(names, string(name))
	}

	o := newOption(key, initial, func(c *Config) *T { return field(c) })
	o.values = "one of " + strings.Join(names, ", ")
	o.text = func(c *Config) string { return (*field(c)).String() }
	o.set = func(c *Config, text string) bool { return field(c).UnmarshalText([]byte(text)) == nil }
	return o
}

// onOff returns an option that is a switch, off in the zero Config.
func onOff(key, initial string, field func(*Config) *bool) option {
	o := newOption(key, initial, field)
	o.values = "one of off, on"
	o.text = func(*Config) string { return "on" }
	o.set = func(c *Config, text string) bool {
		if text != "off" && text != "on" {
			return false
		}
		*field(c) = text == "on"
		return true
	}
	return o
}

// count returns an option that is a number of things.
func count[T int | int32](key, initial string, field func(*Config) *T) option {
	o := newOption(key, initial, field)
	o.values = "a whole number, 0 or more"
	o.text = func(c *Config) string { return strconv.FormatInt(int64(*field(c)), 10) }
	o.set = func(c *Config, text string) bool {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || int64(T(n)) != n {
			return false
		}
		*field(c) = T(n)
		return true
	}
	return o
}

// duration returns an option that is a time. One whose default is not 0 does
// not take 0, which a reader of the DSN would take for "never" or "at once".
func duration(key, initial string, field func(*Config) *time.Duration) option {
	o := newOption(key, initial, field)
	o.values = "0 or a duration with its unit, such as 20ms"
	least := time.Duration(0)
	if initial != "0" {
		o.values = "a duration above 0 with its unit, such as " + initial
		least = 1
	}
	o.text = func(c *Config) string { return formatDuration(*field(c)) }
	o.set = func(c *Config, text string) bool {
		d, err := time.ParseDuration(text)
		if err != nil || d < least {
			return false
		}
		*field(c) = d
		return true
	}
	return o
}

// formatDuration writes d as time.ParseDuration reads it, in ASCII and without
// the zeros that its String puts behind whole hours and minutes.
func formatDuration(d time.Duration) string {
	s := strings.Replace(d.String(), "µ", "u", 1)
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
