import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SEVERAL_CHASSIS = 'agents/redfish/several-chassis.test.ts';

const OUTLETS = 'agents/redfish/outlets.test.ts';
const RESUMPTION = 'agents/redfish/resumption.test.ts';

/** Defects of the agent redfish, beside those of device-mutants.ts. */
export const REDFISH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'first chassis for all',
    defect: 'of several Chassis only the first is asked whether the machine is off',
    file: 'agents/redfish/machine.ts',
    edits: [['return found.find((witness) => witness.state !== view.state) ?? found[0];', 'return found[0];']],
    killedBy: byTest(SEVERAL_CHASSIS, 'of several Chassis each is a witness: the one that contradicts is told, also as the last'),
  },
  {
    name: 'first chassis linked',
    defect: 'of several Chassis only the first that is linked is asked',
    file: 'agents/redfish/machine.ts',
    edits: [['const CHASSIS_MAX = 4;', 'const CHASSIS_MAX = 1;']],
    killedBy: byTest(SEVERAL_CHASSIS, 'of several Chassis each is a witness: the one that contradicts is told, also as the last'),
  },
  {
    name: 'outlet by half a look',
    defect: 'an outlet is taken by its name though not all were looked at, and another one of that name may be meant',
    file: 'agents/redfish/outlets.ts',
    edits: [['if (isCut || members.filter(({ resource }) => resource === undefined).length > NAMED_MAX)', 'if (isCut)']],
    killedBy: byTest(OUTLETS, 'are not taken by a name where not all are looked at: the rest may hold another one of that name'),
  },
  {
    name: 'outlet by the first pages',
    defect: 'an outlet is taken by its name from the first pages of the list, and another one of that name may be meant',
    file: 'agents/redfish/outlets.ts',
    edits: [['if (isCut || members.filter', 'if (members.filter']],
    killedBy: byTest(OUTLETS, 'are not taken by a name where the pages come to no end'),
  },
  {
    name: 'Redfish of another machine',
    defect: 'a System with the UUID of another machine is switched',
    file: 'agents/redfish/machine.ts',
    edits: [["if (identity.kind === 'other') {", "if (identity.kind === 'other' && resource === undefined) {"]],
    killedBy: byTest('agents/redfish/agent-read.test.ts', 'takes the one that the plug names, and refuses a name that is not there'),
  },
  {
    name: 'Redfish of another mark',
    defect: 'a System with another serial number than the configured is switched',
    file: 'agents/redfish/machine.ts',
    edits: [['if (other !== undefined) {', "if (other === '') {"]],
    killedBy: byTest(
      'agents/redfish/agent-read.test.ts',
      'a machine that is configured by a mark is no other one, whatever path or plug is given besides: { …(1) }',
    ),
  },
  {
    name: 'empty slot',
    defect: 'an empty slot counts as a machine that is off',
    file: 'agents/redfish/machine.ts',
    edits: [["isAbsent ? 'unknown' : powerState", 'powerState']],
    killedBy: byTest('agents/redfish/agent-read.test.ts', 'gives an empty slot as unknown, whatever power it shows'),
  },
  {
    name: 'a certificate for ever',
    defect: 'a TLS session is resumed again and again, and the certificate is never verified anew',
    file: 'agents/redfish/recollection.ts',
    edits: [['return isFresh && ', 'return ']],
    killedBy: byTest(RESUMPTION, 'shows its certificate anew an hour later'),
  },
  {
    name: 'a certificate that has ended',
    defect: 'a TLS session is resumed though its certificate has ended',
    file: 'agents/redfish/recollection.ts',
    edits: [["Date.parse(known.certificate.expiresAt ?? '') > this.#clock.wallMs()", 'known.session.length > 0']],
    killedBy: byTest('agents/redfish/recollection.test.ts', 'is not offered once its certificate has ended, nor where nobody knows when it ends'),
  },
  {
    name: 'certificate that no probe sees',
    defect: 'a probe resumes a TLS session, so that a certificate that was exchanged is not seen',
    file: 'agents/redfish/connection.ts',
    edits: [['this.#kept.open(call.target.isProbe === true)', 'this.#kept.open(false)']],
    killedBy: byTest(RESUMPTION, 'shows its certificate in each probe'),
  },
  {
    name: 'remembered machine',
    defect: 'what stands where a machine was is taken for that machine, though it does not show that it is',
    file: 'agents/redfish/machine.ts',
    edits: [["if (from === 'memory' && !isVerified) {", "if (from === 'memory' && response.status !== 200) {"]],
    killedBy: byTest(RESUMPTION, 'is asked for its machine where that was, as long as the machine there shows that it is the one'),
  },
  {
    name: 'machine remembered unseen',
    defect: 'where a machine is, is remembered though nothing showed that it is the one',
    file: 'agents/redfish/machine.ts',
    edits: [["if (from === 'choice' && isVerified)", "if (from === 'choice')"]],
    killedBy: byTest(RESUMPTION, 'is looked for anew each time where it does not show which machine it is'),
  },
  {
    name: 'machine remembered for ever',
    defect: 'whether there is still one machine that is meant, and one only, is never looked at again',
    file: 'agents/redfish/recollection.ts',
    edits: [['this.#clock.monotonicMs() - known.chosenAtMs < CHOICE_MAX_MS', 'known.chosenAtMs < Infinity']],
    killedBy: byTest(RESUMPTION, 'is looked through once an hour for whether one machine is meant, and one only'),
  },
  {
    name: 'answer that nobody asked for',
    defect: 'what a device says while nothing is asked is taken for the answer to what is asked next',
    file: 'agents/redfish/kept-socket.ts',
    edits: [["peer.socket.on('data', onData);", '']],
    killedBy: byTest('agents/redfish/kept-socket.test.ts', 'is not taken where the device said something that nobody asked for'),
  },
  {
    name: 'two requests at a time',
    defect: 'a second request opens a connection of its own while the first is under way',
    file: 'agents/redfish/connection.ts',
    edits: [['while (this.#use !== undefined) await call.within(this.#use);', '']],
    killedBy: byTest('agents/redfish/connection.test.ts', 'carries one request at a time, whoever asks, and is made once'),
  },
  {
    name: 'trust of another',
    defect: 'a TLS session that was trusted by one authority is resumed under another',
    file: 'agents/redfish/agent.ts',
    edits: [['this.#recollections.of(key)', "this.#recollections.of('')"]],
    killedBy: byTest(RESUMPTION, 'is asked for its certificate under another pin or another authority'),
  },
  {
    name: 'kept before the pin',
    defect: 'a TLS session is kept of a device whose certificate is not the pinned one',
    file: 'agents/redfish/socket.ts',
    edits: [['shown?.fingerprint !== settings.fingerprint', 'shown === undefined']],
    killedBy: byTest(RESUMPTION, 'is asked for its certificate under another pin or another authority'),
  },
  {
    name: 'name of a certificate',
    defect: 'whoever has a certificate of the same authority, for whatever host, is taken for the device',
    file: 'agents/redfish/named-peer.ts',
    edits: [['(host) => nameProblem(host, certificate())', '() => undefined']],
    killedBy: byTest('agents/redfish/named-peer.test.ts', 'is refused where another one is named'),
  },
  {
    name: 'silence is not watched for ever',
    defect: 'a process that stood still lets the calls to dead devices hold up all others from then on',
    file: 'agents/redfish/permits.ts',
    edits: [['    }\n    this.#watch();\n  }\n', '    }\n  }\n']],
    killedBy: byTest(
      'agents/redfish/permits.test.ts',
      'count no longer either where a process that stood still notices before its next turn that four were silent',
    ),
  },
  {
    name: 'another party',
    defect: 'the reset goes over another connection than the identity came by',
    file: 'agents/redfish/power.ts',
    edits: [['if (!isSameParty(device, checked, peer)) throw new PartyChanged();', '']],
    killedBy: byTest('agents/redfish/agent-set.test.ts', 'is not switched where nothing ties its identity to the reset'),
  },
  {
    name: 'identity before the ActionInfo',
    defect: 'what was asked for in between is not followed by a second look at the identity',
    file: 'agents/redfish/power.ts',
    edits: [['order.isLate ? await subject.view(call) : view', 'view']],
    killedBy: byTest(
      'agents/redfish/agent-set.test.ts',
      'comes after the identity was read again, where the allowed resets had to be fetched in between',
    ),
  },
  {
    name: 'Task failed',
    defect: 'a Task that failed at once counts as accepted',
    file: 'agents/redfish/power.ts',
    edits: [
      [
        "failure === undefined ? { result: 'accepted', detail: message } : refusedUnlessReached(device, call, wish, failure)",
        "{ result: 'accepted', detail: failure ?? message }",
      ],
    ],
    killedBy: byTest('agents/redfish/agent-set.test.ts', 'follows a task for its error only'),
  },
  {
    name: 'graceful off',
    defect: 'a shutdown that the system may ignore fences',
    file: 'agents/redfish/reset.ts',
    edits: [["off: ['ForceOff']", "off: ['ForceOff', 'GracefulShutdown']"]],
    killedBy: byTest(
      'agents/redfish/agent-set.test.ts',
      'switching refuses a device without ForceOff (inline): neither a graceful shutdown nor the power button fences',
    ),
  },
  {
    name: 'first System',
    defect: 'of several Systems the first is switched',
    file: 'agents/redfish/system-choice.ts',
    edits: [['if (members.length === 1) return only;', 'return only;']],
    killedBy: byTest('agents/redfish/agent-read.test.ts', 'refuses to guess and lists them'),
  },
  {
    name: 'witness forgotten',
    defect: 'a Chassis that did not answer at the first look is never asked again',
    file: 'agents/redfish/machine.ts',
    edits: [
      ['if (known === undefined && isComplete) {', 'if (known === undefined) {'],
      ['      isComplete &&= isAnswer;\n', '      isComplete &&= isAnswer;\n      if (!isAnswer) continue;\n'],
    ],
    killedBy: byTest('agents/redfish/agent-read.test.ts', 'reports a Chassis that disagrees, stays silent about its power later, or cannot be read'),
  },
  {
    name: 'session of other credentials',
    defect: 'a kept session serves other credentials',
    file: 'agents/redfish/agent.ts',
    edits: [['key: connectionKey(settings) }', "key: '' }"]],
    killedBy: byTest('agents/redfish/agent-read.test.ts', 'trusts exactly a pinned certificate'),
  },
  {
    name: 'failure inside the device',
    defect: 'a failure inside the device counts as a refusal',
    file: 'agents/redfish/power.ts',
    edits: [['(status >= 500 && status !== 501)', 'status === 500']],
    killedBy: byTest(
      'agents/redfish/doubt.test.ts',
      'a reset whose effect is not known is unclear at HTTP 502, also while the machine is on: it may come late',
    ),
  },
  {
    name: 'reset sent twice',
    defect: 'a reset whose answer was lost is sent once more',
    file: 'agents/redfish/power.ts',
    edits: [
      [
        'if (error instanceof ExchangeError && error.isSent) {',
        "if (error instanceof ExchangeError && error.isSent && error.kind !== 'ended') return { kind: 'other-peer' };\n    if (error instanceof ExchangeError && error.isSent) {",
      ],
    ],
    killedBy: byTest('agents/redfish/doubt.test.ts', 'is not sent again when the connection is cut before its answer'),
  },
  {
    name: 'first of two marks',
    defect: 'of two Systems with the same mark the first is switched',
    file: 'agents/redfish/system-choice.ts',
    edits: [['if (only !== undefined && matches.length === 1) return only;', 'if (only !== undefined) return only;']],
    killedBy: byTest('agents/redfish/doubt.test.ts', 'is no machine where two Systems bear the mark that was given'),
  },
  {
    name: 'shared enclosure',
    defect: 'a Chassis of several machines, which stays on for the others, denies the off of one',
    file: 'agents/redfish/machine.ts',
    edits: [['return systems.length === 0 || (systems.length === 1 && (', 'return systems.length !== 1 || (systems.length === 1 && (']],
    killedBy: byTest('agents/redfish/doubt.test.ts', 'is no witness where the Chassis holds other machines too: it stays on for them'),
  },
  {
    name: 'starting Manager',
    defect: 'the Off of a Manager that is starting counts',
    file: 'agents/redfish/agent.ts',
    edits: [["state: isStarting ? 'unknown' : view.state", 'state: view.state']],
    killedBy: byTest('agents/redfish/doubt.test.ts', 'is no Off while its Manager says that it is starting, however often it is asked'),
  },
  {
    name: 'starting Manager asked once',
    defect: 'a Manager that was starting at the first look is believed at the second',
    file: 'agents/redfish/boots.ts',
    edits: [['this.#isLooked = shown?.isStarting !== true;', 'this.#isLooked = true;']],
    killedBy: byTest('agents/redfish/doubt.test.ts', 'is no Off while its Manager says that it is starting, however often it is asked'),
  },
  {
    name: 'account for ever',
    defect: 'what a device once said of the end of an account is never asked for again',
    file: 'agents/redfish/recollection.ts',
    edits: [['this.#clock.monotonicMs() - known.readAtMs < ACCOUNT_MAX_MS ?', 'this.#clock.monotonicMs() - known.readAtMs < Infinity ?']],
    killedBy: byTest(RESUMPTION, 'is asked once an hour when its account ends, and at the next probe where it did not say'),
  },
  {
    name: 'account unsaid',
    defect: 'a device that was too busy to say when an account ends is not asked again',
    file: 'agents/redfish/account.ts',
    edits: [['if (accounts === undefined) return undefined;', 'if (accounts === undefined) return { endsAt: undefined };']],
    killedBy: byTest(RESUMPTION, 'is asked once an hour when its account ends, and at the next probe where it did not say'),
  },
];
