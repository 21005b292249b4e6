import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const STABLE = 'src/dispatch/stable-off.test.ts';
const OWN_OFF = 'src/dispatch/own-off.test.ts';
const RESTART = 'src/dispatch/restart.test.ts';
const BMC_RESTART = 'agents/redfish/restart.test.ts';
const PLUGS = 'src/dispatch/several-plugs.test.ts';
const PERMISSION = 'src/dispatch/permission.test.ts';
const SIGNS = 'src/controllers/fence/run/signs.test.ts';

/** Defects of what talks to devices. */
export const DEVICE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'only the last plug',
    defect: 'of several supplies only the one that was switched last is read back',
    file: 'src/dispatch/switching.ts',
    edits: [["wanted === 'off' ? [...together, device] : [device]", '[device]']],
    killedBy: byTest(PLUGS, 'gives no evidence when one supply is stuck on'),
  },
  {
    name: 'first answer for all',
    defect: 'one supply that reads off is taken for all of them',
    file: 'src/dispatch/switching.ts',
    edits: [['agrees &&= device.shows(reading, wanted);', 'agrees = device.shows(reading, wanted);']],
    killedBy: byTest(PLUGS, 'gives no evidence when an earlier supply comes back in the middle of the pass'),
  },
  {
    name: '2xx as proof',
    defect: 'the answer to the set counts as off, without a read',
    file: 'src/dispatch/switching.ts',
    edits: [
      [
        'const end = await untilStable(all, wanted, job, clock, before);',
        "const end: Switched = { reached: all.length > 0, lastReadAtMs: clock.monotonicMs(), reads: 3, identity: 'verified', detail: 'accepted', opposite: false, edgeUnseen: false, isForeign: false, restarted: NONE, isHeard: false };",
      ],
    ],
    killedBy: byTest(STABLE, 'believes no 2xx: a device that says yes and stays on ends as Timeout after power_timeout, in seconds and not in polls'),
  },
  {
    name: 'closed of nobody knows whom',
    defect: 'a port that does not show whose it is, and was closed before this fence, proves that the node was shut out',
    file: 'src/dispatch/device-call.ts',
    edits: [['return this.#isAnonymous || (', 'return (']],
    killedBy: byTest(
      'src/dispatch/revocation.test.ts',
      'that do not show whose they are count only where this fence saw them open: the one that is switched',
    ),
  },
  {
    name: 'unsent off',
    defect: 'an off that never left, for the login failed, is proven by reads of off',
    file: 'src/dispatch/switching.ts',
    edits: [["if (wanted === 'off' && !device.hasSent) throw error;", '']],
    killedBy: byTest(STABLE, 'is not proven by off reads when nothing was sent, for the login ended as Timeout'),
  },
  {
    name: 'needless off',
    defect: 'an off that a program found needless, and did not send, counts as an off of ours',
    file: 'src/dispatch/switching.ts',
    edits: [
      ['if (isSent === false) device.hasSent = false;', ''],
      ['device.hasSent && (isSent === true || wasOn || !device.skipsWhatIsOff)', 'device.hasSent'],
    ],
    killedBy: byTest(OWN_OFF, 'proves nothing where it says so, and is not ours to take back'),
  },
  {
    name: 'restart unnoticed',
    defect: 'off read from a device that restarted after it took the off, before it acted, is believed',
    file: 'src/dispatch/boot-watch.ts',
    edits: [['this.restarted = boot.cause;', '']],
    killedBy: byTest(RESTART, 'is not believed: in the turn of the off'),
  },
  {
    name: 'default off',
    defect: 'off of a device that restarted after an off is believed at once by the next run, though nobody saw it on',
    file: 'src/dispatch/boot-watch.ts',
    edits: [['if (this.#isDistrusted) return boot.startMaxMs;', '']],
    killedBy: byTest(RESTART, 'is believed where it shows off only after the longest start'),
  },
  {
    name: 'restart of one supply',
    defect: 'an off that was proven before its device restarted is only read again',
    file: 'src/domain/program.ts',
    edits: [['isProven(operation, latest, runs));', "latest?.result === 'succeeded');"]],
    killedBy: byTest('src/domain/restarted.test.ts', 'is switched off again where its own off had been proven'),
  },
  {
    name: 'another connection',
    defect: 'a Redfish BMC that cut its connection between the off and the last read is believed',
    file: 'agents/redfish/boots.ts',
    edits: [["this.#doubt ??= 'it closed the connection';", 'this.#doubt = undefined;']],
    killedBy: byTest(BMC_RESTART, 'a connection that is cut is taken for a restart'),
  },
  {
    name: 'another session',
    defect: 'a Redfish BMC that forgot its session between the off and the last read is believed',
    file: 'agents/redfish/session.ts',
    edits: [['if (wasSession) this.#onLost();', '']],
    killedBy: byTest(BMC_RESTART, 'a session that ends is taken for a restart'),
  },
  {
    name: 'another session of IPMI',
    defect: 'an IPMI BMC that forgot its session between the off and the last read is believed',
    file: 'agents/ipmi/session.ts',
    edits: [["this.#boot = { id: this.#nextBoot(), cause: 'the session was lost' };", 'this.#boot.cause = this.#nextBoot();']],
    killedBy: byTest('test/fault-matrix/boards.test.ts', 'off of a device that is restarts fails in the words of the device'),
  },
  {
    name: 'sysUpTime unread',
    defect: 'a PDU whose sysUpTime began anew between the off and the last read is believed',
    file: 'agents/shared/snmp/boots.ts',
    edits: [['if (upMs < dueMs - SLACK_MS &&', 'if (upMs < 0 - SLACK_MS && dueMs > 0 &&']],
    killedBy: byTest('test/fault-matrix/boards.test.ts', 'off of a device that is restarts fails in the words of the device'),
  },
  {
    name: 'restarted MDS',
    defect: 'a Cisco MDS that has just started, and shows its ports closed by default, is believed',
    file: 'agents/fc-switch/agent.ts',
    edits: [["{ kind: 'ifname', bootMaxMs }", "{ kind: 'ifname', bootMaxMs: Math.min(0, bootMaxMs) }"]],
    killedBy: byTest(
      'agents/ethernet-switch/if-mib.test.ts',
      'tells the start of the switch with the state: one that restarts may show every port closed',
    ),
  },
  {
    name: 'restarted switch',
    defect: 'a switch that restarted between the close of a port and the last read is believed',
    file: 'agents/shared/interfaces/if-mib.ts',
    edits: [['    ...(boot !== undefined && { boot }),\n', '']],
    killedBy: byTest(
      'test/fault-matrix/shells.test.ts',
      'off of a device that restarts when a port is closed over SNMP, and shows closed until it has read what is saved fails in the words of the device',
    ),
  },
  {
    name: 'starting BMC',
    defect: 'the default Off of a BMC that has only just started is believed',
    file: 'agents/redfish/boots.ts',
    edits: [['if (this.#doubt !== undefined || isUnproven ||', 'if (this.#doubt !== undefined ||']],
    killedBy: byTest(BMC_RESTART, 'believes no Off of a BMC that has only just started'),
  },
  {
    name: 'mistyped key',
    defect: 'what reads closed counts as revoked though nobody ever saw it open',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['if (unseen.length > 0) {', 'if (unseen.length > devices.length) {']],
    killedBy: byTest('src/dispatch/revocation.test.ts', 'a mistyped key is never there'),
  },
  {
    name: 'off of before the on',
    defect: 'an off that was sent before we switched on again still counts as the one that holds the machine off',
    file: 'src/domain/journal.ts',
    edits: [
      [
        "return sent > runs.findLastIndex(({ action, result }) => action === 'on' || (action === 'confirm' && result === 'found-not-done'));",
        'return sent >= 0;',
      ],
    ],
    killedBy: byTest('src/domain/own-off.test.ts', 'is over once an on was begun'),
  },
  {
    name: 'one read as proof',
    defect: 'a single off is stable',
    file: 'src/dispatch/switching.ts',
    edits: [['const STABLE_READS = 3;', 'const STABLE_READS = 1;']],
    killedBy: byTest(STABLE, 'demands three agreeing reads without a break even where off_stable is nothing'),
  },
  {
    name: 'power_timeout in polls',
    defect: 'power_timeout is counted in polls instead of seconds',
    file: 'src/dispatch/switching.ts',
    edits: [
      ['  let reads = 0;\n  let unverified', '  let polls = 0;\n  let reads = 0;\n  let unverified'],
      ['clock.monotonicMs() + roundMs >= endsAtMs + unchangedForMs', '(polls += 1) * 1_000 >= roundMs - roundMs + job.timing.powerTimeoutMs'],
    ],
    killedBy: byTest(STABLE, 'in seconds and not in polls'),
  },
  {
    name: 'retry within a run',
    defect: 'a set is sent twice',
    file: 'src/dispatch/switching.ts',
    edits: [
      [
        '    const { detail, isSent } = await device.set(wanted);\n',
        '    await device.set(wanted);\n    const { detail, isSent } = await device.set(wanted);\n',
      ],
    ],
    killedBy: byTest(STABLE, 'reads, sends off once, and proves it by at least three agreeing reads over off_stable'),
  },
  {
    name: 'no off of its own',
    defect: 'a machine that reads off already is not switched off',
    file: 'src/dispatch/switching.ts',
    edits: [["const isDue = wanted === 'off' || !device.shows(before, wanted);", 'const isDue = !device.shows(before, wanted);']],
    killedBy: byTest(STABLE, 'sends its own off though off is read already'),
  },
  {
    name: 'unknown is good enough',
    defect: 'a set is sent although the state before it is unknown',
    file: 'src/dispatch/switching.ts',
    edits: [["if (before.state === 'unknown')\n", "if (before.state === 'on' && wanted === 'on' && all === undefined)\n"]],
    killedBy: byTest(STABLE, 'sends nothing when the state before the set is unknown'),
  },
  {
    name: 'witness not asked',
    defect: 'the second witness of the state does not count',
    file: 'src/dispatch/device-call.ts',
    edits: [[' && (reading.witness === undefined || reading.witness.state === token)', '']],
    killedBy: byTest(STABLE, 'gives no evidence while the second witness still shows on'),
  },
  {
    name: 'password of a repetition',
    defect: 'a code that is wrong after a step of the IPMI login was repeated is told as a wrong password, and never tried again',
    file: 'agents/ipmi/native/login.ts',
    edits: [['this.#isSure &&= heard.isSure;', '']],
    killedBy: byTest(
      'agents/ipmi/native/login.test.ts',
      'is given more time, where a repetition voided what was said, and not told as a wrong password',
    ),
  },
  {
    name: 'Raritan unmetered',
    defect: 'an outlet of a Raritan whose state says off counts, though its meter shows that it feeds a machine',
    file: 'agents/pdu/look.ts',
    edits: [["witness: isMetered && seen === 'off' ?", "witness: isMetered && seen === 'off' && family.name !== 'raritan' ?"]],
    killedBy: byTest('agents/pdu/outlets.test.ts', 'is not believed of a Raritan whose outlet still draws current by its own meter'),
  },
  {
    name: 'silent meter',
    defect: 'an off that the current of the outlet alone contradicts fails without a word of what would do without it, and at which price',
    file: 'agents/pdu/look.ts',
    edits: [['...(!isOff && { waiver: flowing(maxMilliamperes) })', '...(isOff && { waiver: flowing(maxMilliamperes) })']],
    killedBy: byTest(
      'agents/pdu/outlets.test.ts',
      'that the current alone contradicts is told with what does without it, and with what that gives up',
    ),
  },
  {
    name: 'management port closed',
    defect: 'an alias that leads to the management port of a switch closes it, which cuts off no node and proves a revocation',
    file: 'agents/shared/interfaces/port-identity.ts',
    edits: [['if (own !== undefined) throw', 'if (own === view.name) throw']],
    killedBy: byTest('agents/ethernet-switch/if-mib.test.ts', 'is never an interface of the switch itself, whatever led to it'),
  },
  {
    name: 'on its way is off',
    defect: 'to a caller on the command line a machine that is only powering off is off',
    file: 'src/cli/agent/fence-run.ts',
    edits: [["pending: 'pending', unknown: 'unknown' };", "pending: 'off', unknown: 'unknown' };"]],
    killedBy: byTest('src/cli/agent/fence-run.test.ts', 'says of one that is on its way that it shows neither, where only its state is asked for'),
  },
  {
    name: 'witness dropped by itself',
    defect: 'the Chassis of a Redfish model that is known to show On for ever is not asked any more',
    file: 'agents/redfish/machine.ts',
    edits: [['if (!this.#settings.chassisWitness ||', 'if (!this.#settings.chassisWitness || quirkOf(view.resource)?.chassisPower !== undefined ||']],
    killedBy: byTest('agents/redfish/agent-read.test.ts', 'keeps a Chassis that always says On as a witness, and names chassis_witness=no'),
  },
  {
    name: 'wrong plug verified',
    defect: 'one supply is read in the place of the others',
    file: 'src/dispatch/switching.ts',
    edits: [['const reading: Reading = await device.read();', 'const reading: Reading = await (devices[0] ?? device).read();']],
    killedBy: byTest(PLUGS, 'reads every supply in each pass after the last off, and names all of them in the evidence'),
  },
  {
    name: 'any machine will do',
    defect: 'a device that does not show whose machine it switches is believed',
    file: 'src/dispatch/device-call.ts',
    edits: [["reading.identity === 'verified' || !this.#demandsIdentity", 'true']],
    killedBy: byTest(PERMISSION, 'is misconfigured, with nothing sent, when the identity is required and the device does not show it'),
  },
  {
    name: 'stop not read before the set',
    defect: 'stops are not read consistently once more right before the set',
    file: 'src/dispatch/device-call.ts',
    edits: [['    await this.#job.ask();\n', '']],
    killedBy: byTest(
      PERMISSION,
      'is read consistently once more after the other reads, which may have taken long: a stop that came meanwhile is obeyed',
    ),
  },
  {
    name: 'intent of any age',
    defect: 'a set begins although its intent is over before it can end',
    file: 'src/dispatch/device-call.ts',
    edits: [['this.#clock.monotonicMs() + job.timing.setDeadlineMs > job.intentAtMs + job.entry.deadlineMs', 'false']],
    killedBy: byTest(PERMISSION, 'is over when the intent is too old for a set to end within its deadline'),
  },
  {
    name: 'heard between the reads',
    defect: 'reads of off from before a sign of life of the node are counted with those behind it',
    file: 'src/dispatch/switching.ts',
    edits: [['if (signMs > countedFromMs) [reads, firstAtMs] = [0, undefined];', '']],
    killedBy: byTest(STABLE, 'begins the count anew when the node is heard between two of its reads'),
  },
  {
    name: 'proof told of no sign',
    defect: 'the run that is to prove a machine off is told of no sign of life of its node',
    file: 'src/controllers/fence/run/device-runs.ts',
    edits: [['      ...this.#signsOf(run, operation, observation),\n', '']],
    killedBy: byTest(SIGNS, 'is a renewal of the Lease, and a heartbeat of the daemon, at once'),
  },
  {
    name: 'one supply held up by life',
    defect: 'the off of one supply of two is not through while the machine lives on by the other',
    file: 'src/controllers/fence/run/device-runs.ts',
    edits: [['if (method === undefined || (isLastOff !== true && revokes === undefined)) return {};', 'if (method === undefined) return {};']],
    killedBy: byTest(SIGNS, 'is nothing for one supply of two'),
  },
  {
    name: 'permission not asked',
    defect: 'lease, stops and holds are not looked at in the turn of the send',
    file: 'src/dispatch/device-call.ts',
    edits: [['            job.mayBegin(setDeadlineMs);\n', '']],
    killedBy: byTest(PERMISSION, 'is refused by the lease, a stop or a hold in the turn of the send: not-sent, and nothing reaches the device'),
  },
  {
    name: 'devices in parallel',
    defect: 'two calls to one device overlap',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['=> this.#queues.run(this.#queueOf(method), call) };', '=> this.#queues.run(`${method.device} ${method.name}`, call) };']],
    killedBy: byTest('src/dispatch/dead-device.test.ts', 'never let two calls to one device overlap, whatever their plugs and methods'),
  },
  {
    name: 'cordon of two hands',
    defect: 'beside our mark the cordon is taken for ours, although somebody took ours away and set another',
    file: 'src/ports/cordon-marks.ts',
    edits: [['isCordonKept(node, CORDON_MARK) ?', 'isCordonKept(node, CORDON_MARK) === undefined ?']],
    killedBy: byTest('agents/cluster-agents.test.ts', 'a cordon of somebody who took ours away and set another'),
  },
  {
    name: 'an off forgotten by a crash',
    defect: 'an off that a crash cut off, and that could not be read back, is not taken back',
    file: 'src/dispatch/dispatcher.ts',
    edits: [["return { ...failureOf(error), edge: edgeOf(job.method.kind, 'off') };", 'throw error;']],
    killedBy: byTest('src/dispatch/recovery.test.ts', 'a run that a crash left open is no result of the device when the device does not answer'),
  },
];
