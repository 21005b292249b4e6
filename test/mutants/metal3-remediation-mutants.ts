import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const STOPPED_MEANWHILE = 'test/metal3-remediation/stopped-meanwhile.test.ts';
const HELD = 'test/metal3-remediation/held.test.ts';
const STOPPED = 'test/metal3-remediation/stopped.test.ts';
const FLOW = 'test/metal3-remediation/flow.test.ts';

/** Defects of what carries out a Metal3Remediation. */
export const METAL3_REMEDIATION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'each hiccup is an event',
    defect: 'a call that fails now and then is told on the remediation each time',
    file: 'src/controllers/metal3-remediation/controller.ts',
    edits: [['!isPassing(error) || memories.get(key)?.failing.isToBeReported() === true', '!isPassing(error) || memories.has(key)']],
    killedBy: byTest('test/metal3-remediation/outage.test.ts', 'a call that fails now and then is tried again'),
  },
  {
    name: 'a lasting trouble in silence',
    defect: 'nobody is told that the cluster of a node is not reached for minutes',
    file: 'src/controllers/shared/long-trouble.ts',
    edits: [['this.#isReported || nowMs - this.#sinceMs < REPORTED_AFTER_MS', 'this.#isReported || nowMs >= this.#sinceMs']],
    killedBy: byTest('test/metal3-remediation/outage.test.ts', 'a call that fails now and then is tried again'),
  },
  {
    name: 'off while a stop stands',
    defect: 'a host is told to power off although a stop came since it was decided',
    file: 'src/controllers/metal3-remediation/perform.ts',
    edits: [['if (isPowerOff(action, memory.uid)) await unlessStopped(dependencies, observation);', '']],
    killedBy: byTest(STOPPED_MEANWHILE, 'keeps a host on: the annotation that holds it off is not set'),
  },
  {
    name: 'taint while a stop stands',
    defect: 'a Node is tainted out of service although a stop came since it was decided',
    file: 'src/controllers/metal3-remediation/perform.ts',
    edits: [['        await unlessStopped(dependencies, observation);\n        await setTaint', '        await setTaint']],
    killedBy: byTest(STOPPED_MEANWHILE, 'keeps the workload: the Node, here or in another cluster, is not tainted out of service'),
  },
  {
    name: 'deletion while a stop stands',
    defect: 'a Node is deleted although a stop came since it was decided',
    file: 'src/controllers/metal3-remediation/perform.ts',
    edits: [['      await unlessStopped(dependencies, observation);\n      await removeNode', '      await removeNode']],
    killedBy: byTest(STOPPED_MEANWHILE, 'keeps the Node, here or in another cluster'),
  },
  {
    name: 'stop of one cluster',
    defect: 'a stop in the cluster of the controller does not count for a Node of another',
    file: 'src/controllers/shared/stops.ts',
    edits: [['return here !== undefined || place === undefined', 'return place === undefined']],
    killedBy: byTest(STOPPED_MEANWHILE, 'keeps a host on whose Node is in another cluster, in whichever of both it stands'),
  },
  {
    name: 'way back under a taint',
    defect: 'a host is switched on while its Node is still tainted out of service by us',
    file: 'src/controllers/metal3-remediation/steps.ts',
    edits: [['if (isOurTaint(snapshot)) return { actions: untaint(snapshot), dueInMs: SHORT_POLL_MS };', '']],
    killedBy: byTest(FLOW, 'takes its own taint back also when the off is doubted afterwards and never proven again'),
  },
  {
    name: 'on against a stop',
    defect: 'a host is switched on although a stop stands',
    file: 'src/controllers/metal3-remediation/steps.ts',
    edits: [['if (stopped !== undefined) return wait(stopped);', "if (stopped === '') return wait(stopped);"]],
    killedBy: byTest(FLOW, 'a person’s stop keeps it off, loudly'),
  },
  {
    name: 'held and off',
    defect: 'a hold does not keep a host on',
    file: 'src/controllers/metal3-remediation/steps.ts',
    edits: [['return hold === undefined ? step : wait(', "return hold?.reason !== '' ? step : wait("]],
    killedBy: byTest(FLOW, 'a hold stops power-off and release, and never the way back'),
  },
  {
    name: 'no time at all',
    defect: 'a timeout of 0 is kept: the owner is asked to replace the Machine at once',
    file: 'src/controllers/metal3-remediation/spec.ts',
    edits: [['seconds > 0 ? seconds : DEFAULT_TIMEOUT_MS / 1000', 'seconds']],
    killedBy: byTest('test/metal3-remediation/timeout-zero.test.ts', 'leaves the host its way back'),
  },
  {
    name: 'retry too many',
    defect: 'it is tried once more than the limit',
    file: 'src/controllers/metal3-remediation/situation.ts',
    edits: [['return retryCount >= retryLimit;', 'return retryCount > retryLimit;']],
    killedBy: byTest(FLOW, 'keeps what the first Node said when a second one, that came late, is deleted in a retry'),
  },
  {
    name: "somebody's taint is ours",
    defect: 'an out-of-service taint of an admin is taken away',
    file: 'src/controllers/metal3-remediation/situation.ts',
    edits: [["return mark !== undefined && !mark.endsWith(':ended') && isTainted(snapshot);", 'return isTainted(snapshot);']],
    killedBy: byTest(FLOW, 'leaves a taint that somebody else set before, and does not set its own'),
  },
  {
    name: 'in flight without measure',
    defect: 'all hosts of a site are cycled at once',
    file: 'src/controllers/metal3-remediation/in-flight.ts',
    edits: [['all.size < inFlightMax', 'all.size < Infinity']],
    killedBy: byTest('test/metal3-remediation/in-flight.test.ts', 'waits while as many are under way as may be, and counts itself once'),
  },
  {
    name: 'status of somebody else overwritten',
    defect: 'a status that somebody else has written since is overwritten',
    file: 'src/controllers/metal3-remediation/perform.ts',
    edits: [['if (!isSame) throw new Conflict(`the status of ${object.metadata.name} is another`);', '']],
    killedBy: byTest(
      'test/metal3-remediation/status-write.test.ts',
      'the status of a Metal3Remediation is left alone where somebody else wrote another phase',
    ),
  },
  {
    name: 'status without precondition',
    defect: 'a status is written under no version',
    file: 'src/controllers/metal3-remediation/perform.ts',
    edits: [['return { metadata: precondition(object), status };', 'return { status };']],
    killedBy: byTest('test/metal3-remediation/status-write.test.ts', 'is written under the uid and the version that it was decided for'),
  },
  {
    name: 'taint back at once',
    defect: 'the taint is taken back while the pods that it ends were not asked to end yet',
    file: 'src/controllers/metal3-remediation/running.ts',
    edits: [['isDrained(drain) && drain?.awaitedPods === 0;', 'isDrained(drain);']],
    killedBy: byTest(
      'test/metal3-remediation/workload.test.ts',
      'stays until the pods that it ends were asked to: whoever does that forgets it when the taint is gone',
    ),
  },
  {
    name: 'hosts unheard',
    defect: 'a host is power-cycled although the watch of hosts has been silent for minutes: whether anybody serves it is not known',
    file: 'src/controllers/metal3-remediation/controller.ts',
    edits: [['[remediations.lister, hosts, nodes];', '[remediations.lister, nodes];']],
    killedBy: byTest('test/metal3-remediation/outage.test.ts', 'of /baremetalhosts: nothing is written'),
  },
  {
    name: 'off of the own node',
    defect: 'a leader lets the host be switched off that it runs on itself, because its predecessor asked for it',
    file: 'src/controllers/metal3-remediation/running.ts',
    edits: [['return runsHere(snapshot.holds) ? withdraw(situation) : awaitOff(situation);', 'return awaitOff(situation);']],
    killedBy: byTest('test/metal3-remediation/own-node.test.ts', 'is not to be switched off any more'),
  },
  {
    name: 'own host let on while tainted',
    defect: 'the host that the leader runs on is let on while its Node is out of service',
    file: 'src/controllers/metal3-remediation/running.ts',
    edits: [['if (isOurTaint(snapshot)) return { actions: untaint(snapshot), dueInMs: SHORT_POLL_MS };\n', '']],
    killedBy: byTest('test/metal3-remediation/own-node.test.ts', 'is let on after the taint of the release is gone'),
  },
  {
    name: 'time runs before an off that is held',
    defect: 'the time of a Metal3Remediation runs while a hold keeps it from its off, and its host is tried again as soon as that ends',
    file: 'src/controllers/metal3-remediation/situation.ts',
    edits: [['return !isOnWayBack && phase', 'return isOnWayBack && phase']],
    killedBy: byTest(HELD, 'does not run before its off: behind a storm its host has as long as ever to be fit for one'),
  },
  {
    name: 'time runs for want of a place',
    defect: 'the time of a Metal3Remediation runs while it waits until fewer others are power-cycled',
    file: 'src/controllers/metal3-remediation/situation.ts',
    edits: [['(holds.length > 0 || isFull)', 'holds.length > 0']],
    killedBy: byTest(HELD, 'does not run before its off: behind as many others as may be power-cycled at once its host has as long as ever'),
  },
  {
    name: 'time runs under a stop',
    defect: 'a host that a person’s stop kept off is power-cycled once more as soon as that goes, or what was kept of its Node is lost',
    file: 'src/controllers/metal3-remediation/situation.ts',
    edits: [['  if (holds.some(({ isStop }) => isStop)) return true;\n', '']],
    killedBy: byTest(HELD, 'does not run while a person’s stop keeps it off: it is not power-cycled once more for that'),
  },
  {
    name: 'let on for a retry under a stop',
    defect: 'a host whose off can not be proven is let on, and its Machine handed to its owner in the end, although a person’s stop stands',
    file: 'src/controllers/metal3-remediation/steps.ts',
    edits: [['  if (stopped !== undefined) return wait(`${stopped}; ${why}`);\n', '']],
    killedBy: byTest(STOPPED, 'keeps a host off whose off can not be proven: it is let on when the stop is gone'),
  },
  {
    name: 'fence withdrawn under a stop',
    defect: 'a NodeFence that failed is withdrawn although a person’s stop stands',
    file: 'src/controllers/metal3-remediation/by-fence.ts',
    edits: [['  if (actions.length === 0) return step;\n', '']],
    killedBy: byTest(STOPPED, 'leaves the NodeFence that failed, and the Machine, as they are'),
  },
  {
    name: 'stop of a node out of sight',
    defect: 'a host is switched on against a stop of its node, because the cluster of that node does not answer',
    file: 'src/controllers/metal3-remediation/observe.ts',
    edits: [['...(await nobodySide(dependencies, nodeName))', '...(await nobodySide(dependencies))']],
    killedBy: byTest(STOPPED, 'keeps its host off, as long as it stands'),
  },
  {
    name: 'owner asked while a stop stands',
    defect: 'the owner of a Machine is asked to replace it although a stop came since it was decided',
    file: 'src/controllers/metal3-remediation/perform.ts',
    edits: [['      if (asksOwner(action)) await unlessStopped(dependencies, observation);\n', '']],
    killedBy: byTest(STOPPED_MEANWHILE, 'keeps a Machine from its owner, who would replace it'),
  },
];
