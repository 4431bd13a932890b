package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program of an own project in TypeScript, which needs no plugin: a component,
// what another project exports, and a secret.
const shopProgram = `import * as pulumi from "@pulumi/pulumi";

const config = new pulumi.Config();
const base = new pulumi.StackReference("organization/shop-base/" + pulumi.getStack());

class Shop extends pulumi.ComponentResource {
    constructor(name: string) {
        super("shop:index:Shop", name);
        this.registerOutputs();
    }
}

new Shop("shop");
new pulumi.Stash("domain", {input: base.requireOutput("domain")});
export const url = pulumi.interpolate` + "`https://${base.getOutput(\"domain\")}/`" + `;
export const replicas = config.requireNumber("replicas");
export const token = base.getOutput("token");
`

// petsProgram is one that needs a plugin.
const petsProgram = `import * as random from "@pulumi/random";

export const pets: random.RandomPet[] = [1, 2].map(i => new random.RandomPet("pet-" + i, {length: 2}));
export const count = pets.length;
`

// readerProgram does what app does in newReaders. It brings a resource of its own,
// because the package of the cloud is very large.
const readerProgram = `import * as pulumi from "@pulumi/pulumi";

class Repository extends pulumi.CustomResource {
    constructor(name: string, args: {name: pulumi.Input<string>}) {
        super("aws:ecr/repository:Repository", name, args);
    }
}

const hearing = new pulumi.StackReference("organization/hearing/" + pulumi.getStack());
new Repository("repository", {name: hearing.requireOutput("heard")});
new pulumi.Stash("key", {input: hearing.requireOutput("key")});
export const id = hearing.getOutput("id");
`

// changedOutputProgram does what the reader of TestChangedOutput does.
const changedOutputProgram = `import * as pulumi from "@pulumi/pulumi";

class Resource extends pulumi.CustomResource {
    constructor(type: string, name: string, args: pulumi.Inputs) {
        super(type, name, args);
    }
}

const net = new pulumi.StackReference("organization/net/" + pulumi.getStack());
new Resource("aws:ecr/repository:Repository", "repo", {name: net.requireOutput("reponame")});
new Resource("aws:ec2/securityGroup:SecurityGroup", "sg", {
    ingress: [{protocol: "tcp", fromPort: 22, toPort: 22, cidrBlocks: [net.requireOutput("cidr")]}],
});
`

// componentProgram is a plugin with a component that reads another stack.
const componentProgram = `import * as pulumi from "@pulumi/pulumi";
import * as provider from "@pulumi/pulumi/provider";

const type = "comp:index:Reader";

class Reader extends pulumi.ComponentResource {
    readonly heard: pulumi.Output<any>;
    constructor(name: string, options: pulumi.ComponentResourceOptions) {
        super(type, name, {}, options);
        const base = new pulumi.StackReference("organization/shop-base/" + pulumi.getStack(), {}, {parent: this});
        this.heard = base.requireOutput("domain");
        this.registerOutputs({heard: this.heard});
    }
}

class Provider implements provider.Provider {
    version = "0.0.1";
    schema = JSON.stringify({name: "comp", version: this.version, resources: {[type]: {isComponent: true, properties: {heard: {type: "string"}}}}});
    async construct(name: string, type: string, inputs: pulumi.Inputs, options: pulumi.ComponentResourceOptions): Promise<provider.ConstructResult> {
        const reader = new Reader(name, options);
        return {urn: reader.urn, state: {heard: reader.heard}};
    }
}

provider.main(new Provider(), process.argv.slice(2));
`

const typeScriptConfig = `{"compilerOptions": {"strict": true, "target": "es2020", "module": "commonjs", "moduleResolution": "node"}, "files": ["index.ts"]}`

// TestTypeScript runs projects in TypeScript with Pulumi's own language host, with
// Node.js and with packages from npm's registry: one on the real engine, and one
// without a plugin, simulated.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	host := os.Getenv("E2E_NODEJS")
	if host == "" {
		t.Skip("E2E_NODEJS names no pulumi-language-nodejs, which comes with Pulumi")
	}
	node, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Skipf("there is no Node.js: %v", err)
	}
	version, err := exec.Command(host, "-version").Output()
	if err != nil {
		t.Fatal(err)
	}
	run := realRun{
		Command: "E2E_NODEJS=PROGRAM go test -run TestTypeScript ./runner/internal/testing/e2e", Provider: "own", Projects: []string{"shop-base", "shop", "pets"},
		Versions: map[string]string{"Node.js": strings.TrimSpace(string(node)), "pulumi-language-nodejs": strings.TrimSpace(string(version)), "@pulumi/pulumi": "3.250.0", "@pulumi/random": "4.18.0"},
	}
	part := func(name string) { run.Parts = append(run.Parts, name) }

	e := newTypeScript(t, host)
	e.write("mara.yaml", "projects:\n  - path: base\n  - path: shop\n    reads: shop-base\n    outputs: [url]\n")
	base := "name: shop-base\nruntime: yaml\noutputs:\n  domain: example.com\n  token: {fn::secret: s3cret-token}\n"
	e.write("base/Pulumi.yaml", base)
	e.program("shop", shopProgram, `"@pulumi/pulumi": "3.250.0"`, "config:\n  replicas: {type: integer, default: 2}\n")
	if r := e.run("doctor"); r.code != 0 || !strings.Contains(r.stdout, "nodejs: shop") {
		t.Errorf("doctor: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	const installing = "installing the dependencies of shop (nodejs)"
	if r := e.run("preview"); r.code != 0 || !strings.Contains(r.stderr, installing) {
		t.Fatalf("preview: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	part("dependencies installed, and preview")
	r := e.run("up", "--yes")
	if r.code != 0 || strings.Contains(r.stderr, installing) || !strings.Contains(r.stdout, "https://example.com/") {
		t.Fatalf("up: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if strings.Contains(r.stdout, "warning") {
		t.Errorf("up warns:\n%s", r.stdout)
	}
	if r := e.run("outputs", "shop"); !strings.Contains(r.stdout, "replicas: 2") || !strings.Contains(r.stdout, "token: [secret]") {
		t.Errorf("outputs: %s%s", r.stdout, r.stderr)
	}
	part("up, with outputs that another project exports, one of them secret")
	if r := e.run("up", "--yes"); r.code != 0 || !strings.Contains(r.stdout, "2 unchanged") {
		t.Errorf("up again: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	part("nothing to do")
	e.write("base/Pulumi.yaml", strings.Replace(base, "example.com", "example.org", 1))
	if r := e.run("preview", "--diff"); r.code != 0 || !strings.Contains(r.stdout, "~ pulumi:index:Stash domain\n        input: ") || strings.Contains(r.stdout, "partial") {
		t.Errorf("preview of another output: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	part("preview with an output that another project would change")
	e.write("base/Pulumi.yaml", strings.Replace(base, "domain:", "dns:", 1))
	e.expectText(1, []string{
		`output "domain" would go, and shop reads outputs of this stack; the runner does not know which`,
		`shop/Pulumi.yaml reads output "domain" of shop-base, which exports dns, token (base/Pulumi.yaml:3)`,
	}, "preview")
	e.write("base/Pulumi.yaml", base)
	part("preview without an output that a program requires")

	e.write("mara.yaml", e.read("mara.yaml")+"  - {path: reader, reads: shop-base}\n")
	e.write("reader/Pulumi.yaml", "name: reader\nruntime: yaml\nplugins: {providers: [{name: comp, path: ./comp}]}\n"+
		"resources: {reader: {type: 'comp:index:Reader'}}\noutputs: {heard: '${reader.heard}'}\n")
	e.program("reader/comp", componentProgram, "", "")
	e.write("reader/comp/PulumiPlugin.yaml", "runtime: nodejs\n")
	if err := os.Symlink(filepath.Join(e.root, "shop/node_modules"), filepath.Join(e.root, "reader/comp/node_modules")); err != nil {
		t.Fatal(err)
	}
	if r := e.run("up", "--yes"); r.code != 0 {
		t.Errorf("up of a component: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	e.write("base/Pulumi.yaml", strings.Replace(base, "example.com", "example.org", 1))
	if r := e.run("preview"); r.code != 0 || !strings.Contains(r.stdout, `~ heard: "example.com" => "example.org"`) {
		t.Errorf("preview of a component: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.write("base/Pulumi.yaml", base)
	part("a remote component that reads another project, and its preview")

	e.write("shop/index.ts", strings.Replace(shopProgram, "new Shop", "new Shpo", 1))
	if r := e.run("up", "--yes"); r.code != 1 || !strings.Contains(r.stdout, "Cannot find name 'Shpo'") {
		t.Errorf("up of a program with a mistake: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	part("a program that does not compile")
	if r := e.run("destroy", "--yes"); r.code != 0 {
		t.Errorf("destroy: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	part("destroy")

	e = newTypeScript(t, host)
	e.write("mara.yaml", "projects:\n  - path: pets\n")
	e.program("pets", petsProgram, `"@pulumi/pulumi": "3.250.0", "@pulumi/random": "4.18.0"`, "")
	for _, operation := range []string{"preview", "up", "destroy"} {
		events := e.simulate(0, operation)
		if texts := warnings(events); len(texts) != 1 || !strings.Contains(texts[0], "not checked: the resources of the package random") {
			t.Errorf("simulated %s warns %q", operation, texts)
		}
		if operation == "up" {
			if r := e.run("outputs", "--simulate", "pets"); !strings.Contains(r.stdout, "count: 2") {
				t.Errorf("simulated outputs: %s%s", r.stdout, r.stderr)
			}
		}
	}
	part("simulated preview, up and destroy of a package whose plugin is not installed")

	e = asTypeScript(t, newReaders(t, embedded), host)
	e.program("app", readerProgram, `"@pulumi/pulumi": "3.250.0"`, "")
	e.checkNewName()
	part("a new name that goes from project to project, in previews, protection and a saved plan")

	changed := newChangedOutput(newEnvironment(t, embedded))
	asTypeScript(t, changed.environment, host).program("app", changedOutputProgram, `"@pulumi/pulumi": "3.250.0"`, "")
	changed.check()
	part("another value of an output, for which protection, rules and a person are asked before a resource is replaced")
	record(t, run)
}

// typeScript is an environment of programs in TypeScript.
type typeScript struct{ *environment }

func newTypeScript(t *testing.T, host string) typeScript {
	t.Helper()
	return asTypeScript(t, newEnvironment(t, embedded), host)
}

// asTypeScript has an environment find the language host and npm.
func asTypeScript(t *testing.T, e *environment, host string) typeScript {
	t.Helper()
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=secret", "PATH="+filepath.Dir(host)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if home, err := os.UserHomeDir(); err == nil { // npm finds its registry as it does outside of tests
		e.env = append(e.env, "NPM_CONFIG_USERCONFIG="+filepath.Join(home, ".npmrc"))
	}
	return typeScript{e}
}

// program writes a project.
func (e typeScript) program(name, program, dependencies, manifest string) {
	e.t.Helper()
	e.write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: nodejs\n"+manifest)
	e.write(name+"/package.json", `{"name": "`+name+`", "private": true, "main": "index.ts", "dependencies": {`+dependencies+`}, "devDependencies": {"typescript": "^5.0.0", "@types/node": "^20"}}`)
	e.write(name+"/tsconfig.json", typeScriptConfig)
	e.write(name+"/index.ts", program)
}
