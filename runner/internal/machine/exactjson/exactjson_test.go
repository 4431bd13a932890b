package exactjson

import (
	"encoding/json"
	"testing"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	const text = `{"n":12345678901234567890,"x":1.10}`
	var value any
	if err := Decode([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	if written, err := json.Marshal(value); err != nil || string(written) != text {
		t.Errorf("written again: %s, %v", written, err)
	}
	if err := Decode([]byte(`{"n":`), &value); err == nil {
		t.Error("half a value is no error")
	}
}
