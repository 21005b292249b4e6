import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const FENCE_AND_REQUEST = 'test/machine-remediation/fence-and-request.test.ts';
const MACHINE_REMEDIATION_SHELL = 'test/machine-remediation/shell.test.ts';
const MACHINE_REMEDIATION_HELD_BACK = 'test/machine-remediation/held-back.test.ts';
const INCIDENT = 'test/machine-remediation/incident.test.ts';
const UPSTREAM_CASES = 'test/machine-remediation/upstream-cases.test.ts';

/** Defects of what remediates Machines by their hosts. */
export const MACHINE_REMEDIATION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'held is off',
    defect: 'a host that our annotation is to hold off counts as off, though its operator says that it is on',
    file: 'src/controllers/shared/baremetal-host/off-proof.ts',
    edits: [["  if (power.isOn) return { state: 'on' };\n", '']],
    killedBy: byTest(
      'test/simulation/secondary-controllers/hosts.test.ts',
      'frees nothing of a node that nobody reaches while its BMC lies (asked by metal3)',
    ),
  },
  {
    name: 'stop not asked before the off',
    defect: 'a host is told to power off although a stop stands',
    file: 'src/controllers/machine-remediation/observe.ts',
    edits: [["...(stop === undefined ? [] : [{ reason: 'stop', message: stop, isStop: true }]),", '']],
    killedBy: byTest(
      MACHINE_REMEDIATION_SHELL,
      'begins nothing under a person’s stop, and one that comes later keeps the Node and the host as they are, loudly',
    ),
  },
  {
    name: 'stop not asked at the off',
    defect: 'a host is told to power off against a stop that came after the look',
    file: 'src/controllers/machine-remediation/perform.ts',
    edits: [['key === HOLD && to !== undefined)', 'key === HOLD && to === undefined)']],
    killedBy: byTest(MACHINE_REMEDIATION_HELD_BACK, 'switches nothing off against a stop that came between its look and its write'),
  },
  {
    name: 'hold of mark',
    defect: 'a host is kept off while its Machine is being deleted',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [
      [
        'applies: ({ machine, isHeld }) => machine.isDeleting && isHeld,',
        'applies: ({ machine, isHeld }) => machine.isDeleting && isHeld && machine.isPaused,',
      ],
    ],
    killedBy: byTest(INCIDENT, 'whose Machine is being deleted is not left off, and no Node is deleted any more'),
  },
  {
    name: 'off of an off host',
    defect: 'a host that was off before is held, though nobody can prove since when',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [
      [
        '!isHeld && (host.power?.isOn === true || snapshot.settings.canReadBmc)',
        '!isHeld && (host.power !== undefined || snapshot.settings.canReadBmc)',
      ],
    ],
    killedBy: byTest(INCIDENT, 'that was there before the request is nothing to go by: the host is cycled once the operator has it on'),
  },
  {
    name: 'deleted while on',
    defect: 'a Node is deleted while its host is still on',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [
      ["applies: ({ power }) => power.state !== 'off',", "applies: ({ power }) => power.state === 'contradicted',"],
      [
        "return node === undefined || power.state !== 'off' ? { phase: 'deleting-node' } : deleteNode(situation, node, power.proof);",
        "return node === undefined ? { phase: 'deleting-node' } : deleteNode(situation, node, power.state === 'off' ? power.proof : ({ detail: '', seenMs: 0 } as never));",
      ],
      ["applies: ({ node, power }) => node !== undefined && power.state === 'off',", 'applies: ({ node }) => node !== undefined,'],
    ],
    killedBy: byTest(MACHINE_REMEDIATION_SHELL, 'whose BMC is dead is told of, waited for, and goes on when the BMC is back'),
  },
  {
    name: 'deleted without a backup',
    defect: 'a Node is deleted before its labels are kept',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [
      [
        'node !== undefined && backupChanges(machine.annotations, node).length > 0,',
        'node !== undefined && backupChanges(machine.annotations, node).length > 100,',
      ],
    ],
    killedBy: byTest(
      MACHINE_REMEDIATION_SHELL,
      'is switched off by its host, its Node is deleted and comes back with its labels, and nothing is left behind',
    ),
  },
  {
    name: 'fenced twice',
    defect: 'a Machine whose node a fence has brought back since is switched off',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [['!isHeld && snapshot.recoveredBy !== undefined', '!isHeld && snapshot.recoveredBy === null']],
    killedBy: byTest(MACHINE_REMEDIATION_SHELL, 'has done what was asked when a fence brought the node back meanwhile: it is not switched off twice'),
  },
  {
    name: 'fence of before',
    defect: 'a request is taken for done by a fence that ended before it came',
    file: 'src/controllers/machine-remediation/recoveries.ts',
    edits: [['endedAt > askedAt', 'endedAt > UNSEEN']],
    killedBy: byTest(FENCE_AND_REQUEST, 'the request is the later one, though the fence was ended by a clock that is a day ahead'),
  },
  {
    name: 'order nobody saw',
    defect: 'a leader that starts power-cycles a node once more that a fence has just brought back',
    file: 'src/controllers/machine-remediation/recoveries.ts',
    edits: [["askedAt === UNSEEN && endedAt === UNSEEN ? 'unseen' : ", '']],
    killedBy: byTest(FENCE_AND_REQUEST, 'of which nobody saw the one that came first, a node that is Ready is left on'),
  },
  {
    name: 'gave up and held',
    defect: 'a host whose off can never be proven is left off',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [['applies: ({ gaveUp, isHeld }) => gaveUp !== undefined && isHeld,', "applies: ({ gaveUp, isHeld }) => gaveUp === '' && isHeld,"]],
    killedBy: byTest(MACHINE_REMEDIATION_SHELL, 'keeps its Node while that shows life, whatever the BMC says, and a person is told'),
  },
  {
    name: 'replaced too early',
    defect: 'a Machine is deleted before its node had its time to come back',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [['isMarked && isNodeLate(machine, snapshot) && canReprovision(machine, host)', 'isMarked && canReprovision(machine, host)']],
    killedBy: byTest(
      MACHINE_REMEDIATION_SHELL,
      'has until the startup time of its health check to come back, and is deleted then for its owner to make another',
    ),
  },
  {
    name: 'control plane replaced',
    defect: 'a machine of the control plane is deleted',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [['return machine.labels[CONTROL_PLANE_LABEL] === undefined && !ROLE_LABELS', 'return !ROLE_LABELS']],
    killedBy: byTest(
      INCIDENT,
      'a Node that does not come back has its Machine kept when it is of a control plane of Cluster API, and a person is told',
    ),
  },
  {
    name: 'master replaced',
    defect: 'a master of OpenShift is deleted',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [[" && !ROLE_LABELS.some((label) => machine.labels[label] === 'master')", '']],
    killedBy: byTest(INCIDENT, 'a Node that does not come back has its Machine kept when it is of a control plane, and a person is told'),
  },
  {
    name: 'foreign installation replaced',
    defect: 'a Machine whose installation was not ours is deleted',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [['host?.isExternallyProvisioned !== false || ', '']],
    killedBy: byTest(UPSTREAM_CASES, 'what is asked of machine remediation, and what its implementations do mrc-reprov-003'),
  },
  {
    name: 'nobody makes a new one',
    defect: 'a Machine that no controller owns is deleted',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [[' || !machine.hasController) return false', ') return false']],
    killedBy: byTest(INCIDENT, 'a Node that does not come back has its Machine kept when it is without a controller, and a person is told'),
  },
  {
    name: 'other namespace check',
    defect: 'a health check of another namespace says how long a node may take',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [['namespace === machine.namespace && ', '']],
    killedBy: byTest(UPSTREAM_CASES, 'what is asked of machine remediation, and what its implementations do mrc-mhc-004'),
  },
  {
    name: 'hold unheard',
    defect: 'a storm does not keep a host on',
    file: 'src/controllers/machine-remediation/observe.ts',
    edits: [['...storm.map(({ reason, message }) => ({ reason, message, isStop: false })),', '']],
    killedBy: byTest(MACHINE_REMEDIATION_SHELL, 'waits for storm policies before the off and before its Node goes, and never on the way back'),
  },
  {
    name: 'own machine',
    defect: 'the machine on which the controller runs is switched off',
    file: 'src/controllers/machine-remediation/observe.ts',
    edits: [['const isOwn = nodeName !== undefined && nodeName === options.ownNode;', "const isOwn = nodeName === '';"]],
    killedBy: byTest(MACHINE_REMEDIATION_SHELL, 'a controller of Machines that runs on the node itself switches nothing off'),
  },
  {
    name: 'Machine deleted without version',
    defect: 'a Machine is deleted although somebody has changed it since it was decided',
    file: 'src/controllers/machine-remediation/perform.ts',
    edits: [['...(resourceVersion !== undefined && { resourceVersion }) };\n      await cluster.remove', '};\n      await cluster.remove']],
    killedBy: byTest('test/machine-remediation/deletion.test.ts', 'is asked for under the uid and the version that it was decided for'),
  },
  {
    name: 'Machine deleted without uid',
    defect: 'a Machine that took the name of the one that was meant is deleted',
    file: 'src/controllers/machine-remediation/perform.ts',
    edits: [['const precondition = { uid, ...', 'const precondition = { ...']],
    killedBy: byTest('test/machine-remediation/deletion.test.ts', 'is asked for under the uid and the version that it was decided for'),
  },
  {
    name: 'Machine deleted under a hold',
    defect: 'a Machine is deleted although a hold stands',
    file: 'src/controllers/machine-remediation/steps.ts',
    edits: [
      [
        "return unlessHeld(situation, { phase: 'waiting-for-node', actions: [action], dueInMs: POLL_MS });",
        "return { phase: 'waiting-for-node', actions: [action], dueInMs: POLL_MS };",
      ],
    ],
    killedBy: byTest('test/machine-remediation/deletion.test.ts', 'waits for every hold, and follows when it ends'),
  },
  {
    name: 'decided in silence',
    defect: 'a controller decides from what its watches showed minutes ago',
    file: 'src/controllers/shared/reconciler/reconciler.ts',
    edits: [['    if (gate.isSilent) return { afterMs: WHILE_SILENT_MS };\n', '']],
    killedBy: byTest(MACHINE_REMEDIATION_SHELL, 'decides nothing while its watches are silent: of what they showed last no problem is reported'),
  },
  {
    name: 'off of the own node of a Machine',
    defect: 'a leader lets the host of a Machine be switched off that it runs on itself, because its predecessor asked for it',
    file: 'src/controllers/machine-remediation/steps.ts',
    edits: [["isAsked && isHeld && power.state !== 'off' && runsHere(snapshot.holds)", 'false']],
    killedBy: byTest(
      'test/machine-remediation/own-node.test.ts',
      'is not to be switched off any more: what a predecessor asked for is withdrawn, reported once, and not asked for again (incident)',
    ),
  },
  {
    name: 'own node let on while tainted',
    defect: 'the host that the leader runs on is let on while its Node is out of service',
    file: 'src/controllers/machine-remediation/detach.ts',
    edits: [["power.state === 'unknown' && !runsHere(snapshot.holds)", "power.state === 'unknown'"]],
    killedBy: byTest('test/machine-remediation/own-node.test.ts', 'is let on after the taint of the release is gone'),
  },
  {
    name: 'Machine deleted while a stop stands',
    defect: 'a Machine is deleted although a stop came since it was decided',
    file: 'src/controllers/machine-remediation/perform.ts',
    edits: [["    case 'delete-machine': {\n      await unlessStopped(cluster, nodeName);\n", "    case 'delete-machine': {\n"]],
    killedBy: byTest('test/machine-remediation/held-back.test.ts', 'deletes no Machine against a stop that came between its look and its write'),
  },
  {
    name: 'a right lacking in silence',
    defect: 'whoever looks at a Machine is not told that the controller may not write or read what it needs',
    file: 'src/controllers/machine-remediation/controller.ts',
    edits: [['  return failures > 1;', '  return failures < 1;']],
    killedBy: byTest('test/machine-remediation/denied.test.ts', 'to patch a host is told once on the Machine'),
  },
  {
    name: 'an unreadable Machine in silence',
    defect: 'a Machine that may not be read is told of nowhere but in the log',
    file: 'src/controllers/shared/reconciler/reconciler.ts',
    edits: [['object ?? kind.known?.(`${namespace}/${name}`)', 'object']],
    killedBy: byTest('test/machine-remediation/denied.test.ts', 'to read a Machine is told once on the Machine'),
  },
  {
    name: 'a refused watch in silence',
    defect: 'a controller waits for ever for a kind that it may not watch, and nodefence status is silent about it',
    file: 'src/manager/refused-watches.ts',
    edits: [['if (lister.synced || !isRefused) return [];', 'if (!lister.synced || !isRefused) return [];']],
    killedBy: byTest('src/manager/refused-watches.test.ts', 'a kind that may not be watched stands in the status'),
  },
  {
    name: 'found while nothing might be written, and recorded never',
    defect: 'a problem that is found while this replica may not write never has its Event',
    file: 'src/controllers/shared/reconciler/active-problems.ts',
    edits: [
      ['if (isDue && this.#recordNow(key, problem, record)) recorded', 'if (isDue && [this.#recordNow(key, problem, record)].length > 0) recorded'],
    ],
    killedBy: byTest('src/controllers/shared/reconciler/reconciler.test.ts', 'decided: has its Event once, when this replica may write'),
  },
  {
    name: 'an Event of each request that has no answer',
    defect: 'an API server that is overloaded gets an Event more from each object for each request that it has just not answered',
    file: 'src/controllers/shared/reconciler/active-problems.ts',
    edits: [['isPassing ? (problem) => this.#unanswered.once(this.#ofObject(key), () => record(problem)) : record', 'record']],
    killedBy: byTest(
      'src/controllers/shared/reconciler/reconciler.test.ts',
      'of an API server that does not answer has one Event in ten minutes, whatever fails each time, and a line in the log for each',
    ),
  },
  {
    name: 'an Event for each turn',
    defect: 'a node whose thresholds are held now by one policy and now by another gets an Event for each turn, for as long as a storm lasts',
    file: 'src/controllers/shared/reconciler/told-lately.ts',
    edits: [['    if (this.#toldMs.has(what)) return true;\n', '']],
    killedBy: byTest(
      'src/controllers/shared/reconciler/reconciler.test.ts',
      'are recorded once each within ten minutes where the controller says so, also where none is active between them',
    ),
  },
  {
    name: 'an Event for each name',
    defect: 'each node that waits for its turn gets an Event whenever another one has its turn',
    file: 'src/controllers/remedies/status.ts',
    edits: [['/\\([^)]*\\)|\\d+/gu', '/\\d+/gu']],
    killedBy: byTest(
      'test/remedies/shell.test.ts',
      'a storm policy that names others as they fail and recover is told once, and what takes turns with it too',
    ),
  },
  {
    name: 'all well nodes at once',
    defect: 'well nodes whose hosts are asked for in one moment are all switched off, whatever the storm policies admit',
    file: 'src/controllers/shared/remediation/offs-on-request.ts',
    edits: [['    if (hold !== undefined) throw', '    if (hold !== undefined && by === node) throw']],
    killedBy: byTest(
      'src/controllers/shared/remediation/offs-on-request.test.ts',
      'are refused where a storm policy holds them by then, and count for nothing',
    ),
  },
  {
    name: 'offs of the leader before',
    defect: 'a new leader switches off a well node while the host that the leader before has just switched off is not unready yet',
    file: 'src/controllers/machine-remediation/controller.ts',
    edits: [['  if (context.hasCounted) return;', '  if (!context.hasCounted) return;']],
    killedBy: byTest(
      'test/machine-remediation/offs-on-request.test.ts',
      'a new leader counts what the one before it has switched off, before it asks the storm policies of anybody',
    ),
  },
  {
    name: 'offs of the leader before, by Metal3Remediation',
    defect: 'a new leader power-cycles a host before it has looked at those that the leader before has switched off',
    file: 'src/controllers/metal3-remediation/in-flight.ts',
    edits: [['    if (unseen !== undefined)\n', '    if (unseen !== undefined && uid === undefined)\n']],
    killedBy: byTest('test/metal3-remediation/in-flight.test.ts', 'waits until what a leader before has switched off was looked at'),
  },
  {
    name: 'waiting for a dead BMC',
    defect: 'as long as one host does not obey, no other well node is remediated',
    file: 'src/controllers/machine-remediation/situation.ts',
    edits: [[' && !(host.power?.isOn === true && isOffOverdue(snapshot, host))', '']],
    killedBy: byTest(
      'test/machine-remediation/offs-on-request.test.ts',
      'a host that does not obey counts for as long as an off may take, and keeps nobody else waiting then',
    ),
  },
  {
    name: 'offs that nobody counts',
    defect: 'a node whose host was switched off a moment ago counts as well for the next request, until Kubernetes says that it is not Ready',
    file: 'src/controllers/fence/holds-for-other-controllers.ts',
    edits: [['storm.holdsOnRequest(node, dependencies.offsOnRequest?.all)', 'storm.holdsOnRequest(node)']],
    killedBy: byTest(
      'test/machine-remediation/composed.test.ts',
      'switches off as many well nodes at once as the policies admit, though all are asked for in one moment and are Ready yet',
    ),
  },
  {
    name: 'left off, and told once',
    defect: 'a host that a lacking right keeps off is told of once, in an Event that the API server forgets after an hour',
    file: 'src/controllers/shared/reconciler/active-problems.ts',
    edits: [[' || (isLeftOff(problem) && nowMs - beforeMs >= LEFT_OFF_RECORDED_AGAIN_MS)', '']],
    killedBy: byTest('src/controllers/shared/reconciler/reconciler.test.ts', 'is told again every half hour, what is wrong with others once'),
  },
  {
    name: 'deadline by whatever clock',
    defect: 'a Machine is replaced at once where the clock is set ahead while its node comes back, and a day late where it is set back',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [['timesOutMs === undefined ?', 'timesOutMs === undefined || timesOutMs > 0 ?']],
    killedBy: byTest('test/machine-remediation/clock-set.test.ts', 'where the wall clock is set an hour ahead meanwhile'),
  },
  {
    name: 'deadline of another replica',
    defect: 'a replica whose clock is ahead replaces a Machine as soon as it leads, though it saw its deadline come',
    file: 'src/controllers/machine-remediation/first-seen-deadlines.ts',
    edits: [['isNew && wholeMs < Infinity ? wholeMs : ', '']],
    killedBy: byTest(
      'src/controllers/machine-remediation/first-seen-deadlines.test.ts',
      'is all of it where the deadline was seen to come, whatever the clock of this replica',
    ),
  },
];
