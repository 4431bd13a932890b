module mara/scripts/requests

go 1.26.0

require (
	github.com/digitalocean/godo v1.236.0
	github.com/dlclark/regexp2 v1.12.0
	github.com/getkin/kin-openapi v0.146.0
	github.com/linode/linodego v1.58.0
)

require (
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/go-resty/resty/v2 v2.16.5 // indirect
	github.com/google/go-querystring v1.1.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.7 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/oasdiff/yaml v0.1.1 // indirect
	github.com/oasdiff/yaml3 v0.0.14 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2 // indirect
	golang.org/x/net v0.44.0 // indirect
	golang.org/x/oauth2 v0.30.0 // indirect
	golang.org/x/text v0.29.0 // indirect
	golang.org/x/time v0.6.0 // indirect
	gopkg.in/ini.v1 v1.66.6 // indirect
)
