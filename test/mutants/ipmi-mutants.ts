import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const REPLAY = 'agents/ipmi/native/replay.test.ts';
const NATIVE_SESSION = 'agents/ipmi/native/native-session.test.ts';

/** Defects of the agent ipmi, beside those of device-mutants.ts. */
export const IPMI_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'replayed answer',
    defect: 'an answer of IPMI that was said before is believed again',
    file: 'agents/ipmi/native/secure-channel.ts',
    edits: [['packet.sequence <= this.#received || ', '']],
    killedBy: byTest(REPLAY, 'a round of rqSeq ago is no answer to what is asked now'),
  },
  {
    name: 'replay not noted',
    defect: 'the number of what was heard is not noted, so that it is believed again',
    file: 'agents/ipmi/native/secure-channel.ts',
    edits: [['    this.#received = packet.sequence;\n', '']],
    killedBy: byTest(REPLAY, 'a round of rqSeq ago is no answer to what is asked now'),
  },
  {
    name: 're-login keeps the identity',
    defect: 'after a login anew IPMI keeps the GUID of the BMC before',
    file: 'agents/ipmi/session.ts',
    edits: [
      ['    this.#guid = undefined;\n    this.#upAtMs = undefined;', '    this.#upAtMs = undefined;'],
      ['return line === this.#line && this.#guid !== undefined', 'return this.#guid !== undefined'],
    ],
    killedBy: byTest(REPLAY, 'of the machine behind a session that is lost says nothing of the one behind the next'),
  },
  {
    name: 'new packet for a repetition',
    defect: 'a repeated off is a packet of its own: a BMC may act twice',
    file: 'agents/ipmi/native/secure-channel.ts',
    edits: [
      [
        '      if (sending === 1) beforeSend();\n      return packet;',
        '      if (sending === 1) beforeSend();\n      return sending === 1 ? packet : this.#packet(requestBytes(request));',
      ],
    ],
    killedBy: byTest(NATIVE_SESSION, 'is repeated as the same packet when it was lost, after the lease was asked again'),
  },
  {
    name: 'repetition without a lease',
    defect: 'an off is repeated after the lease was lost',
    file: 'agents/ipmi/native/secure-channel.ts',
    edits: [['if (sending > 1 && !isAllowed(beforeSend)) return undefined;', '']],
    killedBy: byTest(NATIVE_SESSION, 'is repeated as the same packet when it was lost, after the lease was asked again'),
  },
  {
    name: 'guid for ever',
    defect: 'the GUID of a session is never read again before a set',
    file: 'agents/ipmi/session.ts',
    edits: [["const keepsMs = when === 'anew' ? line.identityKeepsMs : Number.POSITIVE_INFINITY;", 'const keepsMs = Number.POSITIVE_INFINITY;']],
    killedBy: byTest(NATIVE_SESSION, 'is read again before a set once it is old'),
  },
  {
    name: 'any machine by IPMI',
    defect: 'a BMC that shows another machine is switched',
    file: 'agents/ipmi/power.ts',
    edits: [
      [
        "if (check.kind === 'verified') return { identity: 'verified', why: '' };",
        "if (check.kind !== 'unverified') return { identity: 'verified', why: '' };",
      ],
    ],
    killedBy: byTest(NATIVE_SESSION, 'of another machine stops everything'),
  },
  {
    name: 'unsigned answer',
    defect: 'an answer that nobody signed is believed',
    file: 'agents/ipmi/native/secure-channel.ts',
    edits: [[' || !keys.isSigned(packet.trailed)) return undefined;', ') return undefined;']],
    killedBy: byTest('agents/ipmi/native/hostile-datagrams.test.ts', 'is believed in a session only as the BMC sent it'),
  },
  {
    name: 'vector used twice',
    defect: 'packets of IPMI are encrypted with the same initialization vector',
    file: 'agents/ipmi/native/keys.ts',
    edits: [['return this.#cipher.update(padded);', 'return Buffer.concat([NO_BLOCK, this.#cipher.update(padded).subarray(BLOCK_BYTES)]);']],
    killedBy: byTest('agents/ipmi/native/keys.test.ts', 'the codes and keys of suite 3, key of the BMC undefined never encrypt twice alike'),
  },
  {
    name: 'out of turn',
    defect: 'a question to a BMC does not wait for the one before it',
    file: 'agents/ipmi/session.ts',
    edits: [['if (before !== undefined) {', 'if (before !== undefined && before === promise) {']],
    killedBy: byTest(NATIVE_SESSION, 'serves calls that come at once one after the other, also behind one that was given up while it waited'),
  },
  {
    name: 'lost datagram as refusal',
    defect:
      'a login that was not answered to its end counts as one that the BMC refuses: a lost datagram ends the run with advice to change the privilege',
    file: 'agents/ipmi/ipmitool/login-error.ts',
    edits: [
      [String.raw`says: /^Set Session Privilege Level to \S+ failed$/,`, 'says: /^never said$/,'],
      [String.raw`failed: |(?:unauthorized`, '|(?:unauthorized'],
    ],
    killedBy: byTest('agents/ipmi/ipmitool/login-error.test.ts', 'why there is no session'),
  },
];
