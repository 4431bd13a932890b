package servicetest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// routes has all that the server answers.
func (s *Server) routes() {
	onStacks, onUpdates := stacks{s}, updates{s}
	s.mux.HandleFunc("GET /api/capabilities", func(w http.ResponseWriter, _ *http.Request) {
		writeAnswer(w, apitype.CapabilitiesResponse{Capabilities: s.capabilities()}, nil)
	})
	s.mux.HandleFunc("GET /api/cli/version", func(w http.ResponseWriter, _ *http.Request) {
		writeAnswer(w, apitype.CLIVersionResponse{LatestVersion: "3.0.0", OldestWithoutWarning: "3.0.0"}, nil)
	})
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "Not Found: "+r.Method+" "+r.URL.Path)
	})
	s.handle("GET /api/user", s.currentUser)
	s.handle("GET /api/user/organizations/default", s.defaultOrganization)
	s.handle("GET /api/user/stacks", onStacks.listStacks)
	s.handle("POST /api/stacks/{org}/{project}", onStacks.createStack)
	s.handle("HEAD /api/stacks/{org}/{project}", onStacks.projectExists)

	const one = "/api/stacks/{org}/{project}/{stack}"
	s.handleStack("GET "+one, onStacks.getStack)
	s.handleStack("DELETE "+one, onStacks.deleteStack)
	s.handleStack("POST "+one+"/rename", onStacks.renameStack)
	s.handleStack("PATCH "+one+"/tags", setTags)
	s.handleStack("GET "+one+"/export", exportStack)
	s.handleStack("GET "+one+"/export/{version}", exportStack)
	s.handleStack("GET "+one+"/outputs", getOutputs)
	s.handleStack("POST "+one+"/import", onStacks.importStack)
	s.handleStack("POST "+one+"/encrypt", encryptValue)
	s.handleStack("POST "+one+"/decrypt", decryptValue)
	s.handleStack("POST "+one+"/batch-encrypt", s.encryptBatch)
	s.handleStack("POST "+one+"/batch-decrypt", decryptBatch)
	s.handleStack("POST "+one+"/decrypt/log-decryption", logDecryption)
	s.handleStack("POST "+one+"/decrypt/log-batch-decryption", logDecryption)
	s.handleStack("GET "+one+"/updates", onUpdates.listUpdates)
	s.handleStack("GET "+one+"/updates/latest", latestUpdate)
	s.handleStack("GET "+one+"/updates/{version}", updateOfVersion)
	s.handleStack("GET "+one+"/policypacks", s.policiesOfStack)
	s.handleStack("POST "+one+"/begin-update", onUpdates.beginUpdate)
	s.handleStack("POST "+one+"/{kind}", onUpdates.createUpdate)
	s.handleStack("GET "+one+"/update/{update}", onUpdates.updateStatus)
	s.handleStack("POST "+one+"/update/{update}", onUpdates.startUpdate)
	s.handleStack("POST "+one+"/update/{update}/cancel", onUpdates.cancelUpdate)
	s.handleStack("GET "+one+"/update/{update}/events", onUpdates.updateEvents)
	s.handle("POST "+one+"/update/{update}/renew_lease", onUpdates.running(onUpdates.renewLease))
	s.handle("PATCH "+one+"/update/{update}/checkpoint", onUpdates.running(saveCheckpoint))
	s.handle("PATCH "+one+"/update/{update}/checkpointverbatim", onUpdates.running(saveVerbatim))
	s.handle("PATCH "+one+"/update/{update}/checkpointdelta", onUpdates.running(saveDelta))
	s.handle("PATCH "+one+"/update/{update}/journalentries", onUpdates.running(onUpdates.saveEntries))
	s.handle("POST "+one+"/update/{update}/events/batch", onUpdates.running(saveEvents))
	s.handle("POST "+one+"/update/{update}/complete", onUpdates.running(onUpdates.completeUpdate))

	s.handle("POST /api/esc/environments/{org}/yaml/check", s.checkEnvironment)
	s.handle("POST /api/esc/environments/{org}/yaml/open", s.openEnvironment)
	s.handle("GET /api/esc/environments/{org}/yaml/open/{session}", s.readEnvironment)
	s.mux.HandleFunc("GET /policies/{name}", s.downloadPolicy)
}

// capabilities are what the server offers.
func (s *Server) capabilities() []apitype.APICapabilityConfig {
	var offered []apitype.APICapabilityConfig
	offer := func(capability apitype.APICapability, version int, configuration string) {
		offered = append(offered, apitype.APICapabilityConfig{Capability: capability, Version: version,
			Configuration: json.RawMessage(configuration)})
	}
	offer(apitype.DeploymentSchemaVersion, 1, `{"version":4}`)
	offer(apitype.StackPolicyPacks, 1, `{}`)
	if !s.options.NoBatches {
		offer(apitype.BatchEncrypt, 1, `{}`)
	}
	if s.options.Deltas {
		offer(apitype.DeltaCheckpointUploadsV2, 2, `{"checkpointCutoffSizeBytes":1}`)
	}
	if s.options.BeginUpdate {
		offer(apitype.BeginUpdate, 1, `{}`)
	}
	if s.options.Outputs {
		offer(apitype.StackOutputs, 1, `{}`)
	}
	return offered
}

// account is a user or an organization, as Pulumi's client reads it.
type account struct {
	ID            string    `json:"id"`
	GitHubLogin   string    `json:"githubLogin"`
	Name          string    `json:"name"`
	Organizations []account `json:"organizations"`
}

func (s *Server) currentUser(r request) (any, error) {
	if r.user == nil {
		return nil, refuse(http.StatusForbidden, "a token of an update reads no user")
	}
	answer := account{ID: "user-" + r.user.login, GitHubLogin: r.user.login, Name: r.user.login}
	for _, name := range append([]string{r.user.login}, r.user.organizations...) {
		answer.Organizations = append(answer.Organizations, account{GitHubLogin: name, Name: name})
	}
	return answer, nil
}

func (s *Server) defaultOrganization(r request) (any, error) {
	if s.options.NoDefault {
		return nil, refuse(http.StatusNotFound, "Not Found")
	}
	organization := r.user.login
	if len(r.user.organizations) > 0 {
		organization = r.user.organizations[0]
	}
	return apitype.GetDefaultOrganizationResponse{GitHubLogin: organization}, nil
}

// isMember reports whether a user sees an organization.
func (u *user) isMember(organization string) bool {
	return u != nil && (organization == u.login || slices.Contains(u.organizations, organization))
}
