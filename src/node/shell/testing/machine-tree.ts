import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files as the kernel of a bare machine shows them, under a folder of their own. */
export class MachineTree {
  readonly root = mkdtempSync(join(tmpdir(), 'nodefence-machine-'));
  readonly #children: ChildProcess[] = [];

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  /** A machine without a hypervisor that cannot sleep, and its hardware watchdog. */
  addWatchdog(facts: Readonly<Record<string, string>> = {}): void {
    this.write('proc/cpuinfo', 'flags\t\t: fpu vme sse2\n');
    this.write('sys/power/state', '\n');
    const all = { identity: 'iTCO_wdt', timeout: '10', nowayout: '0', options: '0x8180', state: 'inactive', 'device/uevent': '', ...facts };
    for (const [name, text] of Object.entries(all)) this.write(`sys/class/watchdog/watchdog0/${name}`, `${text}\n`);
  }

  /** As Debian 12 (Linux 6.1) shows an Intel 6300ESB, recorded by `npm run machine`: no `options`, and no link to its device. */
  add6300Esb(facts: Readonly<Record<string, string>> = {}): void {
    this.write('proc/cpuinfo', 'flags\t\t: fpu vme sse2\n');
    this.write('sys/power/state', '\n');
    const recorded = {
      bootstatus: '0',
      dev: '246:0',
      identity: 'i6300ESB timer',
      max_timeout: '2046',
      min_timeout: '1',
      nowayout: '0',
      pretimeout: '0',
      state: 'inactive',
      status: '0x200',
      timeout: '30',
      uevent: 'MAJOR=246\nMINOR=0\nDEVNAME=watchdog0',
    };
    for (const [name, text] of Object.entries({ ...recorded, ...facts })) this.write(`sys/class/watchdog/watchdog0/${name}`, `${text}\n`);
  }

  /**
   * A driver behind a pipe, as a process of its own: open arms it, a close disarms it where V was the last byte before it. Whatever is written stands in
   * `written`, one line for each time it was open.
   */
  runWatchdogDriver(how: { neverActive?: boolean; neverStops?: boolean; stopsAtClose?: boolean } = {}): void {
    mkdirSync(join(this.root, 'dev'), { recursive: true });
    if (spawnSync('mkfifo', [join(this.root, 'dev/watchdog0')]).status !== 0) throw new Error('mkfifo failed');
    this.write('written', '');
    const state = join(this.root, 'sys/class/watchdog/watchdog0/state');
    const program = `
      const fs = require('node:fs');
      for (;;) {
        const pipe = fs.openSync(${JSON.stringify(join(this.root, 'dev/watchdog0'))}, 'r');
        if (!${how.neverActive === true}) fs.writeFileSync(${JSON.stringify(state)}, 'active\\n');
        const byte = Buffer.alloc(1);
        let last = '';
        while (fs.readSync(pipe, byte) === 1) {
          last = byte.toString();
          fs.appendFileSync(${JSON.stringify(join(this.root, 'written'))}, last);
        }
        fs.closeSync(pipe);
        fs.appendFileSync(${JSON.stringify(join(this.root, 'written'))}, '\\n');
        if ((last === 'V' && !${how.neverStops === true}) || ${how.stopsAtClose === true}) fs.writeFileSync(${JSON.stringify(state)}, 'inactive\\n');
      }`;
    this.#children.push(spawn(process.execPath, ['-e', program], { stdio: 'inherit' }));
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.root, { recursive: true, force: true });
  }
}
