import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { FencePrograms } from '../../agents/exec/definition.ts';
import { ProgramFolder } from '../../agents/shared/process/program-folder.ts';
import type { AgentDefinition } from '../../src/ports/agents.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';

const parameter = (name: string, type = 'string'): string =>
  `<parameter name="${name}" unique="0" required="0"><getopt mixed="--${name}" /><content type="${type}" /><shortdesc lang="en">${name}</shortdesc></parameter>`;
const METADATA = `<?xml version="1.0" ?><resource-agent name="fence_matrix" shortdesc="Odd devices"><longdesc>Odd devices</longdesc><vendor-url></vendor-url>
<parameters>${['action', 'ip', 'username', 'password', 'plug'].map((name) => parameter(name)).join('')}${parameter('power_timeout', 'second')}</parameters>
<actions><action name="on" automatic="0"/>${['off', 'reboot', 'status', 'monitor', 'metadata'].map((name) => `<action name="${name}"/>`).join('')}</actions></resource-agent>`;

/** What a library's agent says before any command, by behaviour; the words stand where a device's would. */
const LOGIN: Readonly<Partial<Record<Behaviour, string>>> = {
  'wrong-credentials': 'fail "Unable to connect/login to fencing device"',
  'wrong-certificate': 'fail "SSL certificate problem: self-signed certificate"',
  unreachable: 'fail "Failed to connect to 192.0.2.1: Connection refused"',
  'hangs-mid-answer': 'printf Stat; sleep 600',
  garbage: 'echo "%-(state)"; exit 0',
  truncated: 'printf "Status: O"; exit 2',
  'state-unknown': 'fail "Failed: Unable to obtain correct plug status or plug is not available"',
  'state-null': 'echo "Status: "; exit 2',
  'session-limit': 'fail "Failed: RAC0218 maximum number of user sessions is reached"',
  'rate-limited': 'fail "HTTP 429 Too Many Requests"',
  slow: 'sleep 2',
};

/** What becomes of a command; `later <ms> <state>` is the device's own doing and outlives the program. */
const COMMAND: Readonly<Partial<Record<Behaviour, string>>> = {
  'accepts-and-lies': 'done_so',
  refuses: 'fail "Failed: The user does not have the correct privileges to do the requested action."',
  slow: 'later 8000 "$wanted"; sleep 1; fail "Failed: Timed out waiting to power $action"',
  'flips-back-on': 'turn "$wanted"; later 500 on; done_so',
  'one-plug-stuck': 'if [ "$plug" = 1 ]; then turn "$wanted"; fi; done_so',
  'late-after-deadline': 'later 6000 "$wanted"; sleep 600',
};

const cases = (table: Readonly<Partial<Record<Behaviour, string>>>): string[] =>
  Object.entries(table).map(([behaviour, line]) => `  ${behaviour}) ${line};;`);

const SCRIPT = (base: string): string[] => [
  '#!/bin/sh',
  'action=reboot plug= ip=',
  'while IFS= read -r line; do',
  '  case $line in action=*) action=${line#action=};; plug=*) plug=${line#plug=};; ip=*) ip=${line#ip=};; esac',
  'done',
  `if [ "$action" = metadata ]; then cat '${base}/metadata'; exit 0; fi`,
  `cd "${base}/$ip" || exit 1`,
  'read -r behaviour <behaviour',
  'fail() { echo "$1" >&2; exit 1; }',
  'turn() { rm -f "later-$plug"; echo "$1" >"state-$plug"; }',
  'later() { echo "$(($(date +%s%3N) + $1)) $2" >"later-$plug"; }',
  'done_so() { echo "Success: Powered $action"; exit 0; }',
  'if [ "$action" = on ] || [ "$action" = off ]; then echo "$plug $action" >>commands; fi',
  'case $behaviour in',
  ...cases(LOGIN),
  'esac',
  'if [ "$action" = status ]; then',
  '  read -r state <"state-$plug"',
  '  if [ -f "later-$plug" ]; then read -r at to <"later-$plug"; if [ "$(date +%s%3N)" -ge "$at" ]; then state=$to; fi; fi',
  '  if [ "$state" = on ]; then echo "Status: ON"; exit 0; else echo "Status: OFF"; exit 2; fi',
  'fi',
  'wanted=$action',
  'case $behaviour in',
  ...cases(COMMAND),
  '  *) turn "$wanted"; done_so;;',
  'esac',
];

/** A fence agent as its vendor might have written it, before as many devices as wanted, each known by its `ip`. */
export class ExecDevices {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nodefence-matrix-exec-'));
  #count = 0;

  constructor() {
    writeFileSync(join(this.#folder, 'metadata'), METADATA);
    writeFileSync(join(this.#folder, 'fence_matrix'), `${SCRIPT(this.#folder).join('\n')}\n`);
    chmodSync(join(this.#folder, 'fence_matrix'), 0o755);
  }

  get agent(): AgentDefinition {
    const definition = new FencePrograms(new ProgramFolder({ kind: 'folder', path: this.#folder })).find('fence_matrix', undefined);
    if (definition === undefined) throw new Error('the agent of the fault matrix is not installed');
    return definition;
  }

  spawn(behaviour: Behaviour, isOn: boolean): DeviceFixture {
    this.#count += 1;
    const ip = `device-${this.#count}`;
    const folder = join(this.#folder, ip);
    const plugs = behaviour === 'one-plug-stuck' ? ['1', '2'] : ['1'];
    mkdirSync(folder);
    writeFileSync(join(folder, 'behaviour'), `${behaviour}\n`);
    writeFileSync(join(folder, 'commands'), '');
    for (const plug of plugs) writeFileSync(join(folder, `state-${plug}`), isOn ? 'on\n' : 'off\n');
    return {
      parameters: { ip, username: 'admin', password: 'matrix-password' },
      plugs,
      identity: { node: 'worker-1' },
      flows: (plug) => flows(folder, plug),
      commands: () =>
        linesOf(join(folder, 'commands')).map((line) => {
          const [plug = '', wanted] = line.split(' ');
          return { plug, wanted: wanted === 'on' || wanted === 'off' ? wanted : 'other' };
        }),
      leftOpen: () => ({ sessions: 0, connections: 0, processes: processesIn(folder) }),
      close: () => Promise.resolve(),
    };
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function linesOf(file: string): string[] {
  return readOr(file)
    .split('\n')
    .filter((line) => line !== '');
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** What the device itself has come to, which only it knows. */
function flows(folder: string, plug: string): boolean {
  const [at, to] = readOr(join(folder, `later-${plug}`))
    .trim()
    .split(' ');
  const isDue = to !== undefined && Date.now() >= Number(at);
  return (isDue ? to : readOr(join(folder, `state-${plug}`)).trim()) === 'on';
}

/** Programs that work on this device: the agent goes into its folder, and so does whatever it starts. */
function processesIn(folder: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  }).length;
}
