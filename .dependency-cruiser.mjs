// Imports point inwards: domain ← ports ← dispatch, controllers, agents, kube, http ← manager ← cli, drill. Tests may reach further than the code they test.
const TEST = '\\.test\\.ts$';

/** A folder whose code (not its tests) may import only what `allowed` matches. */
function only(name, folder, allowed, comment) {
  return { name, severity: 'error', comment, from: { path: folder, pathNot: TEST }, to: { pathNot: allowed } };
}

/** Packages or modules that only `places` may import. */
function sole(name, target, places, comment) {
  return { name, severity: 'error', comment, from: { pathNot: [...places, '^test/'] }, to: { path: target } };
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', comment: 'a cycle has no inside', from: {}, to: { circular: true } },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'an import must exist, and be declared in package.json',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-packages',
      severity: 'error',
      comment: 'what ships may not import what only development installs',
      from: { path: '^(src|agents)/', pathNot: TEST },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    only('domain-is-pure', '^src/domain/', ['^src/domain/'], 'the domain imports nothing: no npm, no node:, no port'),
    only(
      'ports-know-the-domain-only',
      '^src/ports/',
      ['^src/(ports|domain)/', '^node_modules/@kubernetes/client-node/'],
      'a port is an interface in words of the domain',
    ),
    only(
      'dispatch-reaches-the-world-through-ports',
      '^src/dispatch/',
      ['^src/(dispatch|domain|ports)/'],
      'dispatch runs agents that it is given; it knows none',
    ),
    only(
      'controllers-reach-the-world-through-ports',
      '^src/controllers/',
      ['^src/(controllers|dispatch|domain|ports)/'],
      'a controller is decide plus a thin shell over ports',
    ),
    {
      name: 'controllers-stand-alone',
      severity: 'error',
      comment: 'controllers share the domain, not each other',
      from: { path: '^src/controllers/([^/]+)/', pathNot: TEST },
      to: { path: '^src/controllers/[^/]+/', pathNot: ['^src/controllers/$1/', '^src/controllers/shared/'] },
    },
    {
      name: 'agents-know-their-device-only',
      severity: 'error',
      comment: 'an agent sees ports, types of the domain and agents/shared: never kube, controllers, dispatch or the drill',
      from: { path: '^agents/', pathNot: TEST },
      to: { path: '^src/', pathNot: ['^src/ports/', '^src/domain/'] },
    },
    {
      name: 'agents-stand-alone',
      severity: 'error',
      comment: 'agents share agents/shared, not each other; the registry names them all',
      from: { path: '^agents/([^/]+)/', pathNot: TEST },
      to: { path: '^agents/', pathNot: ['^agents/$1/', '^agents/shared/'] },
    },
    only(
      'kube-stands-on-ports',
      '^src/kube/',
      ['^src/(kube|domain|ports|runtime)/', '^node_modules/', '^(node:)?[a-z_]+(/promises)?$'],
      'the Kubernetes layer implements ports and knows no controller',
    ),
    only(
      'connectivity-stands-on-ports',
      '^src/connectivity/',
      ['^src/(connectivity|domain|ports)/', '^node_modules/', '^(node:)?[a-z_]+(/promises)?$'],
      'probes around the controller know no controller',
    ),
    {
      name: 'node-core-reaches-the-world-through-ports',
      severity: 'error',
      comment: "the daemon's core decides; files, sockets and devices are the shell's",
      from: { path: '^src/node/core/', pathNot: [TEST, '/testing/'] },
      to: { pathNot: ['^src/(node/core|domain|ports)/'] },
    },
    only(
      'node-shell-is-light',
      '^src/node/shell/',
      ['^src/(node|domain|ports|kube|runtime|telemetry|http)/', '^(node:)?[a-z0-9_]+(/promises)?$'],
      "the node's daemon loads no package, no agent and no controller: it must start fast and stay small",
    ),
    only(
      'node-checks-stand-alone',
      '^src/node/checks/',
      ['^src/(node/checks|domain|ports)/', '^(node:)?[a-z0-9_]+(/promises)?$'],
      'a check is called by the daemon, by node-problem-detector and by hand: it loads no package, and starts fast',
    ),
    {
      name: 'manager-knows-no-command',
      severity: 'error',
      comment: 'commands run the manager, which is simulated; never the other way round',
      from: { path: '^src/', pathNot: [TEST, '^src/(cli|drill)/', '^src/main\\.ts$'] },
      to: { path: '^src/cli/' },
    },
    {
      name: 'core-knows-no-drill',
      severity: 'error',
      comment: 'the product runs without its test bed; only the command that starts the drill knows it',
      from: { path: '^(src|agents)/', pathNot: [TEST, '^src/(drill|testbed|laws)/', '^src/cli/'] },
      to: { path: '^src/(drill|testbed|laws)/' },
    },
    {
      name: 'testbed-imports-nothing-it-judges',
      severity: 'error',
      comment:
        'the test bed has its own clients, kinds and constants, or a mistake would be on both sides; of ports it shares the wire and the kinds',
      from: { path: '^src/testbed/', pathNot: TEST },
      to: { path: '^(src|agents)/', pathNot: ['^src/(testbed|ports|runtime)/', '^src/laws/trace\\.ts$', '^src/domain/'] },
    },
    {
      name: 'testbed-imports-nothing-it-judges',
      severity: 'error',
      comment: 'of the domain, types; of the laws, the format of the trace',
      from: { path: '^src/testbed/', pathNot: TEST },
      to: { path: '^src/(domain|laws)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'laws-stand-alone',
      severity: 'error',
      comment: 'a judge knows the shape of what it reads, and nothing of how it is written',
      from: { path: '^src/laws/', pathNot: TEST },
      to: { pathNot: ['^src/(laws|ports|domain)/'] },
    },
    {
      name: 'laws-stand-alone',
      severity: 'error',
      comment: 'of ports and domain, types: constants are written anew, from the documents',
      from: { path: '^src/laws/', pathNot: TEST },
      to: { path: '^src/(ports|domain)/', dependencyTypesNot: ['type-only'] },
    },
    sole(
      'shapes-of-kubernetes-in-ports-only',
      '(^|/)@kubernetes/client-node(/|$)',
      ['^src/ports/'],
      'one importer of the shapes of @kubernetes/client-node',
    ),
    sole(
      'telemetry-packages-in-telemetry-only',
      '(^|/)node_modules/(pino|pino-pretty|prom-client)/',
      ['^src/telemetry/'],
      'one importer of pino and prom-client',
    ),
    sole(
      'zod-at-the-border-only',
      '(^|/)node_modules/zod/',
      ['^agents/.+/parameters\\.ts$', '^agents/shared/', '^src/config/'],
      'the domain gets parsed types',
    ),
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      comment: "a test is nobody's library",
      from: { pathNot: TEST },
      to: { path: TEST },
    },
    {
      name: 'nothing-shipped-imports-test-support',
      severity: 'error',
      comment: "a folder testing/ serves tests, and the test bed's programs are none",
      from: { path: '^(src|agents)/', pathNot: [TEST, '/testing/', '^src/(testbed|laws|drill)/'] },
      to: { path: '/testing/' },
    },
    {
      name: 'product-knows-no-bench',
      severity: 'error',
      comment: 'test/ and scripts/ depend on the product, never the other way round',
      from: { path: '^(src|agents)/', pathNot: TEST },
      to: { path: '^(test|scripts)/' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: { path: ['^dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
    // Zero modules would pass every rule.
    progress: { type: 'none' },
  },
};
