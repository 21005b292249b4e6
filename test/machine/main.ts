// `npm run machine`: the node daemon under a real systemd, with a real watchdog driver and a real containerd, in a machine that QEMU emulates.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setUpPackages, thisMachine } from '../../scripts/packages.ts';
import { CASES } from './cases.ts';
import { Guest } from './guest.ts';
import { baseImage, packageImage } from './image.ts';
import { Plane } from './plane.ts';
import { MachineStage, seconds } from './stage.ts';

const PROGRAMS = [
  { command: 'debootstrap', package: 'debootstrap' },
  { command: 'qemu-system-x86_64', package: 'qemu-system-x86' },
  { command: 'mke2fs', package: 'e2fsprogs' },
  { command: 'ip', package: 'iproute2' },
];
/** As a shell has it: 128 and the number of SIGINT. */
const INTERRUPTED = 130;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, package: { type: 'string' } } });
  const machine = thisMachine();
  const missing = setUpPackages(PROGRAMS, machine, (line) => void process.stderr.write(`${line}\n`));
  if (missing.length > 0) return 1;
  if (!machine.isRoot) {
    process.stderr.write('debootstrap and a network of its own need root: run it as root, in a machine that may be thrown away\n');
    return 1;
  }
  const startedAtMs = performance.now();
  const tell = (line: string): void =>
    void process.stdout.write(`${((performance.now() - startedAtMs) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);
  const work = mkdtempSync(join(tmpdir(), 'nodefence-machine-'));
  const plane = new Plane();
  let guest: Guest | undefined;
  const end = async (): Promise<void> => {
    await guest?.close();
    await plane.stop();
    rmSync(work, { recursive: true, force: true });
  };
  const interrupted = (): void => void end().finally(() => process.exit(INTERRUPTED));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
  const failed: string[] = [];
  let played = 0;
  try {
    const base = baseImage(tell);
    const packageDisk = values.package ?? packageImage(work, tell);
    await plane.start();
    guest = await Guest.start({ base, packageDisk, work, tap: plane.tap });
    const stage = new MachineStage(guest, plane, tell);
    for (const [index, { name, play }] of CASES.entries()) {
      // The first one installs.
      if (index > 0 && values.only !== undefined && !name.includes(values.only)) continue;
      played += 1;
      tell(name);
      const sinceMs = performance.now();
      try {
        await play(stage);
        tell(`  ok, ${seconds(performance.now() - sinceMs)}`);
      } catch (error) {
        failed.push(name);
        tell(`  FAILED: ${error instanceof Error ? error.message : String(error)}`);
        if (index === 0) break;
      }
    }
  } finally {
    await end();
  }
  process.stdout.write(`${played - failed.length} of ${played} as they must be${failed.map((name) => `\n  not so: ${name}`).join('')}\n`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
