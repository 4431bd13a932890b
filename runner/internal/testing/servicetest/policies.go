package servicetest

import (
	"net/http"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// required returns a policy pack as an update gets it, with the URL of its archive.
func (s *Server) required(policy Policy) apitype.RequiredPolicy {
	policy.Required.PackLocation = s.URL + "/policies/" + policy.Required.Name
	return policy.Required
}

func (s *Server) policiesOfStack(request, *stack) (any, error) {
	answer := apitype.GetStackPolicyPacksResponse{}
	for _, policy := range s.options.Policies {
		answer.RequiredPolicies = append(answer.RequiredPolicies, s.required(policy))
	}
	return answer, nil
}

// downloadPolicy serves the archive of a policy pack without a token, as a storage with signed URLs does.
func (s *Server) downloadPolicy(w http.ResponseWriter, r *http.Request) {
	for _, policy := range s.options.Policies {
		if policy.Required.Name == r.PathValue("name") {
			writeAnswer(w, policy.Archive, nil)
			return
		}
	}
	http.NotFound(w, r)
}
