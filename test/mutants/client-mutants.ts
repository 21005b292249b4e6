import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const GATE = 'src/kube/gated-request.test.ts';
const LATE = 'src/controllers/fence/release/late-send.test.ts';
const NOT_FOUND = 'src/kube/not-found.test.ts';
const WENT_BACK = 'src/kube/went-back.test.ts';
const NODE_RECORDS = 'src/controllers/fence/node-records.test.ts';
const INITIAL_EVENTS = 'src/kube/initial-events.test.ts';
const CLUSTER_AGENTS = 'agents/cluster-agents.test.ts';

/** Defects of the client of the API server. */
export const CLIENT_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'gate before TLS',
    defect: 'a write is allowed when TCP stands; its bytes leave when TLS does, whatever came in between',
    file: 'src/kube/transport/gated-request.ts',
    edits: [["  if (socket instanceof TLSSocket) return secured.has(socket) ? undefined : 'secureConnect';\n", '']],
    killedBy: byTest(GATE, 'holds back what waited for TLS when a stop came meanwhile'),
  },
  {
    name: 'gate before the socket',
    defect: 'a write is allowed before it waits for a socket; 8 force-deletes reached the server two seconds after a stop',
    file: 'src/kube/https-transport.ts',
    edits: [
      [
        'sendWhenReady(outgoing, body, request.beforeSend, reject);',
        'request.beforeSend?.();\n      sendWhenReady(outgoing, body, undefined, reject);',
      ],
    ],
    killedBy: byTest(GATE, 'holds back what waited for a socket, or for a credential, when a stop came meanwhile'),
  },
  {
    name: 'release asks too early',
    defect: 'a release asks for stops and lease before each round only, not where the deletions leave',
    file: 'src/controllers/shared/release/pods.ts',
    edits: [['    beforeSend,\n  };', '  };']],
    killedBy: byTest(LATE, 'lets no deletion reach the server any more'),
  },
  {
    name: 'any 404',
    defect: "a proxy's 404 on the Lease counts as a Lease that does not exist, and the release passes",
    file: 'src/kube/client.ts',
    edits: [['return response.status === 404 && (await this.#isAbsent(what, resource, name, response)) ?', 'return response.status === 404 ?']],
    killedBy: byTest(NOT_FOUND, 'of a proxy is no absence, whether discovery can be asked or not'),
  },
  {
    name: 'absent without discovery',
    defect: 'a 404 to the list of stops counts as a kind that is not served, without a word of discovery',
    file: 'src/kube/client.ts',
    edits: [['if (served?.has(plural) === true) {', 'if (served === null) {']],
    killedBy: byTest(NOT_FOUND, 'of a proxy is no absence, whether discovery can be asked or not'),
  },
  {
    name: 'our kinds need not be there',
    defect: 'in our own cluster, NodeFenceStops that are not served count as no stop',
    file: 'src/kube/client.ts',
    edits: [['if (this.#isForeign && resource.group === GROUP) return [];', 'if (resource.group === GROUP) return [];']],
    killedBy: byTest(NOT_FOUND, 'is an error where it is ours, and empty in a workload cluster'),
  },
  {
    name: 'reports in one go',
    defect: 'after an installation the report of every node is made at once',
    file: 'src/controllers/fence/node-records.ts',
    edits: [['const INTERVAL_MS = 100;', 'const INTERVAL_MS = 0;']],
    killedBy: byTest(NODE_RECORDS, 'are made at once for a hundred, then ten a second, each once its turn has come'),
  },
  {
    name: 'identity unknown until its report',
    defect: 'a node that fails before its report is made is switched without a look at the identity of its machine',
    file: 'src/controllers/fence/node-records.ts',
    edits: [['if (isMissing) observation.machine = identityOf(this.#dependencies, node);', 'if (!isMissing) observation.machine = undefined;']],
    killedBy: byTest(NODE_RECORDS, 'are missed by nobody meanwhile: what the machine said of itself is kept'),
  },
  {
    name: 'half a stream is whole',
    defect: 'the first object of a stream counts as all that is there',
    file: 'src/kube/initial-events.ts',
    edits: [['kind: this.#resource.kind }));\n    return undefined;', 'kind: this.#resource.kind }));\n    return version;']],
    killedBy: byTest(
      INITIAL_EVENTS,
      'takes half of what is there for nothing: it is not synced, not fresh, and tells no change before the server says that it was all',
    ),
  },
  {
    name: 'any bookmark ends a stream',
    defect: 'a bookmark in the middle of a stream counts as its end',
    file: 'src/kube/initial-events.ts',
    edits: [["if (asFields(metadata?.['annotations'])?.[END_ANNOTATION] !== 'true') return undefined;", '']],
    killedBy: byTest(
      INITIAL_EVENTS,
      'takes half of what is there for nothing: it is not synced, not fresh, and tells no change before the server says that it was all',
    ),
  },
  {
    name: 'fresh while half',
    defect: 'each object of a stream makes a view fresh that does not have the rest',
    file: 'src/kube/reflector.ts',
    edits: [['        if (this.#initial !== undefined) return;\n', '']],
    killedBy: byTest(
      INITIAL_EVENTS,
      'takes half of what is there for nothing: it is not synced, not fresh, and tells no change before the server says that it was all',
    ),
  },
  {
    name: 'fresh as the end of a stream',
    defect: 'what was so when a stream was asked for counts as so when the stream ends',
    file: 'src/kube/reflector.ts',
    edits: [
      [
        "this.#adopt(initial.handOver(), version, askedAtMs, 'the initial events show');",
        "this.#adopt(initial.handOver(), version, this.#options.clock.monotonicMs(), 'the initial events show');",
      ],
    ],
    killedBy: byTest(INITIAL_EVENTS, 'is as fresh as its question, and from then on as what it hears'),
  },
  {
    name: 'state of any time',
    defect: 'a stream may begin with what the cache of a server happens to hold',
    file: 'src/kube/reflector.ts',
    edits: [['? INITIAL_EVENTS_QUERY :', "? { ...INITIAL_EVENTS_QUERY, resourceVersion: '0' } :"]],
    killedBy: byTest(INITIAL_EVENTS, 'asks for a consistent state, and goes on with that watch: nothing is ever listed'),
  },
  {
    name: 'deletions before the end',
    defect: 'what was deleted while a stream was sent stands in the view',
    file: 'src/kube/initial-events.ts',
    edits: [["if (type === 'DELETED') this.#objects.delete(key);\n    else ", "if (type !== 'DELETED') "]],
    killedBy: byTest(INITIAL_EVENTS, 'takes what happens before the end for a part of it'),
  },
  {
    name: 'stream before a restore',
    defect: 'a stream goes on that was begun before everything was to be read anew',
    file: 'src/kube/reflector.ts',
    edits: [['    this.#state.cache.outdated();\n    this.#turn.abort();\n', '    this.#state.cache.outdated();\n']],
    killedBy: byTest(INITIAL_EVENTS, 'drops a stream that was begun before everything was to be read anew'),
  },
  {
    name: 'silent stream',
    defect: 'a server that never ends a stream is waited for',
    file: 'src/kube/reflector.ts',
    edits: [["this.#streams = isRepeatable(result) ? 'now' : 'later';", "this.#streams = 'now';"]],
    killedBy: byTest(INITIAL_EVENTS, 'lists where a server that does not know the question sends everything and no end'),
  },
  {
    name: 'silence after a restore',
    defect: 'a watch that heard nothing goes on from the same version for ever, which a restored server reaches in a month',
    file: 'src/kube/reflector.ts',
    edits: [["this.#wasSilent ||= end === 'idle';", '']],
    killedBy: byTest(WENT_BACK, 'asks for the version when a watch from one that is still to come hears nothing, as on 1.36, and lists anew'),
  },
  {
    name: 'old bookmarks',
    defect: 'after a restore of etcd, bookmarks of a time that was before keep the view fresh',
    file: 'src/kube/watched-state.ts',
    edits: [["if (typeof version === 'string' && isOlder(version, this.#version)) {", 'if (version === null) {']],
    killedBy: byTest(WENT_BACK, 'lists anew at an older bookmark, and counts nothing as heard before that'),
  },
  {
    name: 'fresh while outdated',
    defect: 'a view that is known to be of another time counts as fresh until the new list is there',
    file: 'src/kube/watched-state.ts',
    edits: [['    this.cache.outdated();\n    metrics.wentBack', '    metrics.wentBack']],
    killedBy: byTest(WENT_BACK, 'lists anew at an older bookmark, and counts nothing as heard before that'),
  },
  {
    name: 'Retry-After of a day',
    defect: 'whoever answers for the API server can send a watch to sleep for a day',
    file: 'src/kube/status.ts',
    edits: [['Math.min(ms, RETRY_AFTER_MAX_MS)', 'ms']],
    killedBy: byTest(WENT_BACK, 'is heeded for 30 s at most: one of a day blinded the watch of Nodes for a day'),
  },
  {
    name: 'one lane',
    defect: 'deletions that hang behind a webhook take the sockets of lease renewals and stop reads; 12 releases lost the leadership',
    file: 'src/kube/https-transport.ts',
    edits: [["this.#connection.open(request.lane ?? 'calls')", "this.#connection.open('calls')"]],
    killedBy: byTest(GATE, 'take no connection from lease renewals, stop reads and other writes'),
  },
  {
    name: 'late deletion',
    defect: 'the server is not told to give a write up: a deletion by force takes effect half a minute later, when the machine may run again',
    file: 'src/kube/client.ts',
    edits: [["const query = wish.method === 'GET' ? {} :", "const query = wish.method !== 'POST' ? {} :"]],
    killedBy: byTest(
      'src/kube/client.test.ts',
      'tells the server to give a write up before it does itself: what nobody waits for takes no effect any more',
    ),
  },
  {
    name: 'server as patient as we',
    defect: 'the server gives a write up when we do, or later: that it had no effect is not heard',
    file: 'src/kube/client.ts',
    edits: [['const SERVER_SHARE = 0.8;', 'const SERVER_SHARE = 1;']],
    killedBy: byTest(
      'src/kube/client.test.ts',
      'tells the server to give a write up before it does itself: what nobody waits for takes no effect any more',
    ),
  },
  {
    name: 'no patience',
    defect: 'a gentle eviction is given up before a webhook that hangs is: behind one that is to be ignored none gets through',
    file: 'src/kube/client.ts',
    edits: [['mayBeLate ? { ...this.#patience, deadlineMs: Math.max(PATIENCE_MS, this.#deadlineMs) } : this.#patience', 'this.#patience']],
    killedBy: byTest('src/kube/gated-request.test.ts', 'take none from deletions by force where they are gentle, and wait longer'),
  },
  {
    name: 'lane of the patient',
    defect: 'gentle evictions that wait for a webhook take the connections of deletions by force',
    file: 'src/kube/client.ts',
    edits: [["    return 'patient';\n", "    return 'slow';\n"]],
    killedBy: byTest('src/kube/gated-request.test.ts', 'take none from deletions by force where they are gentle, and wait longer'),
  },
  {
    name: 'agents do not ask',
    defect: 'what an agent writes to a Node is not tied to the lease and to stops',
    file: 'agents/shared/node-edit.ts',
    edits: [['body, { beforeSend: () => target.beforeSend() }', 'body']],
    killedBy: byTest(CLUSTER_AGENTS, 'sends nothing when the lease check throws or the call was given up'),
  },
  {
    name: 'ungated preservation',
    defect: 'a replica that has lost the Lease marks the Machine that it decided upon before',
    file: 'src/controllers/preservation/controller.ts',
    edits: [['dependencies.machines && { ...dependencies.machines, cluster: gated(dependencies.machines.cluster) }', 'dependencies.machines']],
    killedBy: byTest('test/preservation/held-back.test.ts', 'sends nothing that it decided upon while it led'),
  },
  {
    name: 'ungated health checks',
    defect: 'a replica that has lost the Lease marks the Machine as unhealthy that it decided upon before',
    file: 'src/controllers/machine-health-check/controller.ts',
    edits: [['gatedWrites(conflictUnless(mayWrite))(dependencies.cluster)', 'gatedWrites(conflictUnless(() => true))(dependencies.cluster)']],
    killedBy: byTest('test/machine-health-check/shell.test.ts', 'sends nothing that it decided upon while it led'),
  },
  {
    name: 'ungated requests',
    defect: 'a replica that has lost the Lease begins the remediation that it decided upon before',
    file: 'src/controllers/node-remediation/controller.ts',
    edits: [['cluster: gated(given.cluster), workloadClusters', 'workloadClusters']],
    killedBy: byTest('test/node-remediation/shell.test.ts', 'sends nothing that it decided upon while it led'),
  },
  {
    name: 'ungated node locks',
    defect: 'a replica that has lost the Lease takes the lock of the node that it decided upon before',
    file: 'src/controllers/machine-remediation/controller.ts',
    edits: [['given.lockOn(cluster)', 'given.lockOn(given.cluster)']],
    killedBy: byTest('test/machine-remediation/held-back.test.ts', 'sends nothing that it decided upon while it led'),
  },
  {
    name: 'ungated hosts',
    defect: 'a replica that has lost the Lease begins the Metal3Remediation that it decided upon before',
    file: 'src/controllers/metal3-remediation/controller.ts',
    edits: [['own: gated(given.own), ', '']],
    killedBy: byTest('test/metal3-remediation/shell.test.ts', 'a controller sends nothing that it decided upon while it led'),
  },
  {
    name: 'ungated fences',
    defect: 'a leader writes records and statuses of fences after its Lease has ended',
    file: 'src/controllers/fence/controller.ts',
    edits: [['cluster: gate(given.cluster) }', 'cluster: gate === undefined ? given.cluster : given.cluster }']],
    killedBy: byTest('src/controllers/fence/gated-writes.test.ts', 'sends nothing more'),
  },
  {
    name: 'ungated node leases',
    defect: 'a leader that has lost its Lease takes the node lease of medik8s',
    file: 'src/controllers/shared/claims/node-leases.ts',
    edits: [['cluster: gate(dependencies.cluster) }', 'cluster: gate === undefined ? dependencies.cluster : dependencies.cluster }']],
    killedBy: byTest('src/controllers/shared/claims/node-leases.test.ts', 'are not taken where the leadership ends between the look and the write'),
  },
  {
    name: 'denied at once',
    defect: 'an API server whose RBAC is not loaded yet fails the steps of every fence',
    file: 'src/controllers/fence/runs.ts',
    edits: [['const report = this.#denials.weighed(run, outcome);', 'const { isDenied: _heard, ...report } = outcome;']],
    killedBy: byTest('src/controllers/fence/denials.test.ts', 'is asked again for 30 s, in case it is coming up'),
  },
  {
    name: 'denied for ever',
    defect: 'a fence that is denied what it needs asks again and again, and never fails',
    file: 'src/controllers/fence/denials.ts',
    edits: [['const isBorne = forMs < BEARABLE_MS;', 'const isBorne = forMs >= 0;']],
    killedBy: byTest('src/controllers/fence/denials.test.ts', 'is asked again for 30 s, in case it is coming up'),
  },
  {
    name: 'denied agents',
    defect: 'a cordon that a starting API server denies is refused, and not tried again',
    file: 'agents/shared/node-edit.ts',
    edits: [[', { cause: error }', ', {}']],
    killedBy: byTest('agents/cluster-agents.test.ts', 'calls ApiStatusError'),
  },
  {
    name: 'unclosed requests',
    defect: 'a controller of NodeFenceRemediations that was closed, for another one serves them now, still writes',
    file: 'src/controllers/shared/reconciler/reconciler.ts',
    edits: [['    this.#parts.gate.close();\n', '']],
    killedBy: byTest('test/node-remediation/shell.test.ts', 'sends nothing that it decided upon once it was closed'),
  },
  {
    name: 'unclosed machines',
    defect: 'a controller of Machines that was closed, for another one serves them now, still writes',
    file: 'src/controllers/shared/reconciler/reconciler.ts',
    edits: [['    this.#parts.gate.close();\n', '']],
    killedBy: byTest('test/machine-remediation/held-back.test.ts', 'sends nothing that it decided upon once it was closed'),
  },
  {
    name: 'unclosed hosts',
    defect: 'a controller of Metal3Remediations that was closed, for another one serves them now, still writes',
    file: 'src/controllers/shared/reconciler/reconciler.ts',
    edits: [['    this.#parts.gate.close();\n', '']],
    killedBy: byTest('test/metal3-remediation/shell.test.ts', 'a controller sends nothing that it decided upon once it was closed'),
  },
];
