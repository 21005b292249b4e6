import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const GRACE = 'src/domain/policies/startup-grace';
const RATE = 'src/domain/policies/rate';
const WINDOWS = 'src/domain/policies/windows';
const COOLDOWN = 'src/domain/policies/cooldown';
const UNHEALTHY = 'src/domain/policies/max-unhealthy';
const NODE_SET = 'src/domain/policies/node-set';
const MEMBERS = 'src/controllers/fence/storm/etcd-members';
const FACTS = 'src/controllers/fence/storm/fence-facts';
const STORM = 'src/controllers/fence/storm/storm.test.ts';
const PREDECESSOR = 'src/controllers/fence/storm/predecessor';

/** Defects of the storm policies: of those that time ends, and of who counts as unhealthy. */
const TAKE_OVER = 'src/controllers/fence/storm/take-over.test.ts';

export const STORM_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'one more by its host',
    defect: 'a well node is power-cycled by its BareMetalHost though as many have failed as may be: the other one of two',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['offs.size === 0 ? this.activeHoldsOn(node, true)', 'offs.size === 0 ? this.activeHoldsOn(node)']],
    killedBy: byTest('src/controllers/fence/storm/on-request.test.ts', 'a well node that somebody asks for without a fence makes one more'),
  },
  {
    name: 'take-over as a start',
    defect: 'who takes over from a leader waits as after a start of the cluster',
    file: `${GRACE}.ts`,
    edits: [['controller.tookOver || nowMs >= untilMs', 'nowMs >= untilMs']],
    killedBy: byTest(`${GRACE}.test.ts`, 'startup-grace a take-over is not a start'),
  },
  {
    name: 'grace for what had begun',
    defect: 'a start stops fences that a former leader had begun',
    file: `${GRACE}.ts`,
    edits: [["(fence.state === 'new' || fence.state === 'final') && !fence.holdsSlot", '!fence.holdsSlot']],
    killedBy: byTest(`${GRACE}.test.ts`, 'startup-grace a fence that had begun goes on'),
  },
  {
    name: 'grace keeps a person waiting',
    defect: 'a fence that somebody asked for waits for the end of a start',
    file: `${GRACE}.ts`,
    edits: [['isNew && (fence?.isRequested !== true || fence.isRemedy === true)', 'isNew']],
    killedBy: byTest(`${GRACE}.test.ts`, 'startup-grace one that a person asked for'),
  },
  {
    name: 'well nodes kept as unhealthy',
    defect: 'a node that is well again still counts as it was while it had failed',
    file: `${NODE_SET}.ts`,
    edits: [['      else kept.delete(name);\n', '']],
    killedBy: byTest(
      `${NODE_SET}.test.ts`,
      'holds what a search through all of them finds, after any changes, and every policy rules the same on it',
    ),
  },
  {
    name: 'deleted nodes kept as unhealthy',
    defect: 'a Node that is deleted still counts as unhealthy',
    file: `${NODE_SET}.ts`,
    edits: [['    for (const kept of [...this.#kept.values(), ...this.#labelled.values()]) kept.delete(name);\n', '']],
    killedBy: byTest(
      `${NODE_SET}.test.ts`,
      'holds what a search through all of them finds, after any changes, and every policy rules the same on it',
    ),
  },
  {
    name: 'labels of a new node overlooked',
    defect: 'a label that nobody had when it was first asked for counts as one that nobody has: a full zone takes one more',
    file: `${NODE_SET}.ts`,
    edits: [['      else names.add(name);\n', '']],
    killedBy: byTest(
      `${NODE_SET}.test.ts`,
      'holds what a search through all of them finds, after any changes, and every policy rules the same on it',
    ),
  },
  {
    name: 'control plane not looked at',
    defect: 'healthy nodes of the control plane are none of those that count for the quorum',
    file: `${NODE_SET}.ts`,
    edits: [['({ isControlPlane }: StormNode) => isControlPlane', '(node: StormNode) => node.isControlPlane && isUnhealthy(node)']],
    killedBy: byTest('src/domain/policies/control-plane.test.ts', 'control-plane with unknown members one of three has failed'),
  },
  {
    name: 'label of a member forgotten',
    defect: 'a node whose etcd label was taken away is still a member of the quorum',
    file: `${MEMBERS}.ts`,
    edits: [['=== undefined) this.#labelled.delete(name);', '=== undefined) return false;']],
    killedBy: byTest(`${MEMBERS}.test.ts`, 'of K3s are the nodes that carry its label'),
  },
  {
    name: 'leader found dead',
    defect: 'a record that was only found counts as a leader that was seen',
    file: `${PREDECESSOR}.ts`,
    edits: [["if (before === undefined || was === '' || was === identity()", 'if (was === identity()']],
    killedBy: byTest(`${PREDECESSOR}.test.ts`, 'is none when the record of a dead leader was only found and waited out'),
  },
  {
    name: 'rate for ever',
    defect: 'what began before the window counts as well',
    file: `${RATE}.ts`,
    edits: [['view.nowMs - atMs < windowMs && counts(node)', 'counts(node)']],
    killedBy: byTest(`${RATE}.test.ts`, 'rate the fifth is just ten minutes old'),
  },
  {
    name: 'rate stops what has begun',
    defect: 'a fence that has begun is held by the rate of beginnings',
    file: `${RATE}.ts`,
    edits: [['holdsSlot(node) ? undefined', 'holdsSlot(node) && max < 0 ? undefined']],
    killedBy: byTest(`${RATE}.test.ts`, 'rate what has begun goes on'),
  },
  {
    name: 'the gone do not count',
    defect: 'the fence of a node that is gone does not count',
    file: `${RATE}.ts`,
    edits: [['scope === undefined || node === undefined || scope(node.labels)', 'scope === undefined || (node !== undefined && scope(node.labels))']],
    killedBy: byTest(`${RATE}.test.ts`, 'rate counts its scope only, and nodes that are gone'),
  },
  {
    name: 'allowed before denied',
    defect: 'an open window that allows outweighs one that denies',
    file: `${WINDOWS}.ts`,
    edits: [['if (denied !== undefined) {', 'if (denied !== undefined && openWindow(allow, view, offsetMs) === undefined) {']],
    killedBy: byTest(`${WINDOWS}.test.ts`, 'windows, on a Saturday at noon allowed and forbidden'),
  },
  {
    name: 'unreadable windows allow',
    defect: 'windows that nobody can read hold nobody',
    file: `${WINDOWS}.ts`,
    edits: [['settings.unreadable === undefined ? hold(settings, view) : unreadable(settings.unreadable)', 'hold(settings, view)']],
    killedBy: byTest(`${WINDOWS}.test.ts`, 'windows, on a Saturday at noon what nobody can read'),
  },
  {
    name: 'windows elsewhere',
    defect: 'windows go by the time of Greenwich instead of that of their zone',
    file: `${WINDOWS}.ts`,
    edits: [['const nowMs = offsetMs(wallMs);', 'const nowMs = 0;']],
    killedBy: byTest(`${WINDOWS}.test.ts`, 'windows, on a Saturday at noon a clock behind UTC'),
  },
  {
    name: 'no cooldown',
    defect: 'the last node that comes back after a storm is fenced',
    file: `${COOLDOWN}.ts`,
    edits: [['if (stormEndedAtMs === undefined) return', 'if (stormEndedAtMs === undefined || nowMs > stormEndedAtMs) return']],
    killedBy: byTest(`${COOLDOWN}.test.ts`, 'cooldown a breath before its end'),
  },
  {
    name: 'left off by a cooldown',
    defect: 'a fence that had switched its machine off before the storm is kept from going on',
    file: `${COOLDOWN}.ts`,
    edits: [['fence?.isSwitchedOff === true ? undefined', 'fence?.isSwitchedOff === true && nowMs < 0 ? undefined']],
    killedBy: byTest(`${COOLDOWN}.test.ts`, 'cooldown lets a fence be finished that was switched off before the storm'),
  },
  {
    name: 'cordoned once',
    defect: 'a node that was cordoned once is remembered for ever to have no terminating pod',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [['if (seen.size === 0) this.#terminating.delete(name);\n    else this', 'this']],
    killedBy: byTest(
      'src/controllers/fence/storm/node-roster.test.ts',
      'a node that was cordoned is held by nothing more than before, where no pod of it is terminating',
    ),
  },
  {
    name: 'own cordon as a hand',
    defect: 'what an earlier fence of the node left cordoned is taken for the cordon of an admin',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [['entry.ofFence.isCordonOurs || annotations[CORDON_MARK]', 'entry.ofFence.isCordonOurs && annotations[CORDON_MARK]']],
    killedBy: byTest('src/controllers/fence/storm/storm.test.ts', 'takes what an earlier fence of the node left cordoned for ours'),
  },
  {
    name: 'asked for while others are down',
    defect: 'a well node that somebody asks for begins while as many are unhealthy as may be, and then holds the fences of those',
    file: `${UNHEALTHY}.ts`,
    edits: [['!isUnhealthy(node) && isAskedFor(node) ?', '!isUnhealthy(node) && isAskedFor(node) && allowed < 0 ?']],
    killedBy: byTest(`${UNHEALTHY}.test.ts`, 'max-unhealthy of two nodes fences the one that failed, though somebody asks for the other one'),
  },
  {
    name: 'unsent counts as unhealthy',
    defect: 'a node to which nothing was sent counts as unhealthy for ever: each of two nodes holds the other',
    file: `${FACTS}.ts`,
    edits: [['status.journal.some(mayHaveBeenSent)', 'status.journal.length > 0']],
    killedBy: byTest(`${FACTS}.test.ts`, 'a fence in the picture makes no node count as failed that nothing was sent to'),
  },
  {
    name: 'two asked for at once',
    defect: 'two well nodes that somebody asks for begin in the same moment',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [[' || entry.ofFence.isBegun || entry.isReserved', ' || entry.ofFence.isBegun']],
    killedBy: byTest('src/controllers/fence/storm/storm.test.ts', 'begins with one of two well nodes that somebody asks for'),
  },
  {
    name: 'everybody looked at for everybody',
    defect: 'each node that asks has all silent nodes looked at: a thousand that failed keep the controller from renewing its Lease',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [['if (nowMs - this.#sweptAtMs >= SWEEP_MS) this.#sweep', 'this.#sweep']],
    killedBy: byTest(STORM, 'does not look at every silent node for every node that asks'),
  },
  {
    name: 'silence not looked for again',
    defect:
      'a node that was heard of when it was looked at is never looked at again: it counts as healthy when a switch takes it and all others down',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [['dueMs > nowMs) this.#lookAt(entry, dueMs ?? nowMs + RESYNC_MS);', 'dueMs > nowMs) return;']],
    killedBy: byTest('src/controllers/fence/storm/node-roster.test.ts', 'knows who is silent, whatever was heard and in whatever order'),
  },
  {
    name: 'mark of a moment ago',
    defect: 'what time changed of the node that is asked for is overlooked',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [['    this.#refreshOne(asked);\n', '']],
    killedBy: byTest(STORM, 'holds a failed node for as long as it renews its lease on the storage, though nothing else changes'),
  },
  {
    name: 'stops by an older question',
    defect: 'a question for stops that was sent before answers those who ask later',
    file: 'src/ports/shared-question.ts',
    edits: [['      this.#next = undefined;\n', '']],
    killedBy: byTest('src/controllers/fence/stop-answers.test.ts', 'that were sent before answer nobody who asks later'),
  },
  {
    name: 'a timer for each run',
    defect: 'each run that begins while stops are being read adds a timer that asks for them twice a second, as long as any run is under way',
    file: 'src/controllers/fence/stop-answers.ts',
    edits: [['this.#cancel ??= this.#dependencies', 'this.#cancel = this.#dependencies']],
    killedBy: byTest('src/controllers/fence/stop-answers.test.ts', 'are asked by one timer, also where runs end and begin while one is on its way'),
  },
  {
    name: 'unread marks taken for none',
    defect: 'a node that a NodeMaintenance has in hand is acted on before that was read',
    file: 'src/domain/policies/maintenance.ts',
    edits: [['      if (view.areMarksRead === false) return UNREAD;\n', '']],
    killedBy: byTest(STORM, 'holds a remedy until it is read whether others have the node in hand, also where nothing has failed before'),
  },
  {
    name: 'nobody asked for a request',
    defect: 'targets are asked only while a node has failed: the machine of a well one is never switched off on request',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['    this.#askAround();\n    return this.#judge(policies, nowMs);', '    return this.#judge(policies, nowMs);']],
    killedBy: byTest(
      STORM,
      'asks around for a node that is well, too, where its machine is to be switched off on request: it was held for ever by targets that nobody asked',
    ),
  },
  {
    name: 'marks read for an earlier question',
    defect: 'an answer to what was asked before counts as one to what is asked now',
    file: 'src/controllers/fence/storm/foreign-objects.ts',
    edits: [['asks === this.#asks', 'asks <= this.#asks']],
    killedBy: byTest(
      'src/controllers/fence/storm/foreign-objects.test.ts',
      'are not read until the answer to what was asked last is there, or an error, whatever an earlier one says',
    ),
  },
  {
    name: 'cooldown forgotten',
    defect: 'a leader that takes over behind a storm fences at once what comes back with the switch',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [["reasons.has('cooldown') || ", '']],
    killedBy: byTest(TAKE_OVER, 'waits for what the storm left behind to settle'),
  },
  {
    name: 'storm forgotten',
    defect: 'a storm that ends while another takes the lead leaves no cooldown behind',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['|| [...STORM_ITSELF].some((reason) => reasons.has(reason))', '']],
    killedBy: byTest(TAKE_OVER, 'waits for what the storm left behind to settle'),
  },
  {
    name: 'grace cut short',
    defect: 'a cluster that just came up is judged as soon as another replica takes the lead',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['&& !this.#isStarting', '']],
    killedBy: byTest(TAKE_OVER, 'judges nothing either before its own grace is over'),
  },
  {
    name: 'remedy before the take-over is judged',
    defect: 'a remedy that a new leader asks for first begins in the cooldown that its predecessor left',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['    if (this.#judgement === undefined) this.#judgeAnew(policies, nowMs);\n', '']],
    killedBy: byTest(TAKE_OVER, 'begins no remedy either, also where it asks for that first'),
  },
  {
    name: 'fences seen before their Nodes',
    defect: 'a leader that takes over begins more fences than may be at once: those under way came by the watch before their Nodes',
    file: 'src/controllers/fence/storm/node-roster.ts',
    edits: [['ofFence: this.#fences.get(name) ?? NO_FENCE,', 'ofFence: NO_FENCE,']],
    killedBy: byTest('src/controllers/fence/storm/storm-over.test.ts', 'counts slots of fences that the watches show before the Nodes'),
  },
  {
    name: 'echo against a start',
    defect: 'more fences begin in the window of rate than may: the echo of an earlier write takes a start back whose intent is on its way',
    file: 'src/controllers/fence/storm/starts.ts',
    edits: [['return this.#reserved.get(fence.spec.node) !== key && this.#drop(key);', 'return this.#drop(key);']],
    killedBy: byTest(
      'src/controllers/fence/storm/starts.test.ts',
      'one whose intent is on its way is not taken back by what the watch brings of the NodeFence meanwhile',
    ),
  },
  {
    name: 'quorum beside a request',
    defect: 'a control-plane node is fenced in the moment in which the host of another one is switched off on request: etcd loses its quorum',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['members: this.#members.list(isUp, members), offOnRequest: goingOff(this.#offs) }', 'members: this.#members.list(isUp, members) }']],
    killedBy: byTest(
      'src/controllers/fence/storm/on-request.test.ts',
      'no control-plane node is fenced while the host of another is switched off on request and the rest are no majority, from the turn in which that leaves',
    ),
  },
  {
    name: 'storm that ends with the next failure',
    defect:
      'a storm is taken to end when the next node fails, days later: that one waits for a cooldown, and metrics say meanwhile that nodes are held',
    file: 'src/controllers/fence/storm/storm.ts',
    edits: [['    this.#lookWhileTripped();\n    return holdsOf;', '    return holdsOf;']],
    killedBy: byTest(
      'src/controllers/fence/storm/storm-over.test.ts',
      'is over when all that it held are well and their fences over, though nobody asks any more: not when the next node fails',
    ),
  },
  {
    name: 'one lock of kured',
    defect: 'a node that kured reboots is fenced, where several may reboot at once',
    file: 'src/controllers/fence/storm/foreign-objects.ts',
    edits: [['Array.isArray(locks) ? locks.slice(0, LOCKS_MAX) : [written]', '[written]']],
    killedBy: byTest(
      'src/controllers/fence/storm/foreign-objects.test.ts',
      'are the locks of kured where several nodes may reboot at once, each from when it was taken',
    ),
  },
  {
    name: 'maintenance that nobody can read',
    defect: 'with a mistake in the hours of maintenance nodes are fenced in the middle of it',
    file: 'src/config/policies.ts',
    edits: [["return isBroken && (forbids || policy === 'alerts');", "return isBroken && (policy === 'windows' || policy === 'alerts');"]],
    killedBy: byTest(
      'src/config/policies.test.ts',
      'maintenance that cannot be used as written holds all nodes where it says what is under maintenance: nobody knows which are',
    ),
  },
];
