import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const HOST_TRUST = 'agents/shared/ssh/host-trust.test.ts';
const DIALOGUE = 'agents/shared/ssh/dialogue.test.ts';
const STORAGE_AGENT = 'agents/storage/agent.test.ts';
const IF_MIB = 'agents/ethernet-switch/if-mib.test.ts';

/** Defects of what agents share. */
export const SHARED_AGENT_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'refusal with its secret',
    defect: 'an error shows the token that a refusal echoed',
    file: 'agents/shared/web/web-client.ts',
    edits: [['const secrets = response.status >= 400 ?', 'const secrets = response.status >= 600 ?']],
    killedBy: byTest('agents/shared/web/web-client.test.ts', 'of HTTP 403 is a refusal, out of which every secret is struck, and nothing else'),
  },
  {
    name: 'login without its token',
    defect: 'an answer that succeeds loses what is equal to a secret of its request',
    file: 'agents/shared/web/web-client.ts',
    edits: [['const secrets = response.status >= 400 ?', 'const secrets = response.status >= 200 ?']],
    killedBy: byTest('agents/shared/web/web-client.test.ts', 'of HTTP 200 stays as it is: it may be the token that was asked for'),
  },
  {
    name: 'revoked host key',
    defect: 'a host key that known_hosts revokes is trusted',
    file: 'agents/shared/ssh/host-trust.ts',
    edits: [
      [
        "if (same.some(({ marker }) => marker === 'revoked')) return",
        "if (same.some(({ marker }) => marker === 'revoked') && key.length === 0) return",
      ],
    ],
    killedBy: byTest(HOST_TRUST, 'a revoked key'),
  },
  {
    name: 'key of another host',
    defect: 'a host key that known_hosts has for another host is trusted',
    file: 'agents/shared/ssh/host-trust.ts',
    edits: [
      [
        'return entries.filter(({ hosts }) => names.some((name) => isListed(hosts, name)));',
        'return entries.filter(({ hosts }) => names.length > 0 && hosts !== "");',
      ],
    ],
    killedBy: byTest(HOST_TRUST, 'no line'),
  },
  {
    name: 'key of another port',
    defect: 'a host key of another port is trusted',
    file: 'agents/shared/ssh/host-trust.ts',
    edits: [['const names = port === 22 ? [host, `[${host}]:22`] : [`[${host}]:${port}`];', 'const names = [host, `[${host}]:${port}`];']],
    killedBy: byTest(HOST_TRUST, 'a line for another port'),
  },
  {
    name: 'negated host',
    defect: 'a host that a line of known_hosts leaves out is trusted by it',
    file: 'agents/shared/ssh/host-trust.ts',
    edits: [["if (patterns.some((pattern) => pattern.startsWith('!') && isMatch(pattern.slice(1), name))) return false;", '']],
    killedBy: byTest(HOST_TRUST, 'a negated pattern'),
  },
  {
    name: 'answer to something else',
    defect: 'an answer that does not begin with its echo counts',
    file: 'agents/shared/ssh/dialogue.ts',
    edits: [['if (echo?.trim() !== line.trim()) throw', 'if (echo === undefined) throw']],
    killedBy: byTest(DIALOGUE, 'that begins with the echo of another line belongs to something else, and is none'),
  },
  {
    name: 'said after the prompt',
    defect: 'what a device said after its prompt belongs to the next answer',
    file: 'agents/shared/ssh/dialogue.ts',
    edits: [["if (this.#text.trim() !== '') throw", "if (this.#text === '\\0') throw"]],
    killedBy: byTest(DIALOGUE, 'is not asked for while the device still says something of its own accord'),
  },
  {
    name: 'endless command output',
    defect: 'output of any length is kept',
    file: 'agents/shared/ssh/connection.ts',
    edits: [['if (chunk.length > rest) this.isCut = true;', '']],
    killedBy: byTest('agents/shared/ssh/open-sshd.test.ts', 'keeps the beginning of endless output'),
  },
  {
    name: 'victim by its boot',
    defect: 'a victim under another address is not known by its boot ID',
    file: 'agents/shared/command/other-host.ts',
    edits: [['if (isShown && shown === victim)', 'if (isShown && shown === "")']],
    killedBy: byTest('agents/scsi/agent.test.ts', 'is never run on the node itself, whatever its address is called'),
  },
  {
    name: 'victim by its address',
    defect: 'a victim is not known by its address',
    file: 'agents/shared/command/other-host.ts',
    edits: [['if (own.has(place.host))', 'if (own.has("") && place.host === "")']],
    killedBy: byTest(STORAGE_AGENT, 'does the same by SSH on another host, never on the node itself'),
  },
  {
    name: 'unquoted words',
    defect: 'a word with blanks is several to the far shell',
    file: 'agents/shared/command/command-runner.ts',
    edits: [["return PLAIN.test(word) ? word : `'${word.replaceAll(\"'\", `'\\\\''`)}'`;", 'return word;']],
    killedBy: byTest(STORAGE_AGENT, 'does the same by SSH on another host, never on the node itself'),
  },
  {
    name: 'placeholder UUID',
    defect: 'a UUID that vendors leave in unset firmware names a machine',
    file: 'agents/shared/machine-uuid.ts',
    edits: [[' || PLACEHOLDERS.has(digits)) return undefined;', ') return undefined;']],
    killedBy: byTest('agents/ipmi/identity.test.ts', 'a placeholder is recorded'),
  },
  {
    name: 'two ports of a name',
    defect: 'of two ports of one name the first is closed',
    file: 'agents/shared/interfaces/if-mib.ts',
    edits: [['if (others.length > 0)\n      throw', 'if (others.length > 9)\n      throw']],
    killedBy: byTest(IF_MIB, 'that shares its name with another one is not touched'),
  },
  {
    name: 'no transceiver',
    defect: 'a port without a transceiver is closed',
    file: 'agents/shared/interfaces/port-view.ts',
    edits: [["return oper === 'notPresent' ? 'unknown' : 'closed';", "return 'closed';"]],
    killedBy: byTest(IF_MIB, 'a port by the IF-MIB with ifAdminStatus 2 and ifOperStatus 6 is unknown'),
  },
  {
    name: 'still passing',
    defect: 'a port that is configured down and still passes is closed',
    file: 'agents/shared/interfaces/port-view.ts',
    edits: [["if (oper === 'up' || oper === 'dormant') return 'pending';", '']],
    killedBy: byTest(IF_MIB, 'a port by the IF-MIB with ifAdminStatus 2 and ifOperStatus 1 is pending'),
  },
  {
    name: 'another description',
    defect: 'a port whose description does not name the machine is closed',
    file: 'agents/shared/interfaces/port-identity.ts',
    edits: [["if (!holdsWords(description ?? '', wanted))\n    return", 'if (description === undefined)\n    return']],
    killedBy: byTest('agents/ethernet-switch/command-line.test.ts', 'does not touch the port of another machine'),
  },
  {
    name: 'rack for a node',
    defect: 'the port of rack 10 is that of node 10.0.0.5',
    file: 'agents/shared/node-words.ts',
    edits: [['  if (NUMBER.test(found) || NUMBER.test(word)) return found === word;\n', '']],
    killedBy: byTest(
      'agents/shared/interfaces/port-identity.test.ts',
      'whose port it is, by its description is not that of 10.0.0.5 where it says "rack 10"',
    ),
  },
  {
    name: 'contradicting NX-OS',
    defect: 'two lines that contradict each other are believed',
    file: 'agents/shared/interfaces/nxos.ts',
    edits: [['(isEven ? said : undefined)', 'said']],
    killedBy: byTest(
      'agents/ethernet-switch/dialects.test.ts',
      'what real switches print nxos: ["Ethernet1/1 is down (Administratively down)","admin state is up, Dedicated Interface"] says nothing',
    ),
  },
  {
    name: 'SSH connection kept after a failure',
    defect: 'a connection on which a command failed serves the next call',
    file: 'agents/shared/ssh/connections.ts',
    edits: [
      [
        '      kept.connection?.abandon();\n      kept.connection = undefined;\n      if (error instanceof SshFailure)',
        '      if (error instanceof SshFailure)',
      ],
    ],
    killedBy: byTest(
      'agents/shared/ssh/connections.test.ts',
      'a connection over SSH that is kept is let go after a command that did not end in time: a late answer is never that to another command',
    ),
  },
  {
    name: 'SSH connection left open',
    defect: 'a connection that is given up stays open',
    file: 'agents/shared/ssh/connections.ts',
    edits: [['      kept.connection?.abandon();\n', '']],
    killedBy: byTest(
      'agents/shared/ssh/connections.test.ts',
      'a connection over SSH that is kept is let go after a command that did not end in time: a late answer is never that to another command',
    ),
  },
  {
    name: 'lost SSH connection used',
    defect: 'a connection that the device closed is used again',
    file: 'agents/shared/ssh/connections.ts',
    edits: [['if (kept.connection?.isLost === true) kept.connection = undefined;', '']],
    killedBy: byTest('agents/shared/ssh/connections.test.ts', 'that the device closed meanwhile is replaced'),
  },
  {
    name: 'SSH connection of another account',
    defect: 'a connection is used for another account of the same host',
    file: 'agents/shared/ssh/connections.ts',
    edits: [['JSON.stringify(settings)', 'JSON.stringify([settings.host, settings.port])']],
    killedBy: byTest('agents/shared/ssh/connections.test.ts', 'is of one account: another login has its own'),
  },
  {
    name: 'SSH connection for ever',
    defect: 'a connection that nobody uses is never closed',
    file: 'agents/shared/ssh/connections.ts',
    edits: [['      this.#kept.delete(key);\n      void kept.connection?.close();', '        this.#kept.delete("");']],
    killedBy: byTest('agents/shared/ssh/connections.test.ts', 'ends ten seconds after its last use, not before'),
  },
  {
    name: 'SSH connection closed in use',
    defect: 'a connection in use is closed when it has been used before for a while',
    file: 'agents/shared/ssh/connections.ts',
    edits: [['    kept.cancelIdle();\n    const before', '    const before']],
    killedBy: byTest('agents/shared/ssh/connections.test.ts', 'ends ten seconds after its last use, not before'),
  },
  {
    name: 'object edited without version',
    defect: 'an object is changed although somebody has changed it since it was read',
    file: 'agents/shared/cluster/object-call.ts',
    edits: [['...(resourceVersion === undefined ? {} : { resourceVersion })', '']],
    killedBy: byTest('agents/shared/cluster/object-call.test.ts', 'is changed under the version that was read, and under no other'),
  },
];
