import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { afterAll } from 'vitest';

import { ProgramFolder } from '../../agents/shared/process/program-folder.ts';
import { storageWith } from '../../agents/storage/definition.ts';
import { testFaultProfile } from './harness.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';

/** The filers of all fixtures, each under the name of its own folder. */
const PROGRAMS = mkdtempSync(join(tmpdir(), 'nodefence-filers-'));
afterAll(() => rmSync(PROGRAMS, { recursive: true, force: true }));

/** What each behaviour does before anything else; `$1` is list, close or open, `$2` the client. */
const ODDITIES: Readonly<Partial<Record<Behaviour, readonly string[]>>> = {
  slow: ['sleep 2'],
  refuses: ['[ "$1" = list ] || { echo "permission denied for $1" >&2; exit 13; }'],
  unreachable: ['echo "connect to filer: No route to host" >&2', 'exit 255'],
  'hangs-mid-answer': ['echo "Exp"', 'exec sleep 600'],
  garbage: ['head -c 2000 /dev/urandom', 'exit 0'],
  truncated: ['echo "Expo"', 'exit 0'],
  'state-unknown': ['echo "State: ???"', 'exit 0'],
  'state-null': ['exit 0'],
  'rate-limited': ['echo x >> asked', '[ "$(wc -l < asked)" -gt 2 ] || { echo "try again later" >&2; exit 75; }'],
  'accepts-and-lies': ['[ "$1" = list ] || exit 0'],
  'one-plug-stuck': ['[ "$1" = list ] || [ "$2" = 10.0.0.5 ] || exit 0'],
};

const ACT = 'case "$1" in close) rm -f "open-$2" ;; open) touch "open-$2" ;; esac';

/** In a session of its own, which outlives the command. */
function later(seconds: number, what: string): string[] {
  return [`setsid sh -c 'sleep ${seconds}; ${what}' later "$1" "$2" < /dev/null > /dev/null 2>&1 &`, 'sleep 0.2'];
}

function actsOf(behaviour: Behaviour): string[] {
  if (behaviour === 'slow') return later(8, ACT);
  if (behaviour === 'late-after-deadline') return [...later(6, ACT), 'exec sleep 600'];
  return [ACT, ...(behaviour === 'flips-back-on' ? ['[ "$1" = close ] || exit 0', ...later(0.5, 'touch "open-$2"')] : [])];
}

/** Who may write is a file for each client. The filer acts at once, or behind the back of whoever told it. */
function filer(folder: string, behaviour: Behaviour): string {
  const lines = [
    '#!/bin/sh',
    `cd ${folder}`,
    '[ "$1" = list ] || echo "$1 $2" >> told',
    `echo $$ >> started`,
    ...(ODDITIES[behaviour] ?? []),
    'if [ "$1" = list ]; then',
    '  echo "Export list:"',
    '  for file in open-*; do [ -e "$file" ] && echo "/srv ${file#open-}"; done',
    '  exit 0',
    'fi',
    ...actsOf(behaviour),
    'exit 0',
  ];
  const program = join(PROGRAMS, basename(folder));
  writeFileSync(program, `${lines.join('\n')}\n`);
  chmodSync(program, 0o755);
  return basename(program);
}

function linesOf(folder: string, name: string): string[] {
  const file = join(folder, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

function spawn(behaviour: Behaviour, isOn: boolean): Promise<DeviceFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-filer-'));
  const program = filer(folder, behaviour);
  const plugs = behaviour === 'one-plug-stuck' ? ['10.0.0.5', '10.0.0.6'] : ['10.0.0.5'];
  for (const plug of plugs) if (isOn) writeFileSync(join(folder, `open-${plug}`), '');
  return Promise.resolve({
    parameters: {
      close_command: `${program} close %plug%`,
      open_command: `${program} open %plug%`,
      state_command: `${program} list`,
      closed_match: 'Export list:',
      open_match: '/srv %plug%',
    },
    plugs,
    identity: { node: 'a' },
    flows: (plug) => existsSync(join(folder, `open-${plug}`)),
    commands: () =>
      linesOf(folder, 'told').map((line) => {
        const [what, plug = ''] = line.split(' ');
        return { plug, wanted: what === 'close' ? 'off' : 'on' };
      }),
    leftOpen: () => ({ sessions: 0, connections: 0, processes: linesOf(folder, 'started').filter((pid) => existsSync(`/proc/${pid}`)).length }),
    close: () => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  });
}

const BY_SSH = 'commands that run here log in nowhere; the logins of SSH are in the fault matrix of ethernet-switch';

testFaultProfile({
  agent: storageWith(new ProgramFolder({ kind: 'folder', path: PROGRAMS })),
  cannot: {
    restarts: 'what a command is about is known to nobody but its author',
    'wrong-credentials': BY_SSH,
    'wrong-certificate': BY_SSH,
    'session-limit': BY_SSH,
    'wrong-machine': 'what a command says names no machine',
    'state-pending': 'a line is there or it is not',
  },
  words: {
    'accepts-and-lies': /Export list:/u,
    refuses: /exit code 13: permission denied for (?:close|open)/u,
    unreachable: /exit code 255: connect to filer: No route to host/u,
    'hangs-mid-answer': /did not end in time and was killed|no (?:complete )?answer within/u,
    garbage: /neither line is in/u,
    truncated: /Expo/u,
    'state-unknown': /State: \?\?\?/u,
    'state-null': /\(no output\)/u,
    'flips-back-on': /Export list:/u,
    'rate-limited': /exit code 75: try again later/u,
    'one-plug-stuck': /Export list:/u,
    'late-after-deadline': /Export list:|did not end in time and was killed|no (?:complete )?answer within/u,
  },
  spawn,
});
