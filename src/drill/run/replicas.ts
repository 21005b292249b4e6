import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { ControllerEvent } from '../../laws/trace.ts';
import type { Child } from './child.ts';
import { CONTROLLER_USER } from './cluster-session.ts';
import type { ClusterSession } from './cluster-session.ts';
import { WORLD } from '../faults/names.ts';
import { pause } from './pause.ts';
import { drillProgram } from './process-host.ts';
import { programPath } from '../../testbed/shipped/program.ts';

/** Where every device of a drill is. */
const LOOPBACK = '127.0.0.0/8,::1';
const LAST_LINES = 5;
const LINE_CHARACTERS = 400;
const READY_TRIES = 300;
const READY_RETRY_MS = 100;
const ROLL_GRACE_MS = 10_000;
const READYZ_DEADLINE_MS = 2_000;

/** One process of the fence controller. Its successor is another one with another name, as in a Deployment. */
export interface Replica {
  name: string;
  child: Child;
}

/** A line of a controller's log, as far as the drill reads it. */
interface LogLine {
  message: string;
  identity?: string;
  epoch?: number;
  address?: string;
}

/** The fence controllers of one drill. One that ends is replaced after a while, until the drill is over. */
export class Replicas {
  readonly #session: ClusterSession;
  readonly #started: Replica[] = [];
  readonly #leaders = new Map<string, Replica>();
  readonly #tell: (line: string) => void;
  /** Further words of the command line. */
  #flags: readonly string[];
  /** Why a /readyz did not answer. */
  readonly #refusals = new Set<string>();
  #isOver = false;

  /** `tell` hears what an audience should know. */
  constructor(session: ClusterSession, tell: (line: string) => void, flags: readonly string[] = []) {
    this.#session = session;
    this.#flags = flags;
    this.#tell = tell;
  }

  /** Every replica that was ever started, the oldest first. */
  get all(): readonly Replica[] {
    return this.#started;
  }

  get running(): readonly Replica[] {
    return this.#started.filter(({ child }) => child.running);
  }

  async start(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await this.#startOne();
  }

  /** Who holds, or held, the Lease under this identity; undefined when that identity never led. */
  named(identity: string): Replica | undefined {
    const known = this.#leaders.get(identity);
    if (known !== undefined || identity === '') return known;
    const found = this.#started.find(({ child }) => linesOf(child).some((line) => line.message === 'became leader' && line.identity === identity));
    if (found !== undefined) this.#leaders.set(identity, found);
    return found;
  }

  /** Address of a replica's /readyz; undefined until it listens. */
  addressOf({ child }: Replica): string | undefined {
    return linesOf(child).find(({ message }) => message === 'starting')?.address;
  }

  /** Resolves when every replica serves and has synced. */
  async untilReady(): Promise<void> {
    for (let tries = 0; tries < READY_TRIES; tries += 1) {
      const answers = await Promise.all(this.running.map((replica) => this.readyz(replica)));
      if (answers.every((status) => status === 200)) return;
      await pause(READY_RETRY_MS);
    }
    throw new Error(`not every controller is ready after 30 s (${[...this.#refusals].join('; ')}):\n${this.lastLines()}`);
  }

  /** The end of every log, for an error. */
  lastLines(): string {
    return this.#started
      .map(
        ({ name, child }) =>
          `${name}: ${child
            .log()
            .trim()
            .split('\n')
            .slice(-LAST_LINES)
            .map((line) => line.slice(0, LINE_CHARACTERS))
            .join('\n')}`,
      )
      .join('\n');
  }

  /** HTTP status of its /readyz; undefined when there is no answer. */
  async readyz(replica: Replica): Promise<number | undefined> {
    const address = this.addressOf(replica);
    if (address === undefined) return undefined;
    try {
      return (await fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(READYZ_DEADLINE_MS) })).status;
    } catch (error) {
      this.#refusals.add(String(error));
      return undefined;
    }
  }

  /** Ends every replica in order, one after the other; those that come in their place are started with these words. */
  async roll(flags: readonly string[]): Promise<void> {
    const before = this.running;
    this.#flags = flags;
    for (const { child } of before) {
      await child.stop(ROLL_GRACE_MS);
      await pause(WORLD.controllerRestartMs + READY_RETRY_MS);
      await this.untilReady();
    }
  }

  kill(replica: Replica): void {
    this.#record(replica, 'crash');
    replica.child.signal('SIGKILL');
  }

  /** Stops a replica where it stands; the returned function lets it go on. */
  freeze(replica: Replica): () => void {
    this.#record(replica, 'pause');
    const thaw = replica.child.freeze();
    return () => {
      this.#record(replica, 'resume');
      thaw();
    };
  }

  /** Nobody is replaced any more, and everybody ends within `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#started.map(({ child }) => child.stop(graceMs)));
  }

  async #startOne(): Promise<void> {
    const session = this.#session;
    const name = `controller-${this.#started.length + 1}`;
    const hearing = session.kdump === undefined ? [] : ['--kdump-address', session.kdump.listensAt(this.#started.length + 1)];
    const own = [
      '--mode',
      'enforce',
      '--kubeconfig',
      session.kubeconfig(CONTROLLER_USER),
      '--programs',
      session.folder.programs,
      '--device-addresses',
      LOOPBACK,
    ];
    const flags = [...own, '--http-address', '127.0.0.1:0', ...hearing];
    const loaded = ['--import', pathToFileURL(drillProgram('ends-with-stdin')).href];
    const command = [process.execPath, ...loaded, programPath('main'), 'controller', ...flags, ...this.#flags, '--log-format', 'json'];
    const { child } = await session.processes.start(name, command, false, undefined, session.cloudOfMachines?.environment);
    const replica = { name, child };
    this.#started.push(replica);
    this.#record(replica, 'start');
    void child.end().then(() => this.#replace(replica));
  }

  async #replace({ name }: Replica): Promise<void> {
    if (this.#isOver) return;
    this.#tell(`${name} has ended; a new one comes`);
    await pause(WORLD.controllerRestartMs);
    // The drill may have ended meanwhile.
    if (!this.#stopped()) await this.#startOne();
  }

  #stopped(): boolean {
    return this.#isOver;
  }

  #record({ child }: Replica, what: ControllerEvent['what']): void {
    this.#session.record({ kind: 'controller', at: this.#session.now(), id: String(child.pid), what });
  }
}

/** Its log so far; the last line may be half written, and Node itself may have written others. */
function linesOf(child: Child): LogLine[] {
  const lines = readFileSync(child.logFile, 'utf8').split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
}
