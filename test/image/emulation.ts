import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { OWN } from './architecture.ts';
import type { Architecture } from './architecture.ts';

/** Of another architecture: the kernel runs its programs by this one, once it was told so. */
export const EMULATOR = { command: 'qemu-aarch64-static', package: 'qemu-user-static' } as const;
const REGISTERED = '/proc/sys/fs/binfmt_misc';
const QEMU: Readonly<Record<Architecture, string>> = { amd64: 'qemu-x86_64', arm64: 'qemu-aarch64' };

/** Why the kernel does not run programs of this architecture, in words; undefined: it does. As root it is told to where it was not. */
export function whyNotRun(architecture: Architecture): string | undefined {
  if (architecture === OWN) return undefined;
  const name = QEMU[architecture];
  if (isOn(name)) return undefined;
  const line = `/usr/lib/binfmt.d/${name}.conf`;
  if (!existsSync(line)) return `there is no ${line}, which ${EMULATOR.package} brings`;
  if (!existsSync(`${REGISTERED}/register`)) spawnSync('sh', ['-c', `mount -t binfmt_misc none ${REGISTERED}`]);
  if (!existsSync(`${REGISTERED}/register`)) return 'the kernel has no binfmt_misc, by which it would run programs of another architecture';
  // What is there and switched off would be taken for the new one.
  if (existsSync(`${REGISTERED}/${name}`)) writeFileSync(`${REGISTERED}/${name}`, '1');
  else writeFileSync(`${REGISTERED}/register`, readFileSync(line, 'utf8').trim());
  return isOn(name) ? undefined : `the kernel did not take ${line}`;
}

function isOn(name: string): boolean {
  const file = `${REGISTERED}/${name}`;
  return existsSync(file) && readFileSync(file, 'utf8').startsWith('enabled');
}
