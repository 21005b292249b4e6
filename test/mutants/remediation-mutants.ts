import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const TAKEN = 'test/metal3-remediation/taken-pods.test.ts';

const MACHINE_REMEDIATION = 'src/controllers/machine-remediation';
const DETACH = 'test/machine-remediation/detach.test.ts';
const OWNER = 'src/controllers/shared/remediation/owner-machine.ts';
const STATEMENTS = 'src/controllers/machine-health-check/statements.ts';
const ATTEMPT = 'src/controllers/node-remediation/attempt.ts';
const REQUEST = 'test/node-remediation/request.test.ts';
const READY_AGAIN = 'test/node-remediation/healthy-again.test.ts';
const NODES_GONE = 'test/machine-health-check/nodes-gone.test.ts';
const REQUEST_SHELL = 'test/node-remediation/shell.test.ts';
const CHECK_SHELL = 'test/machine-health-check/shell.test.ts';

/** Defects of what health checks ask for, and of what they are told. */
export const REMEDIATION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'outage as a deadline',
    defect: 'a Machine is deleted behind an outage of the API server because its Node, which nobody could hear, is not back',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [['return atMs + SLACK_MS < freshSinceMs + timeoutMs;', 'return false;']],
    killedBy: byTest('test/machine-remediation/outage.test.ts', 'is no silence of a node that is to come back'),
  },
  {
    name: 'outage as an off that fails',
    defect: 'an off that nobody could hear of is given up behind an outage of the API server',
    file: 'src/controllers/machine-remediation/situation.ts',
    edits: [['Math.max(holdSeenMs, hostsFreshSinceMs)', 'Math.max(holdSeenMs, 0)']],
    killedBy: byTest('test/machine-remediation/outage.test.ts', 'is no failure of the operator to prove an off'),
  },
  {
    name: 'outage as a host of nobody',
    defect: 'behind an outage of the API server a host whose operator could not write is taken for one that nobody serves, and fenced beside it',
    file: 'src/controllers/shared/baremetal-host/host-observations.ts',
    edits: [['Math.max(observation.emptySinceMs, this.#resumedAtMs() ?? 0)', 'Math.max(observation.emptySinceMs, 0)']],
    killedBy: byTest('test/baremetal-host/host-observations.test.ts', 'are served by nobody when nobody has written a status'),
  },
  {
    name: 'outage as a failed fence',
    defect: 'behind an outage of the cluster of its node the fence of a NodeFenceRemediation is withdrawn as one that took too long',
    file: 'src/controllers/node-remediation/controller.ts',
    edits: [['of [phase, nodeSight]) each.answered();', 'of [nodeSight]) each.answered();']],
    killedBy: byTest('test/node-remediation/outage.test.ts', 'an outage of the cluster of the Node is no failure of its fence'),
  },
  {
    name: 'outage as a node that is not back',
    defect: 'while the cluster of the Node can not be asked its machine is power-cycled again, and handed to its owner in the end',
    file: 'src/controllers/metal3-remediation/observe.ts',
    edits: [["return { ...(await nobodySide(dependencies, nodeName)), node: 'unknown' };", 'return nobodySide(dependencies, nodeName);']],
    killedBy: byTest('test/metal3-remediation/outage.test.ts', 'is no silence of the node: nothing is switched off again in it'),
  },
  {
    name: 'no time behind an outage',
    defect: 'behind an outage of its cluster a node that could not be heard is taken for one that did not come back in time',
    file: 'src/controllers/shared/first-seen-phase.ts',
    edits: [['nowMs - this.#answeredMs > OUTAGE_MS;', 'nowMs - this.#answeredMs > Infinity;']],
    killedBy: byTest('test/metal3-remediation/outage.test.ts', 'gives the node its whole time behind it'),
  },
  {
    name: 'time runs in a hold',
    defect: 'a fence that was held for longer than its request may take is withdrawn as soon as it may go on, in the midst of its off',
    file: 'src/controllers/shared/first-seen-phase.ts',
    edits: [['seenMs: phase.seenMs + nowMs - Math.max(this.#heldSinceMs, phase.seenMs)', 'seenMs: phase.seenMs']],
    killedBy: byTest('test/node-remediation/held.test.ts', 'at once has behind the hold what was left of it, and no more'),
  },
  {
    name: 'all its time anew behind a hold',
    defect: 'a request has its whole time again behind each hold of its fence',
    file: 'src/controllers/shared/first-seen-phase.ts',
    edits: [['seenMs: phase.seenMs + nowMs - Math.max(this.#heldSinceMs, phase.seenMs)', 'seenMs: nowMs']],
    killedBy: byTest('test/node-remediation/held.test.ts', 'in the midst of its time has behind the hold what was left of it, and no more'),
  },
  {
    name: 'time of a host runs in a hold',
    defect: 'the time of a Metal3Remediation whose node we fence runs while that fence is held',
    file: 'src/controllers/metal3-remediation/observe.ts',
    edits: [['memory.held(isOwn ? facts.heldBecause !== undefined : isHeldUp(snapshot, isFull));', 'memory.held(false);']],
    killedBy: byTest('test/metal3-remediation/by-fence.test.ts', 'has behind a hold the time that it had left before it, and no more'),
  },
  {
    name: 'waits for a boot in silence',
    defect: 'a request that is deleted, and whose fence keeps storage closed until a boot, never says what it waits for',
    file: 'src/controllers/node-remediation/ending.ts',
    edits: [['? awaitLetGo(snapshot, fence) : { dueInMs: POLL_MS };', '? { dueInMs: POLL_MS } : { dueInMs: POLL_MS };']],
    killedBy: byTest('test/node-remediation/held.test.ts', 'says that its fence is not let go where that takes longer than anything of it may'),
  },
  {
    name: 'outage as illness',
    defect:
      'a condition that stood before an outage of the API server counts through it, so that a machine nobody could hear is remediated at its end',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['Math.max(standing.seenMs, freshSinceMs) + timeoutMs;', 'Math.min(standing.sinceMs, freshSinceMs || Infinity) + timeoutMs;']],
    killedBy: byTest('test/machine-health-check/outage.test.ts', 'a machine whose node was silent for three seconds before it'),
  },
  {
    name: 'outage as missing node',
    defect: 'the startup timeout of a machine runs through an outage of the API server, in which no node could come',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['Math.max(beganMs, freshSinceMs.machine, freshSinceMs.node) + startupTimeoutMs;', 'Math.max(beganMs, 0) + startupTimeoutMs;']],
    killedBy: byTest('test/machine-health-check/outage.test.ts', 'the startup timeout begins anew too'),
  },
  {
    name: 'deleted with its volumes',
    defect: 'the Node of a Machine is deleted without a wait for its volumes, which stay attached for six minutes',
    file: `${MACHINE_REMEDIATION}/incident.ts`,
    edits: [['applies: (situation) => mustDetach(situation),', 'applies: () => false,']],
    killedBy: byTest(DETACH, 'is tainted out of service, and deleted when its volumes are detached'),
  },
  {
    name: 'on while out of service',
    defect: 'a host whose remediation is cancelled is switched on while its Node has our out-of-service taint, on which no pod can run',
    file: `${MACHINE_REMEDIATION}/detach.ts`,
    edits: [['(situation !== undefined && isReleasing(situation))', 'situation !== undefined']],
    killedBy: byTest(DETACH, 'is taken back before the host is switched on, when nobody asks any more'),
  },
  {
    name: 'waited for ever',
    defect: 'volumes that nobody detaches keep a Node from being deleted, and its host from being switched on, for ever',
    file: `${MACHINE_REMEDIATION}/detach.ts`,
    edits: [[' || isOverdue(snapshot)) return false;', ') return false;']],
    killedBy: byTest(DETACH, 'is deleted all the same when they are not detached in two minutes, and a person is told'),
  },
  {
    name: 'a fenced Node deleted with its volumes',
    defect: 'the Node of a machine that stays off is deleted while its volumes are being detached, which then takes six minutes',
    file: 'src/controllers/node-remediation/node-removal.ts',
    edits: [['attached > 0 && before.silentForMs < DETACH_TIMEOUT_MS', 'attached > Infinity']],
    killedBy: byTest('test/node-remediation/volumes.test.ts', 'goes as soon as its volumes are detached'),
  },
  {
    name: 'told in the history',
    defect: 'a condition without words is written into the deprecated list of a Machine, whose schema refuses the whole status',
    file: OWNER,
    edits: [
      [
        "return [{ path: ['status', 'conditions'], standing: conditions, condition }];",
        "return [{ path: ['status', 'conditions'], standing: conditions, condition }, { path: ['status', 'deprecated', 'v1beta1', 'conditions'], standing: [], condition: { ...condition, message: '' } }];",
      ],
    ],
    killedBy: byTest(REQUEST_SHELL, 'asks for the Machine: its node is fenced in the cluster of the Secret'),
  },
  {
    name: 'handed over in the history',
    defect: 'our own check hands a Machine to its owner in the deprecated list too',
    file: STATEMENTS,
    edits: [["apiVersion.endsWith('/v1beta2') ? ['v1beta2'] : ", '']],
    killedBy: byTest(CHECK_SHELL, 'is handed to its owner where there is no template, in the conditions that Cluster API reads'),
  },
  {
    name: 'an empty word',
    defect: 'our own check writes an empty message into a list whose schema has none',
    file: 'src/controllers/machine-health-check/conditions.ts',
    edits: [['withoutEmpty(said)', 'said']],
    killedBy: byTest(NODES_GONE, 'whose Node is gone is told as failed, in words that the definition of a Machine takes'),
  },
  {
    name: 'only told, and stuck',
    defect: 'a request does not end because a condition that is for readers only was refused',
    file: OWNER,
    edits: [[', mayBeRefused: true }', ' }']],
    killedBy: byTest(REQUEST_SHELL, 'is not kept from its end by what is only told, and that is told on the request'),
  },
  {
    name: 'Ready is healthy',
    defect: 'a node that is ill but Ready after its fence is neither tried again nor handed back',
    file: 'src/controllers/node-remediation/under-way.ts',
    edits: [['!node.isReady || (typeof machine === ', "!node.isReady || (typeof machine === 'string' && typeof machine === "]],
    killedBy: byTest(READY_AGAIN, 'that still stands while its node is Ready, and its health check finds it ill'),
  },
  {
    name: 'fenced though it came back',
    defect: 'a retry fences a node that has recovered meanwhile',
    file: ATTEMPT,
    edits: [['request.retryCount > 0 && node.isReady', 'request.retryCount < 0 && node.isReady']],
    killedBy: byTest(READY_AGAIN, 'is not tried again on a node that is Ready meanwhile'),
  },
  {
    name: 'behind another for ever',
    defect: 'a request waits without end for the fence of somebody else',
    file: ATTEMPT,
    edits: [['isPhaseOver(snapshot, isOff ? powerOffTimeoutMs + powerOnTimeoutMs : powerOffTimeoutMs)', 'isPhaseOver(snapshot, Infinity)']],
    killedBy: byTest(REQUEST, 'a node that somebody else fences and that is not proven off in time is a try that failed'),
  },
  {
    name: 'graced for others too',
    defect: 'a request waits for the grace of a controller that has only just come up, which holds no request',
    file: 'src/controllers/shared/claims/claim.ts',
    edits: [[" || status?.hold?.reason === 'startup-grace'", '']],
    killedBy: byTest('src/controllers/shared/claims/claim.test.ts', 'waits for a controller that has only just come up, where it says so'),
  },
  {
    name: 'ends for nobody',
    defect: 'a request that has failed keeps its finalizer because the cluster of a Node that is gone can not be read',
    file: 'src/controllers/node-remediation/observe.ts',
    edits: [['if (isEnding && hasNothingLeft(request)) return undefined;', '']],
    killedBy: byTest(REQUEST_SHELL, 'that has failed ends with its Machine and Node, though no Secret may be read'),
  },
  {
    name: 'unread, and why is not told',
    defect: 'why the Nodes of a Cluster can not be read is told nobody',
    file: 'src/controllers/machine-health-check/cache.ts',
    edits: [['return workloads.whyNot(place) ?? (', 'return (']],
    killedBy: byTest(NODES_GONE, 'that may not be read are told on the check, with the cause and the remedy, once'),
  },
  {
    name: 'no Cluster, no Nodes',
    defect: 'a check that names no Cluster takes Nodes that nobody reads for gone, and has their Machines remediated',
    file: 'src/controllers/machine-health-check/cache.ts',
    edits: [["if (!this.#freshPlaces.has(place)) return 'unknown';", "if (place === '' && !this.#freshPlaces.has(place)) return 'unknown';"]],
    killedBy: byTest('test/machine-health-check/changes.test.ts', 'concludes nothing of Nodes that can not be read'),
  },
  {
    name: 'no Cluster, not reached',
    defect: 'the Nodes of Machines whose check names no Cluster are never looked for',
    file: 'src/controllers/machine-health-check/changes.ts',
    edits: [['clusterName === undefined ? this.#cache.candidatesOf(check).map((machine) => machine.clusterName) : [clusterName];', '[clusterName];']],
    killedBy: byTest('test/machine-health-check/changes.test.ts', 'has the Nodes of its Machines read where the Cluster of each Machine has them'),
  },
  {
    name: 'who drives goes unsaid',
    defect: 'a health check that another controller drives is told as ours',
    file: 'src/cli/health-checks/drivers.ts',
    edits: [['if (!isOwn) return', "if (!isOwn && reason === '') return"]],
    killedBy: byTest('src/cli/health-checks/drivers.test.ts', 'is told: the one whose Lease is renewed'),
  },
  {
    name: 'time that nobody can keep',
    defect: 'a time for the off that is over before the delays of the node are fails every try without a word of why',
    file: 'src/domain/off-time.ts',
    edits: [['powerOffTimeoutMs > isolationDelayMs + powerManagementDelayMs', 'powerOffTimeoutMs > isolationDelayMs']],
    killedBy: byTest(
      'test/node-remediation/request.test.ts',
      'whose time for the off is over before the delays of its node are says so from the beginning, and at its end',
    ),
  },
  {
    name: 'left to the collector of pods',
    defect: 'behind the taint of a Metal3Remediation no pod is deleted by us: its replacement waits for the next round of the garbage collector',
    file: 'src/controllers/metal3-remediation/perform.ts',
    edits: [
      [
        "  if (action.kind === 'taint' && action.isPresent) {\n    const { clock, podsOf }",
        "  if (action.kind === 'taint' && action.isPresent && action.event === undefined) {\n    const { clock, podsOf }",
      ],
    ],
    killedBy: byTest(TAKEN, 'are deleted with the taint, in whichever cluster (false): their replacements do not wait for the garbage collector'),
  },
  {
    name: 'taken under a stop',
    defect: 'stops are not looked at between the taint of a Metal3Remediation and the deletion of its pods',
    file: 'src/controllers/shared/baremetal-host/take-pods.ts',
    edits: [['await Promise.all([unlessStopped(), nodeToRelease({ cluster, life }, target, proof)]);', '']],
    killedBy: byTest(TAKEN, 'stay once a person stops it, and are left to Kubernetes'),
  },
  {
    name: 'taken from a node that lives',
    defect: 'life is not looked for between the taint of a Metal3Remediation and the deletion of its pods',
    file: 'src/controllers/shared/baremetal-host/take-pods.ts',
    edits: [['await Promise.all([unlessStopped(), nodeToRelease({ cluster, life }, target, proof)]);', 'await unlessStopped();']],
    killedBy: byTest(TAKEN, 'stay once its node shows life, and are left to Kubernetes'),
  },
];
