import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every command that a fake has heard, with the answer that it gives; the rest is `Invalid command`. */
export interface FakeAnswers {
  /** What to do before the first prompt, instead of asking for the password and going on. */
  login?: string;
  /** Lines of shell for Get Chassis Status, e.g. `echo " 01 00 00"`. */
  status?: string;
  guid?: string;
  off?: string;
}

export interface FakeIpmitool {
  /** To be searched before any other folder. */
  path: string;
  /** The commands that it was given, in order; `login` for each start. */
  commands(): string[];
  dispose(): void;
}

const LOGIN = 'stty -echo; printf "Password: "; read -r password; stty echo; echo';
const GUID = 'echo " a1 23 45 67 89 ab cd ef a1 23 45 67 89 00 00 01"';

/** A program named `ipmitool` that says whatever a test wants, since the real one is too well-behaved. `$n` counts its starts, `$password` is what was typed. */
export function fakeIpmitool({
  login = LOGIN,
  status = 'echo " 01 00 00"',
  guid = GUID,
  off = 'echo Chassis Power Control: Down/Off',
}: FakeAnswers): FakeIpmitool {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-fake-ipmitool-'));
  const log = join(folder, 'log');
  writeFileSync(log, '');
  const lines = [
    '#!/bin/sh',
    `echo login >>${log}`,
    `n=$(grep -c login ${log})`,
    login,
    'while printf "ipmitool> "; read -r line; do',
    `  echo "$line" >>${log}`,
    '  case $line in',
    `    "raw 0 1") ${status};;`,
    `    "raw 6 55") ${guid};;`,
    '    "raw 6 1") echo " 20 01 01 00 02 80 00 00 00 00 00";;',
    `    "power off") ${off};;`,
    '    exit) exit 0;;',
    '    *) echo "Invalid command";;',
    '  esac',
    'done',
  ];
  writeFileSync(join(folder, 'ipmitool'), `${lines.join('\n')}\n`);
  chmodSync(join(folder, 'ipmitool'), 0o755);
  return {
    path: `${folder}:/usr/bin:/bin`,
    commands: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}
