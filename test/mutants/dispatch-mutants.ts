import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const LOOK = 'src/dispatch/look.test.ts';
const PROBER = 'src/dispatch/prober.test.ts';
const DIAG = 'src/dispatch/diag.test.ts';
const PERMISSION = 'src/dispatch/permission.test.ts';
const SEVERAL_PLUGS = 'src/dispatch/several-plugs.test.ts';
const OWN_OFF = 'src/dispatch/own-off.test.ts';
const EVIDENCE = 'src/dispatch/evidence.test.ts';
const READY_AGAIN = 'src/controllers/fence/run/ready-again.test.ts';
const NEXT_OFF = 'src/controllers/fence/run/next-off.ts';
const NEXT_OFF_TEST = 'src/controllers/fence/run/next-off.test.ts';
const FIRST_READ = 'src/dispatch/first-read.test.ts';
const STABLE_OFF = 'src/dispatch/stable-off.test.ts';

/** Defects of what runs agents, beside those of device-mutants.ts. */
export const DISPATCH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'run on a node that came back',
    defect: 'the grants of a node are ended, or a program is run that takes it down, although it was heard since that was decided',
    file: 'src/controllers/fence/diagnostics/occasion.ts',
    edits: [["entry.action === 'run' && entry.step !== 'recovery' &&", "entry.action === 'delete' && entry.step !== 'recovery' &&"]],
    killedBy: byTest(READY_AGAIN, 'is left alone where it is heard up to the turn in which that is sent'),
  },
  {
    name: 'login of the isolation',
    defect: 'an off is sent with a login that was read whenever its node was isolated',
    file: NEXT_OFF,
    edits: [['kept === undefined || !this.#isNew(kept) ||', 'kept === undefined ||']],
    killedBy: byTest(NEXT_OFF_TEST, 'are read again after a second: the process stood still'),
  },
  {
    name: 'login of the first attempt',
    defect: 'an off that is tried again is sent with the login that had failed, though it has changed since',
    file: NEXT_OFF,
    edits: [['    this.#kept.delete(node);\n    if (kept', '    if (kept']],
    killedBy: byTest(NEXT_OFF_TEST, 'are read while the node is isolated, once, for the first attempt alone'),
  },
  {
    name: 'login that could not be read',
    defect: 'an off fails because its login could not be read while its node was isolated',
    file: NEXT_OFF,
    edits: [['kept.parameters.catch(() => planner.parametersFor(node, method))', 'kept.parameters']],
    killedBy: byTest(NEXT_OFF_TEST, 'are read again where they could not be read'),
  },
  {
    name: 'first read of the isolation',
    defect: 'an off is sent on what its device showed whenever its node was isolated: another machine may be behind the plug by now',
    file: NEXT_OFF,
    edits: [['this.#isNew(kept) && sameContent(kept.identity, identity)', 'sameContent(kept.identity, identity)']],
    killedBy: byTest(NEXT_OFF_TEST, 'does not count a second later, though it was taken before: the process stood still'),
  },
  {
    name: 'first read of another machine',
    defect: 'an off is sent on a read that was made for another machine',
    file: NEXT_OFF,
    edits: [['this.#isNew(kept) && sameContent(kept.identity, identity)', 'this.#isNew(kept)']],
    killedBy: byTest(NEXT_OFF_TEST, 'is of that machine: not for another system UUID'),
  },
  {
    name: 'first read without identity',
    defect: 'an off is sent although the read that it begins with did not show whose machine it is',
    file: 'src/dispatch/device-call.ts',
    edits: [['begun === undefined ? this.read() : this.#identified(begun)', 'begun === undefined ? this.read() : begun']],
    killedBy: byTest(FIRST_READ, 'is not sent where that did not show whose machine it is'),
  },
  {
    name: 'first read as a proof',
    defect: 'what the device showed while its node was isolated is counted among the reads that prove its off',
    file: 'src/dispatch/switching.ts',
    edits: [
      [
        '  let firstAtMs: number | undefined;\n',
        "  let firstAtMs: number | undefined = wanted === 'off' && devices.at(-1)?.shows(before, 'off') === true ? sinceMs - 1_000 : undefined;\n",
      ],
      ['  let reads = 0;\n', '  let reads = firstAtMs === undefined ? 0 : 1;\n'],
    ],
    killedBy: byTest(
      FIRST_READ,
      'is proven by reads that follow it alone where the plug showed off before: what was read while its node was isolated is none of them',
    ),
  },
  {
    name: 'first read where nothing may be sent',
    defect: 'an off that a program left out counts as ours, because the plug read on a second before',
    file: 'src/dispatch/prober.ts',
    edits: [["agent.kind !== 'power' || agent.skipsWhatIsOff === true", "agent.kind !== 'power'"]],
    killedBy: byTest(FIRST_READ, 'is not made where the agent may send nothing to what reads off: its off counts only where it read on right before'),
  },
  {
    name: 'an on that believes what was read before',
    defect: 'a machine stays off because it read on while its node was isolated',
    file: 'src/dispatch/switching.ts',
    edits: [["(wanted === 'off' ? device.readFirst() : device.read())", 'device.readFirst()']],
    killedBy: byTest(FIRST_READ, 'is no matter of an on, which is left out where the machine reads on'),
  },
  {
    name: 'an off that never left is carried through',
    defect: 'a node that came back is switched off because its device had not answered before: nothing had been sent to it',
    file: 'src/domain/journal.ts',
    edits: [['!NEVER_BEGAN.has(result) && offSent !== false', '!NEVER_BEGAN.has(result)']],
    killedBy: byTest('src/domain/never-left.test.ts', 'is left alone, and recovers'),
  },
  {
    name: 'nobody records that nothing left',
    defect: 'an off whose device did not answer the read before it is recorded as one that may have been sent',
    file: 'src/controllers/fence/runs.ts',
    edits: [['return hasNotLeft ? { ...report, offSent: false } : report;', 'return report;']],
    killedBy: byTest('src/controllers/fence/never-left.test.ts', 'is recorded as one of which nothing has left, and no other is'),
  },
  {
    name: 'own intent as another process left it',
    defect: 'an off whose intent stands although its write got no answer counts as one that may be on its way: the next one asks nobody for the Node',
    file: 'src/controllers/fence/runs.ts',
    edits: [["if (stored === undefined && run.kind === 'run')", "if (stored === undefined && run.kind === 'recover')"]],
    killedBy: byTest(
      'src/controllers/fence/unanswered-intent.test.ts',
      'is over at once after no answer: nothing of it was sent, and before the next off the Node is read as before a first one',
    ),
  },
  {
    name: 'found run as one that never began',
    defect: 'a run of a predecessor that is looked for counts as not sent where the status beside it could not be written',
    file: 'src/controllers/fence/runs.ts',
    edits: [["if (stored === undefined && run.kind === 'run')", 'if (stored === undefined)']],
    killedBy: byTest(
      'src/controllers/fence/unanswered-intent.test.ts',
      'is nothing where a run of before was to be looked for: that one may have begun',
    ),
  },
  {
    name: 'isolated by a program although it came back',
    defect: 'a program that isolates is begun on a node that was heard since that was decided, or that the API server has Ready again',
    file: 'src/controllers/fence/diagnostics/occasion.ts',
    edits: [["entry.action === 'run' && entry.step !== 'recovery' &&", "entry.action === 'run' && entry.step === 'power-management' &&"]],
    killedBy: byTest(READY_AGAIN, 'is left alone by a program of isolation too, and is cordoned and uncordoned, which takes nothing from it'),
  },
  {
    name: 'not ready by a watch that hangs',
    defect: 'a node that the watch last showed as not ready is switched off unasked, though the API server has it Ready again',
    file: 'src/controllers/fence/run/permission.ts',
    edits: [['isFirst && restsOnItsWord(ready, run.status)', 'isFirst && ready === undefined']],
    killedBy: byTest(READY_AGAIN, 'is not switched off where the API server has it Ready again, however often it is tried while the watch hangs'),
  },
  {
    name: 'no condition by a watch that hangs',
    defect: 'a node of which only the beginning has arrived, without the condition Ready, is cut off though the API server has it Ready',
    file: 'src/controllers/fence/run/permission.ts',
    edits: [["(readyOf(known)?.status ?? 'missing')", 'readyOf(known)?.status']],
    killedBy: byTest(READY_AGAIN, 'nor where only its beginning has arrived here, without the condition Ready'),
  },
  {
    name: 'off for a Node that is gone',
    defect: 'the machine of a Node that was deleted, or replaced under its name, is switched off because the watch has not brought that yet',
    file: 'src/controllers/fence/run/permission.ts',
    edits: [['if (restsOnNode && standing?.metadata.uid !== run.status.frozen?.nodeUID)', 'if (restsOnNode && run.node === standing?.metadata.uid)']],
    killedBy: byTest(
      READY_AGAIN,
      'is not switched off where its Node, last heard as Unknown, is gone or another has its name, however often it is tried',
    ),
  },
  {
    name: 'word against a witness',
    defect: "a device whose witness reads on does not contradict a person's word",
    file: 'src/dispatch/dispatcher.ts',
    edits: [
      ['const states = [reading.state, ...(reading.witness === undefined ? [] : [reading.witness.state])];', 'const states = [reading.state];'],
    ],
    killedBy: byTest(LOOK, 'a look at a device shows off with a witness that shows on as what may still run'),
  },
  {
    name: 'probe that sets',
    defect: 'an agent may change something in a probe',
    file: 'src/dispatch/prober.ts',
    edits: [
      ["throw new AgentError('NotSent', { ...facts, answered: 'a probe changes nothing' });", 'if (request.deadlineMs < 0) throw new Error();'],
    ],
    killedBy: byTest(PROBER, 'may change nothing: whoever sends in it is refused'),
  },
  {
    name: 'probe in the queue',
    defect: 'a probe stands in the queue of a device that a fence uses',
    file: 'src/dispatch/device-queues.ts',
    edits: [['if (this.#tails.has(device)) return undefined;', '']],
    killedBy: byTest(PROBER, 'never stands in the way of another probe either, and holds up no other device'),
  },
  {
    name: 'call for a connection that is none',
    defect: 'an agent that keeps no connection is read before each off: a Job, or a program, in vain',
    file: 'src/dispatch/prober.ts',
    edits: [['    if (!this.#methods.keepsSession(request.method)) return;\n', '']],
    killedBy: byTest(PROBER, 'is a plain read of an agent that keeps its connections, rejects never, and asks nothing of any other'),
  },
  {
    name: 'read right before the off',
    defect: 'a device is read whole right before its off, which has to break that off and begin anew',
    file: 'src/dispatch/prober.ts',
    edits: [['if (request.isUrgent !== true) await', 'if (request.deadlineMs > 0) await']],
    killedBy: byTest(PROBER, 'right before the call that it is for connects alone, gives way to that, and is left out where an agent cannot'),
  },
  {
    name: 'probe without witness',
    defect: 'a probe whose witness contradicts says off',
    file: 'src/dispatch/prober.ts',
    edits: [["witness === undefined || witness.state === state ? state : 'unknown'", 'state']],
    killedBy: byTest(PROBER, 'believes no state that a witness contradicts'),
  },
  {
    name: 'device that was silent once',
    defect: "one lost answer of a device leaves a person's word uncontradicted",
    file: 'src/dispatch/dispatcher.ts',
    edits: [["if (read.state !== 'unknown' || reads >= READS) return read;", 'return look;']],
    killedBy: byTest(LOOK, 'is not unknown because one answer was lost: the device is asked again'),
  },
  {
    name: 'look blames the device',
    defect: 'an API failure lets a word stand: the device counts as unknown',
    file: 'src/dispatch/dispatcher.ts',
    edits: [
      [
        'if (job.signal.aborted || error instanceof TransportError || error instanceof ApiStatusError) throw error;',
        'if (job.signal.aborted) throw error;',
      ],
    ],
    killedBy: byTest(
      LOOK,
      'a look at a device fails when the API server is busy, so that nobody takes a device that was never asked for one that cannot be read',
    ),
  },
  {
    name: 'recovered off proves',
    defect: 'a confirm that a crash cut off counts as done',
    file: 'src/dispatch/dispatcher.ts',
    edits: [
      [
        "return { result: 'found-not-done', message: 'a read was interrupted; it is repeated' };",
        "return { result: 'found-done', message: 'a read was interrupted; it is repeated' };",
      ],
    ],
    killedBy: byTest('src/dispatch/recovery.test.ts', 'is done anew when it was only a read'),
  },
  {
    name: 'dump ordered again',
    defect: 'a dump of which nobody knows counts as ordered',
    file: 'src/dispatch/dispatcher.ts',
    edits: [
      [
        "return { result: 'found-not-done', message: 'it is unknown whether the dump was ordered; it is not ordered again' };",
        'return await this.#readBack(job);',
      ],
    ],
    killedBy: byTest(DIAG, 'is not looked for after a crash, and not ordered again'),
  },
  {
    name: 'confirm of one read',
    defect: 'a confirmation that shows off once is enough',
    file: 'src/dispatch/dispatcher.ts',
    edits: [
      [
        'const end = await untilStable([...together, device], wanted, job, this.#clock, first);',
        'const end = await untilStable([device], wanted, job, this.#clock, first);',
      ],
    ],
    killedBy: byTest(SEVERAL_PLUGS, 'is confirmed off by all of its supplies, not by one'),
  },
  {
    name: 'lone supply proves',
    defect: 'one supply of several, off before the last, is evidence',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['...(job.lastOff ? { evidence, evidenceAtMs: end.lastReadAtMs } : {}),', '...{ evidence, evidenceAtMs: end.lastReadAtMs },']],
    killedBy: byTest(SEVERAL_PLUGS, 'gives no evidence for an off that is not the last one'),
  },
  {
    name: 'foreign off is ours',
    defect: 'an off that somebody else switched is taken back by us',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['const edge = end.isForeign ? {} : { edge: edgeOf(agentKind, wanted) };', 'const edge = { edge: edgeOf(agentKind, wanted) };']],
    killedBy: byTest(OWN_OFF, 'a way that a program did not close, for it was closed is ours to open again only if we closed it before: false'),
  },
  {
    name: 'lost off forgotten',
    defect: 'an off that was sent and whose device then went silent is not taken back',
    file: 'src/dispatch/dispatcher.ts',
    edits: [["if (job.signal.aborted || wanted !== 'off' || !device.hasSent) throw error;", 'throw error;']],
    killedBy: byTest(OWN_OFF, 'Misconfigured'),
  },
  {
    name: 'waited from the end',
    defect: 'a proof by waiting counts from its end: life in between does not void it',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['return { evidence, evidenceAtMs: beganAtMs };', 'return { evidence, evidenceAtMs: this.#clock.monotonicMs() };']],
    killedBy: byTest(EVIDENCE, 'may wait as long as its agent says, and rests on the moment in which it began: life received meanwhile voids it'),
  },
  {
    name: 'evidence of any kind',
    defect: 'an action proves a kind that its method was not frozen with',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['kind !== method.evidence || ', '']],
    killedBy: byTest(EVIDENCE, 'of another kind than its method was frozen with'),
  },
  {
    name: 'any evidence by waiting',
    defect: 'an action proves power-off by its word',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['!PROVEN_BY_WAITING.has(kind) || ', '']],
    killedBy: byTest(EVIDENCE, 'that only a device or a person can give: power-off'),
  },
  {
    name: 'unclear action as done',
    defect: 'an action without an answer counts as done',
    file: 'src/dispatch/dispatcher.ts',
    edits: [["if (outcome.result === 'unclear' && !(await this.#confirmed(job, agent)))", "if (outcome.result === 'unclear' && job.signal.aborted)"]],
    killedBy: byTest(OWN_OFF, 'an action whose answer is unclear is what is read back: false'),
  },
  {
    name: 'action gate late',
    defect: 'an action is sent after its deadline',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['if (signal.aborted || this.#clock.monotonicMs() > sendByMs)', 'if (sendByMs < 0)']],
    killedBy: byTest(OWN_OFF, 'that waits may send nothing once its set_deadline is over'),
  },
  {
    name: 'dump of an old intent',
    defect: 'a dump is ordered by an intent of any age',
    file: 'src/dispatch/device-call.ts',
    edits: [["this.#demandFresh('diag');", '']],
    killedBy: byTest(DIAG, 'is not ordered by an intent that is too old for it to end within its deadline'),
  },
  {
    name: 'dump without asking',
    defect: 'a dump is ordered without stops being asked',
    file: 'src/dispatch/device-call.ts',
    edits: [["    await job.ask();\n    const outcome = await this.#call('diag'", "    const outcome = await this.#call('diag'"]],
    killedBy: byTest(DIAG, 'is not ordered without a lease, nor under a stop'),
  },
  {
    name: 'action without asking',
    defect: 'an action is run without stops being asked',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['    await job.ask();\n    const outcome = await this.#action', '    const outcome = await this.#action']],
    killedBy: byTest(PERMISSION, 'is asked for by an action too, before its agent does anything'),
  },
  {
    name: 'failed read is no break',
    defect: 'a failed read in the middle does not break the row of reads that prove off',
    file: 'src/dispatch/switching.ts',
    edits: [
      [
        '      agrees = false;\n      opposite = false;\n      details.push(`${device.method.name}: ${error.message}`);',
        '      opposite = false;\n      details.push(`${device.method.name}: ${error.message}`);',
      ],
    ],
    killedBy: byTest(STABLE_OFF, 'begins the count anew when one read fails in between'),
  },
  {
    name: 'break forgets no time',
    defect: 'after an on between, off counts from the first off',
    file: 'src/dispatch/switching.ts',
    edits: [
      [
        'firstAtMs = pass.agrees ? (firstAtMs ?? clock.monotonicMs()) : undefined;',
        'firstAtMs = firstAtMs ?? (pass.agrees ? clock.monotonicMs() : undefined);',
      ],
    ],
    killedBy: byTest(STABLE_OFF, 'flickers to on'),
  },
  {
    name: 'verified once',
    defect: 'an identity that one of the reads did not show counts as verified',
    file: 'src/dispatch/switching.ts',
    edits: [["if (reading.identity === 'unverified') identity = 'unverified';", 'identity = reading.identity;']],
    killedBy: byTest(SEVERAL_PLUGS, 'is identified where every supply shows whose it is, not the last one'),
  },
  {
    name: 'misconfigured on the way',
    defect: 'a device that turns out to be another machine while off is read back is asked on',
    file: 'src/dispatch/switching.ts',
    edits: [["if (error.kind === 'Misconfigured') throw error;\n      agrees", 'agrees']],
    killedBy: byTest(OWN_OFF, 'Misconfigured'),
  },
  {
    name: 'revoked of some',
    defect: 'storage counts as revoked with one path read',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['...this.#revoked(job, [...together, device], end, words) }', '...this.#revoked(job, [device], end, words) }']],
    killedBy: byTest(
      'src/dispatch/revocation.test.ts',
      'paths to a storage that may read closed though they never were there are none where nobody saw one that was closed before it open: a mistyped key is never there',
    ),
  },
];
