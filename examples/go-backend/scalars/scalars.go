// Package scalars has the Go types of the gateway's scalars that Go has no type for.
package scalars

import (
	"bytes"
	"encoding/json"
)

// NumberOrText holds a value that is a JSON number or a JSON string, such as 80, "http" or "500m": the text of either.
type NumberOrText string

// UnmarshalJSON reads a number with all of its digits, or a string.
func (value *NumberOrText) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte{'"'}) {
		var read string
		err := json.Unmarshal(text, &read)
		*value = NumberOrText(read)
		return err
	}
	*value = NumberOrText(text)
	return nil
}
