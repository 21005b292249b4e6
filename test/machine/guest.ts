import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../src/drill/run/pause.ts';
import type { BaseImage } from './image.ts';
import { JsonSocket } from './json-socket.ts';

const AGENT_MS = 5_000;
const LOOK_MS = 250;
const QUIT_MS = 5_000;
const MEMORY_MIB = 1_024;

/** What QEMU says, which the guest cannot. */
export interface MachineEvent {
  name: string;
  atMs: number;
  data: Readonly<Record<string, unknown>>;
}

export interface Said {
  code: number;
  out: string;
  err: string;
}

export interface GuestOptions {
  base: BaseImage;
  packageDisk: string;
  /** Folder for its sockets and logs. */
  work: string;
  tap: string;
}

/** A machine in QEMU, by software alone: one processor, a hardware watchdog (Intel 6300ESB), a network card, two serial lines. */
export class Guest {
  readonly events: MachineEvent[] = [];
  readonly #options: GuestOptions;
  readonly #qemu: ChildProcess;
  #qmp: JsonSocket | undefined;
  #agent: JsonSocket | undefined;

  private constructor(options: GuestOptions, qemu: ChildProcess) {
    this.#options = options;
    this.#qemu = qemu;
  }

  static async start(options: GuestOptions): Promise<Guest> {
    const log = openSync(join(options.work, 'qemu.log'), 'a');
    const qemu = spawn('nice', ['-n', '10', 'qemu-system-x86_64', ...words(options)], { stdio: ['ignore', log, log] });
    closeSync(log);
    const guest = new Guest(options, qemu);
    try {
      guest.#qmp = await JsonSocket.connect(join(options.work, 'qmp'), (event) => guest.#hear(event));
      guest.#agent = await JsonSocket.connect(join(options.work, 'agent'), () => undefined);
      await guest.#command('qmp_capabilities');
    } catch (error) {
      await guest.close();
      throw new Error(`QEMU does not run: ${readFileSync(join(options.work, 'qemu.log'), 'utf8').slice(-1_000)}`, { cause: error });
    }
    return guest;
  }

  /** The end of its console, for an error. */
  get lastWords(): string {
    return this.console.trim().split('\n').slice(-25).join('\n');
  }

  get console(): string {
    const path = join(this.#options.work, 'console.log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** What its container has written so far, and when the last of it came. */
  get counter(): { bytes: number; atMs: number } {
    const { size, mtimeMs } = statSync(join(this.#options.work, 'counter.log'));
    return { bytes: size, atMs: mtimeMs };
  }

  /** Of this name, since then. */
  eventsOf(name: string, sinceMs: number): MachineEvent[] {
    return this.events.filter((event) => event.name === name && event.atMs >= sinceMs);
  }

  /** Its cable is plugged in, or not. */
  async setLink(isUp: boolean): Promise<void> {
    await this.#command('set_link', { name: 'wire', up: isUp });
  }

  /** A command of a shell in the guest, by its guest agent, which needs no network. Undefined: it did not answer in time. */
  async run(script: string, withinMs: number, input = ''): Promise<Said | undefined> {
    const endsAtMs = performance.now() + withinMs;
    const started = await this.#ask('guest-exec', {
      path: '/bin/sh',
      arg: ['-c', script],
      'capture-output': true,
      ...(input === '' ? {} : { 'input-data': Buffer.from(input).toString('base64') }),
    });
    if (started === undefined) return undefined;
    const { pid } = started as { pid: number };
    while (performance.now() < endsAtMs) {
      const status = (await this.#ask('guest-exec-status', { pid })) as Readonly<Record<string, unknown>> | undefined;
      if (status?.['exited'] === true)
        return { code: Number(status['exitcode'] ?? -1), out: text(status['out-data']), err: text(status['err-data']) };
      await pause(LOOK_MS);
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#agent?.close();
    await this.#qmp?.ask({ execute: 'quit' }, QUIT_MS);
    this.#qmp?.close();
    if (this.#qemu.exitCode !== null || this.#qemu.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.#qemu.once('exit', () => resolve()));
    const timer = setTimeout(() => this.#qemu.kill('SIGKILL'), QUIT_MS);
    await ended;
    clearTimeout(timer);
  }

  async #ask(command: string, parameters: object): Promise<unknown> {
    const answer = await this.#agent?.ask({ execute: command, arguments: parameters }, AGENT_MS);
    return answer?.['return'];
  }

  async #command(command: string, parameters: object = {}): Promise<void> {
    const answer = await this.#qmp?.ask({ execute: command, arguments: parameters }, AGENT_MS);
    if (answer?.['return'] === undefined) throw new Error(`QEMU refuses ${command}: ${JSON.stringify(answer)}`);
  }

  #hear(heard: Readonly<Record<string, unknown>>): void {
    if (typeof heard['event'] !== 'string') return;
    const { seconds, microseconds } = heard['timestamp'] as { seconds: number; microseconds: number };
    this.events.push({ name: heard['event'], atMs: seconds * 1_000 + microseconds / 1_000, data: (heard['data'] ?? {}) as MachineEvent['data'] });
  }
}

function text(base64: unknown): string {
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString() : '';
}

function words({ base, packageDisk, work, tap }: GuestOptions): string[] {
  const drive = (path: string): string[] => ['-drive', `file=${path},format=raw,if=virtio,snapshot=on,cache=unsafe`];
  const socket = (id: string): string[] => ['-chardev', `socket,id=${id},path=${join(work, id)},server=on,wait=off`];
  return [
    // What a virtual machine says of itself is left out: this one is never paused, and the daemon is to take it for the bare machine that it plays.
    ...['-accel', 'tcg', '-cpu', 'max,-hypervisor', '-smp', '1', '-m', String(MEMORY_MIB), '-nodefaults', '-no-user-config', '-display', 'none'],
    ...['-smbios', 'type=1,manufacturer=Test,product=Machine,uuid=6a1f3f3c-2d7b-4f0e-9a51-0c7d5d1f0a11'],
    ...['-kernel', base.kernel, '-initrd', base.initrd, '-append', 'root=/dev/vda rw console=ttyS0 panic=-1 mitigations=off'],
    ...drive(base.disk),
    ...drive(packageDisk),
    ...['-netdev', `tap,id=net,ifname=${tap},script=no,downscript=no`, '-device', 'virtio-net-pci,netdev=net,id=wire,romfile='],
    ...['-device', 'i6300esb', '-action', 'watchdog=reset', '-device', 'virtio-rng-pci'],
    ...['-serial', `file:${join(work, 'console.log')}`, '-serial', `file:${join(work, 'counter.log')}`],
    ...[...socket('agent'), '-device', 'virtio-serial-pci', '-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ...['-qmp', `unix:${join(work, 'qmp')},server=on,wait=off`],
  ];
}
