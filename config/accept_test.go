package config

import (
	"strings"
	"testing"
)

// TestAccept: every refusal that is not about the type of a value names the line that overrides it, and is overridden by
// it.
func TestAccept(t *testing.T) {
	t.Parallel()
	one, nine := 1, 9
	keys := []Key{
		{Name: "a:form", Kind: String, Form: Email}, {Name: "a:set", Kind: String, Allowed: []string{"x", "y"}},
		{Name: "a:number", Kind: Int, Min: &one, Max: &nine}, {Name: "a:list", Kind: List, Form: Range},
		{Name: "a:twice", Kind: List, Form: Host}, AcceptDeclaration(),
	}
	rule := func(v Values) []Finding { return append(Wrong("a:rule", "is odd"), Doubtful("a:rule", "is rare")...) }
	for line, key := range map[string]string{
		"a:form: nobody": "a:form", "a:set: z": "a:set", "a:number: 10": "a:number", "a:number: 0": "a:number", "a:list: [10.0.0.1/8]": "a:list",
		"a:twice: [x.y, x.y]": "a:twice", "a:fomr: x": "a:fomr", "a:rule: x": "a:rule",
	} {
		judge := func(more string) (found []Problem) {
			file, err := ParseStack("f", []byte("config:\n  "+line+"\n"+more))
			if err != nil {
				t.Fatal(err)
			}
			values := Values{Get: func(string) any { return nil }, IsSet: func(string) bool { return true }}
			problems, doubts := file.Judge([]Rule{rule}, values)
			if key != "a:rule" {
				return file.Check(keys)
			}
			return append(problems, doubts...)
		}
		found := judge("")
		accept := "  runner:accept: [\"" + key + "\"]"
		if len(found) == 0 || !strings.HasSuffix(found[0].HowToAccept(), strings.TrimSpace(accept)) {
			t.Errorf("%s: the line is not named: %v", line, found)
		}
		if found := judge(accept + "\n"); len(found) > 0 && key != "a:rule" || len(found) > 0 {
			t.Errorf("%s: refused although it is accepted: %v", line, found)
		}
	}
	file, err := ParseStack("f", []byte("config:\n  a:number: many\n  runner:accept: a:number\n"))
	if err != nil || len(file.Check(keys[:5])) != 1 {
		t.Errorf("a text for a number was accepted: %v, %v", err, file.Check(keys[:5]))
	}
}

func TestCheckHeader(t *testing.T) {
	t.Parallel()
	const salt = "v1:qLJ0iv4Tx9s=:v1:X+5N0AjT+hlyzIDn:RdXW5Ur5JlPMgXTJ2GTSNUuIiR3wEA=="
	for header, want := range map[string]string{
		"encryptionsalt: " + salt: "", "": "", "secretsprovider: passphrase": "", "secretsprovider: awskms://alias/x\nencryptedkey: QUJD": "",
		"secretsprovider: default": "", "secretsprovider: hashivault://x": "",
		"encryptionsalt: hello":                                "f:1: encryptionsalt is not a salt that Pulumi wrote",
		"config: {}\nencryptionsalt: v1:abc":                   "f:2: encryptionsalt is not a salt",
		"secretsprovider: awskm://alias/x":                     `f:1: secretsprovider is "awskm://alias/x", which is no key service that Pulumi knows; known: passphrase, default, awskms, azurekeyvault, gcpkms, hashivault; did you mean "awskms"?`,
		"secretsprovider: awskms":                              `f:1: secretsprovider is "awskms"; write the address of a key`,
		"secretsprovider: awskms://x\nencryptionsalt: " + salt: "f:2: encryptionsalt is the salt of a passphrase, but secretsprovider names a key service",
		"encryptedkey: QUJD":                                   "f:1: encryptedkey is the key of a key service",
	} {
		file, err := ParseStack("f", []byte(header+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, problem := range file.CheckHeader() {
			got += problem.String()
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}
