package refusal

// All returns the guards in the order of the page.
func All() []Entry {
	return []Entry{
		{
			Guard: Question, Stage: Deploying, Name: "question of `up`",
			Refuses:  "changes that nobody approved; without a terminal, pass `--yes` (code 2)",
			Override: "`--yes`", Flags: []string{"yes"},
		},
		{
			Guard: AutoApprove, Stage: Deploying, Name: "`--auto-approve-if`",
			Refuses:   "previews with a replacement (`no-replaces`), or with a replacement or deletion (`no-deletes`)",
			Undecided: "a partial preview of a deployed project is not approved",
			Override:  "the question, `--yes`", Flags: []string{"yes"},
		},
		{
			Guard: Approval, Stage: Deploying, Name: "[second look](previews.md#the-second-look)",
			Refuses: "a project that would do more than the user has approved, because it has changed since or because values " +
				"are known now",
			Undecided: "what cannot be compared is previewed again, and counts as changed",
			Override:  "the question, asked again", Flags: nil,
		},
		{
			Guard: Protection, Stage: Deploying, Name: "[protection](fleets.md#protected-or-for-a-time), `runner:protect: true`",
			Refuses: "an up that replaces or deletes a resource, but for [harmless types](mara-yaml.md#harmless); a `destroy`, " +
				"also with `--yes` (code 3)",
			Undecided: "a project whose preview was partial, or that has changed since its preview, is " +
				"[previewed again](previews.md#the-second-look) before it is touched, and stopped",
			Override: "the name of the stack, typed; `--allow NAME`: of the resource or its type for an up, of the stack for both. " +
				"`--config` and `RUNNER_CONFIG` cannot switch it off",
			Flags: []string{"allow"},
		},
		{
			Guard: Cluster, Stage: Deploying, Name: "[cluster](#when-a-cluster-goes)",
			Refuses: "an up that replaces or deletes a Kubernetes cluster, or deletes the nodes of one before new ones are ready",
			Undecided: "a cluster that does not answer is not replaced; one whose kind of resource the runner does not know is " +
				"left to Pulumi",
			Override: "the name of the stack, typed; `--allow NAME`", Flags: []string{"allow"},
		},
		{
			Guard: Rule, Stage: Deploying, Name: "[rules](policies.md#rules)",
			Refuses: "what a rule denies",
			Undecided: "a rule that fails, or that is stopped because it does not end, denies; the shipped rules do not judge " +
				"values that are `[unknown]`",
			Override: "an exception with a reason and a last day, or `off` as its level",
		},
		{
			Guard: PolicyPack, Stage: Deploying, Name: "[`--policy-pack`](policies.md#policy-packs-of-pulumis)",
			Refuses:   "projects that a mandatory policy denies, in the preview of an up",
			Undecided: "a pack that cannot be run fails the preview; a project whose preview was partial is previewed again",
			Override:  "an up without the pack",
		},
		{
			Guard: MaxMonthly, Stage: Deploying, Name: "[`--max-monthly`](policies.md#what-it-will-cost-at-least)",
			Refuses: "an environment that costs more",
			Undecided: "refuses what has no price, in its region or at all, what is unknown before the up, and deployed projects " +
				"that are not in the run",
			Override: "`--unknown-costs allow` for what it cannot decide", Flags: []string{"unknown-costs"},
		},
		{
			Guard: Plan, Stage: Deploying, Name: "[`--plan FILE`](policies.md#what-an-up-would-do-as-a-file)",
			Refuses: "a configuration, values of the environment file included, states, programs or a runner that have changed " +
				"(code 3), and each project that would not do what the file says, with the property and both values",
			Undecided: "values that were unknown in the plan are accepted; creations, replacements and deletions are compared in " +
				"any case. A program without a digest is refused",
			Override: "a new plan; `--unknown-programs allow` for programs without a digest", Flags: []string{"unknown-programs"},
		},
		{
			Guard: PlanDigest, Stage: Deploying, Name: "[`--plan-digest DIGEST`](policies.md#what-an-up-would-do-as-a-file)",
			Refuses:   "another plan than the approved one (code 3)",
			Undecided: "an empty or incomplete digest is refused (code 2)",
			Override:  "the digest of the plan",
		},
		{
			Guard: MissingOutput, Stage: Deploying, Name: "[outputs that are read](mara-yaml.md)",
			Refuses: "a reference in Pulumi YAML to an output that does not exist, which Pulumi takes for null: before anything " +
				"runs (code 3), or before the reader is touched",
			Undecided: "the outputs that programs in other languages read are not known in advance: the preview of the owner " +
				"warns of each output that disappears",
			Override: "`--on-missing-output warn`", Flags: []string{"on-missing-output"},
		},
		{
			Guard: Backend, Stage: Deploying, Name: "[backend](configuration.md#state)",
			Refuses: "another backend than the one that the environment was last deployed to from this root, or that files name, " +
				"where an up would create everything a second time (code 3)",
			Undecided: "states in a directory that cannot be read; a backend that is no directory is not asked whether anything is " +
				"left there",
			Override: "`--new-backend`; [`runner state move`](configuration.md#state) moves the states", Flags: []string{"new-backend"},
		},
		{
			Guard: NewStack, Stage: Deploying, Name: "new environment",
			Refuses: "an `up` or `preview` of an environment that neither files nor the backend know, where the root names its " +
				"environments, keeps stack files next to its projects, or knows a name that is near (code 3): the name is most " +
				"likely misspelled",
			Undecided: "a backend that does not answer fails the command",
			Override:  "the question on a terminal, `--new`", Flags: []string{"new"},
		},
		{
			Guard: UnknownStack, Stage: Deploying, Name: "name of the environment",
			Refuses: "`destroy`, `refresh`, `drift`, `outputs`, `status`, `unlock` and `hook run` for an environment without " +
				"configuration of which nothing is deployed (code 3): its name is most likely misspelled",
			Undecided: "states that cannot be read fail the command",
			Override:  "a stack file of that name",
		},
		{
			Guard: Rename, Stage: Deploying, Name: "[rename](mara-yaml.md)",
			Refuses: "an `up` that creates a project that is most likely the new name of a deployed one which no project claims " +
				"any more (code 3): its resources would exist twice. A preview warns",
			Undecided: "stacks that cannot be listed are a warning: nothing then speaks for a rename",
			Override:  "`adopt --rename OLD NEW` keeps the resources; `--allow orphan-and-new`", Flags: []string{"allow"},
		},
		{
			Guard: Repository, Stage: Deploying, Name: "another repository",
			Refuses: "an up or destroy of an environment that another repository has deployed into the same shared backend, by " +
				"the address of its remote `origin` and the place in it, which a tag of each stack has at Pulumi Cloud (code 3)",
			Undecided: "a root without a remote, or a record or tags from before, are not compared",
			Override:  "`--allow other-repository`", Flags: []string{"allow"},
		},
		{
			Guard: Account, Stage: Deploying, Name: "another account",
			Refuses: "an up, refresh or destroy of a project that was deployed to another account of its cloud than that of the " +
				"credentials, whose ID the first up records (code 3). A preview warns",
			Undecided: "an account that cannot be asked is taken for another one; one that could not be asked at the first up is not " +
				"held, with a warning; nor is one whose program gives credentials to its provider",
			Override: "`--allow other-account`, which records the new one", Flags: []string{"allow"},
		},
		{
			Guard: LostState, Stage: Deploying, Name: "state that is gone",
			Refuses: "an up or destroy of a project that a run has deployed here, according to its record, and whose state is " +
				"missing or empty though nothing has destroyed it: an up would create everything a second time (code 3). A preview " +
				"warns. The message names the newest copy of the state",
			Undecided: "states that cannot be read fail the command; a damaged record knows no deployed projects",
			Override:  "`--allow NAME` of the project", Flags: []string{"allow"},
		},
		{
			Guard: StateMove, Stage: Deploying, Name: "[`state move`](configuration.md#state)",
			Refuses:   "to overwrite another state, and states with interrupted operations, which Pulumi would forget (code 3)",
			Undecided: "a copy that cannot be read back and compared fails; the old states stay the valid ones",
			Override:  "the other state, taken away; `runner repair`",
		},
		{
			Guard: Lock, Stage: Deploying, Name: "[locks](locks.md)",
			Refuses:   "a second run on the same environment (code 4)",
			Undecided: "a lock whose holder may still work, as one of another machine or container, is not removed",
			Override:  "`runner unlock --force`",
		},
		{
			Guard: Question, Stage: Destroying, Name: "question of `destroy`",
			Refuses:  "a destroy whose stack's name no user has typed; without a terminal it wants `--yes` (code 2)",
			Override: "`--yes`", Flags: []string{"yes"},
		},
		{
			Guard: Protected, Stage: Destroying, Name: "Pulumi's option `protect: true`",
			Refuses: "a destroy, also of orphans, while a state of one of its projects has such a resource: each is named, and " +
				"nothing is deleted. Pulumi itself refuses half way, when what depends on the resource is gone. An `up` that drops " +
				"one fails in its preview, which is made even with `--yes`",
			Undecided: "a state that cannot be read",
			Override:  "`--skip` of their projects; `pulumi state unprotect`", Flags: []string{"skip"},
		},
		{
			Guard: Protection, Stage: Destroying, Name: "`fleet destroy`",
			Refuses: "all of its environments, while one of them is protected or has resources with `protect: true`: each is " +
				"named, and nothing is deleted in any (code 3 for a protected environment)",
			Undecided: "a configuration or state of one that cannot be read",
			Override:  "`--allow` of the stack, `--skip`, or the names of the other environments", Flags: []string{"allow", "skip"},
		},
		{
			Guard: Readers, Stage: Destroying, Name: "orphans that need it",
			Refuses:   "a destroy of a project that a deployed stack reads which no project claims any more (code 3)",
			Undecided: "stacks that cannot be listed or read fail the command",
			Override:  "`destroy --orphans` first; `--allow orphan-readers`", Flags: []string{"allow", "orphans"},
		},
		{
			Guard: LeftBehind, Stage: Destroying, Name: "cluster in a cloud",
			Refuses:   "the destruction of a cluster that still has load balancers or volumes which would stay, and cost",
			Undecided: "a cluster that does not answer, or refuses to with 401 or 403, is not destroyed",
			Override:  "`--leave-behind`", Flags: []string{"leave-behind"},
		},
		{
			Guard: UnknownAge, Stage: Destroying, Name: "`fleet reap`",
			Refuses: "environments without a time to live, protected ones, and younger ones",
			Undecided: "the age is not in the states or lies in the future, or `runner:ttl` is no duration: the others are " +
				"destroyed, and reap fails",
			Override: "`--unknown-age keep`, `--unknown-age destroy` for an age that is not known", Flags: []string{"unknown-age"},
		},
		{
			Guard: Promotion, Stage: RollingOut, Name: "[promotion](fleets.md#promotion)",
			Refuses:   "a wave while environments of earlier waves are not up to date (code 3)",
			Undecided: "a record that cannot be read, or a program without a digest, is not up to date",
			Override:  "`--out-of-order`", Flags: []string{"out-of-order"},
		},
		{
			Guard: Gate, Stage: RollingOut, Name: "[gates](fleets.md#waves)",
			Refuses: "the next wave, also in a later rollout, until each gate of the earlier waves has passed for the values and " +
				"programs that run there now (code 3 before anything runs)",
			Undecided: "a `drift` that has compared no project fails, and an `answers` without an address to ask; a resumed rollout " +
				"asks its gates again",
			Override: "`--skip-gate KIND`, `--out-of-order`; the run records them", Flags: []string{"skip-gate", "out-of-order"},
		},
		{
			Guard: MaxFailures, Stage: RollingOut, Name: "`maxFailures`",
			Refuses:  "further environments, after this number of failures",
			Override: "another `maxFailures` in `config/rollout.yaml`",
		},
	}
}
