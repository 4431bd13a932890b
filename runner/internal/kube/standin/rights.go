package standin

import "slices"

// allows judges the spec of a SubjectAccessReview by the bindings of the cluster.
func (s *Server) allows(spec Object) bool {
	asked := spec.object("resourceAttributes")
	for _, binding := range s.Objects {
		kind := binding.text("kind")
		isHere := kind == "ClusterRoleBinding" || kind == "RoleBinding" && binding.namespace() == asked.text("namespace")
		if isHere && names(binding, spec) && s.gives(binding, asked) {
			return true
		}
	}
	return false
}

// names reports whether a binding is of the user, or of one of its groups.
func names(binding, spec Object) bool {
	return slices.ContainsFunc(binding.objects("subjects"), func(subject Object) bool {
		name := subject.text("name")
		return subject.text("kind") == "Group" && slices.Contains(spec.texts("groups"), name) ||
			subject.text("kind") == "User" && spec.text("user") == name
	})
}

// gives reports whether the role of a binding gives what is asked.
func (s *Server) gives(binding, asked Object) bool {
	role := binding.object("roleRef")
	verb, resource := asked.text("verb"), asked.text("resource")
	reads := slices.Contains([]string{"get", "list", "watch"}, verb)
	isRights := asked.text("group") == "rbac.authorization.k8s.io"
	// The roles that every cluster has, as far as the powers of access.Powers go.
	switch role.text("name") {
	case "cluster-admin":
		return true
	case "admin":
		return resource != "resourcequotas" || reads
	case "edit":
		return !isRights && (resource != "resourcequotas" || reads)
	case "view":
		return reads && !isRights && resource != "secrets"
	}
	for _, o := range s.Objects {
		isMeant := o.text("kind") == role.text("kind") && o.name() == role.text("name") &&
			(o.text("kind") == "ClusterRole" || o.namespace() == binding.namespace())
		if !isMeant {
			continue
		}
		has := func(list []string, text string) bool {
			return slices.Contains(list, text) || slices.Contains(list, "*")
		}
		if slices.ContainsFunc(o.objects("rules"), func(rule Object) bool {
			return has(rule.texts("verbs"), verb) && has(rule.texts("resources"), resource) &&
				has(rule.texts("apiGroups"), asked.text("group"))
		}) {
			return true
		}
	}
	return false
}
