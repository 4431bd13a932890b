package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"mara/config/files"
)

// TokenVariable has the access token of Pulumi Cloud. It belongs into the environment of the process alone.
const TokenVariable = "PULUMI_ACCESS_TOKEN"

// pulumiCloud is the backend that an access token alone logs in to.
const pulumiCloud = "https://api.pulumi.com"

// currentLogin reads the backend chosen with `pulumi login`; it is not set without a login.
// environ is the merged environment.
func currentLogin(environ map[string]string) (Value, error) {
	path := credentialsPath(environ)
	if path == "" {
		return Value{}, nil
	}
	data, err := files.Read(path, files.Text)
	if errors.Is(err, os.ErrNotExist) {
		return tokenLogin(environ), nil
	}
	if err != nil {
		return Value{}, fileError(path, err)
	}
	var credentials struct {
		Current string `json:"current"`
	}
	if err := json.Unmarshal(data, &credentials); err != nil && len(data) > 0 {
		return Value{}, &Error{Problems: []Problem{{File: path, Text: "is not valid JSON"}},
			Next: "log in again with `pulumi login`, or name the backend with " + BackendVariable}
	}
	if credentials.Current == "" {
		return tokenLogin(environ), nil
	}
	return Value{Text: credentials.Current, Origin: Origin{Source: FromLogin, File: path}}, nil
}

// tokenLogin returns Pulumi Cloud if there is an access token, which is all that pipelines
// have.
func tokenLogin(environ map[string]string) Value {
	if environ[TokenVariable] == "" {
		return Value{}
	}
	return Value{Text: pulumiCloud, Origin: Origin{Source: FromLogin, Name: TokenVariable}}
}

// credentialsPath returns the path of Pulumi's credentials file, or "".
func credentialsPath(environ map[string]string) string {
	switch {
	case environ["PULUMI_CREDENTIALS_PATH"] != "":
		return filepath.Join(environ["PULUMI_CREDENTIALS_PATH"], "credentials.json")
	case environ["PULUMI_HOME"] != "":
		return filepath.Join(environ["PULUMI_HOME"], "credentials.json")
	case environ["HOME"] != "":
		return filepath.Join(environ["HOME"], ".pulumi", "credentials.json")
	}
	return ""
}
