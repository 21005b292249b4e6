import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SNAPSHOT = 'src/controllers/fence/snapshot.test.ts';
const STORM = 'src/controllers/fence/storm/storm.test.ts';

/** Defects of what observes, holds and releases. */
export const SHELL_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'their clock',
    defect: 'delays are counted from lastTransitionTime',
    file: 'src/controllers/fence/snapshot.ts',
    edits: [["? 'NotReady' : undefined, nowMs)", "? 'NotReady' : undefined, Date.parse(facts.readySince ?? '') - Date.now() + nowMs)"]],
    killedBy: byTest(SNAPSHOT, 'counts delays from our own first sight, whatever lastTransitionTime says'),
  },
  {
    name: 'stale renewal as life',
    defect: 'a renewal that was seen before counts as a sign of life when it comes again',
    file: 'src/controllers/fence/observation.ts',
    edits: [['renewTime === undefined || renewTime === this.renewTime', 'renewTime === undefined']],
    killedBy: byTest(SNAPSHOT, 'takes a renewed lease for life, and the same renewal seen again for none'),
  },
  {
    name: 'its own branch',
    defect: 'the controller fences the node on which it runs',
    file: 'src/controllers/fence/snapshot.ts',
    edits: [['if (options.ownNode === name)', 'if (options.ownNode === undefined)']],
    killedBy: byTest(SNAPSHOT, 'the node on which the controller itself runs'),
  },
  {
    name: 'silent watch',
    defect: 'nodes are judged by a watch that died silently',
    file: 'src/controllers/fence/snapshot.ts',
    edits: [['if (nowMs - oldest > options.staleAfterMs)', 'if (nowMs - oldest > Infinity)']],
    killedBy: byTest(SNAPSHOT, 'holds everything while the watch of nodes or of leases is silent: a cut-off controller does not judge others'),
  },
  {
    name: 'deaf and sure',
    defect: 'silence is counted from before the leases could be heard again',
    file: 'src/controllers/fence/snapshot.ts',
    edits: [['...(heardSinceMs === undefined ? {} : { heardSinceMs })', '...{}']],
    killedBy: byTest(SNAPSHOT, 'counts no silence from before the leases could be heard again'),
  },
  {
    name: 'identity of another Node',
    defect: 'what was recorded of an earlier Node of that name is trusted',
    file: 'src/controllers/fence/snapshot.ts',
    edits: [['report?.identity?.nodeUID === node?.metadata.uid ? report?.identity : undefined', 'report?.identity']],
    killedBy: byTest(SNAPSHOT, 'trusts a recorded identity only for the same Node object'),
  },
  {
    name: 'rounded up',
    defect: 'max-unhealthy rounds up',
    file: 'src/domain/policies/max-unhealthy.ts',
    edits: [['Math.floor((total', 'Math.ceil((total']],
    killedBy: byTest('src/domain/policies/max-unhealthy.test.ts', 'of 3 nodes with percentage=66'),
  },
  {
    name: 'policies hold nobody',
    defect: 'the verdicts of storm policies are dropped',
    file: 'src/domain/policies/judge.ts',
    edits: [['if (hold === undefined) continue;', 'if (hold !== null) continue;']],
    killedBy: byTest('src/domain/policies/judge.test.ts', 'hold a node for every reason, in their order, by their own names'),
  },
  {
    name: 'policies hold everybody',
    defect: 'a policy holds also nodes out of its scope',
    file: 'src/domain/policies/scope.ts',
    edits: [['scope === undefined ? ruling : (node) => (scope(node.labels) ? ruling(node) : undefined)', 'ruling']],
    killedBy: byTest('src/domain/policies/judge.test.ts', 'hold nobody outside their scope, and nobody who is not there'),
  },
  {
    name: 'domains not looked at',
    defect: 'a failure domain that is mostly gone holds nobody',
    file: 'src/domain/policies/failure-domain.ts',
    edits: [['if (within * 2 <= unhealthy) continue;', 'if (within >= 0) continue;']],
    killedBy: byTest('src/domain/policies/failure-domain.test.ts', 'says its numbers'),
  },
  {
    name: 'silence is health',
    defect: 'a node that is silent, and not yet NotReady, counts as healthy in a storm',
    file: 'src/domain/policies/scope.ts',
    edits: [["return health !== 'healthy' ||", "return health === 'failed' ||"]],
    killedBy: byTest('src/domain/policies/max-unhealthy.test.ts', 'one of two is held when the other is silent'),
  },
  {
    name: 'one slot too many',
    defect: 'max-concurrent admits one more',
    file: 'src/domain/policies/max-concurrent.ts',
    edits: [['if (holders.length >= max)', 'if (holders.length > max)']],
    killedBy: byTest('src/domain/policies/max-concurrent.test.ts', 'never admits more than max in all and in each domain, asked one after the other'),
  },
  {
    name: 'slot not reserved',
    defect: 'a slot is taken only when the write is acknowledged: two nodes get the last one',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['this.roster.reserve(fence.spec.node, true);', '']],
    killedBy: byTest(STORM, 'gives the last slot once: whoever is decided in the same moment sees it taken before any write is acknowledged'),
  },
  {
    name: 'slot never given back',
    defect: 'a slot stays taken when the write failed',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['this.roster.reserve(node, false);', '']],
    killedBy: byTest(STORM, 'gives the slot back when the write fails, and the next node is looked at'),
  },
  {
    name: 'stale permission',
    defect: 'what permitted a moment ago is not judged anew after a change',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['known?.version === this.version && ', 'known !== undefined && ']],
    killedBy: byTest(STORM, 'what forbids may be a moment old; what permits is never older than the last change'),
  },
  {
    name: 'taints of others wiped',
    defect: 'the taint agent replaces the taints of others',
    file: 'agents/taint/agent.ts',
    edits: [['[...(node.spec.taints ?? []), added]', '[added]']],
    killedBy: byTest('agents/cluster-agents.test.ts', 'adds its taint to those of others, and takes back only its own'),
  },
  {
    name: 'old heartbeat as news',
    defect: 'a heartbeat from before the off, which a watch that hung brings after it, voids the proof of a node that is let go already',
    file: 'src/controllers/fence/observation.ts',
    edits: [['if (node !== undefined) this.seeNode(node, nowMs);', '']],
    killedBy: byTest('src/controllers/fence/runs.test.ts', 'is heard now, and is no news after the off'),
  },
  {
    name: 'on becomes true',
    defect: "what is installed says on and off without quotes, and kubectl's reader of YAML 1.1 makes booleans of them",
    file: 'src/manifests/render.ts',
    edits: [[", compat: 'yaml-1.1' }", ' }']],
    killedBy: byTest('src/manifests/render.test.ts', 'keeps the string "on" as value and as key in both'),
  },
  {
    name: 'octal of Go',
    defect: "a string that only Go's reader takes for a number is printed without quotes",
    file: 'src/manifests/render.ts',
    edits: [["scalar.type = 'QUOTE_DOUBLE'", 'scalar.spaceBefore = false']],
    killedBy: byTest('src/manifests/render.test.ts', 'quotes 0O17, which readers that know no version of YAML take for something else'),
  },
  {
    name: 'server of YAML 1.2',
    defect: 'the embedded server takes on for a text where every real one takes it for true, so that what is wrong for kubectl passes here',
    file: 'src/drill/apiserver/yaml-body.ts',
    edits: [["'TRUE', 'on', 'On', 'ON']", "'TRUE']"]],
    killedBy: byTest('src/drill/apiserver/http-shell.test.ts', "reads YAML as kubectl's library does: on without quotes is true"),
  },
  {
    name: 'token without an end',
    defect: "the embedded server takes a ServiceAccount's token after its time and after its account",
    file: 'src/drill/apiserver/service-account-tokens.ts',
    edits: [
      [' || bound.expiresMs <= this.backend.clock.wallMs()', ''],
      ['if (account?.metadata.uid !== bound.uid) return undefined;', 'if (account === undefined && bound.uid === undefined) return undefined;'],
    ],
    killedBy: byTest(
      'src/drill/apiserver/service-account-tokens.test.ts',
      'ends with its account, and is not that of another one with the same name',
    ),
  },
  {
    name: 'first file only',
    defect: 'of a folder of config/ only the first file is installed, and the drill goes on',
    file: 'src/drill/shipped/manifests.ts',
    edits: [['?? resourcesOf(folder).flatMap(', '?? resourcesOf(folder).slice(0, 1).flatMap(']],
    killedBy: byTest('src/drill/shipped/shipped.test.ts', 'of config/crd are those in memory, read as kubectl reads them'),
  },
];
