import { Child } from './child.ts';
import type { DrillFolder } from './drill-folder.ts';
import { programPath } from '../../testbed/shipped/program.ts';

/** A dozen processes start at once, and on a busy computer several drills. */
const READY_DEADLINE_MS = 90_000;
const STOP_GRACE_MS = 2_000;

export type Ready = Readonly<Record<string, unknown>>;

/** The processes of one drill. They write into its folder and end with it. */
export class ProcessHost {
  readonly folder: DrillFolder;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #children: Child[] = [];

  /** `environment` is added to that of every process. */
  constructor(folder: DrillFolder, environment: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#environment = environment;
  }

  /** Starts any program; one that says `ready` is waited for. */
  async start(
    name: string,
    command: readonly string[],
    ready: boolean,
    readyDeadlineMs = READY_DEADLINE_MS,
    overrides: Readonly<Record<string, string>> = {},
  ): Promise<{ child: Child; ready: Ready }> {
    const logFile = this.folder.log(name);
    const started = await Child.start({ name, command, logFile, ready, readyDeadlineMs, environment: this.#environment, overrides });
    this.#children.unshift(started.child);
    return started;
  }

  /** Starts `src/testbed/processes/<program>`, its configuration in a file of its own, and waits until it is ready. */
  program(program: string, name: string, configuration: object, readyDeadlineMs?: number): Promise<{ child: Child; ready: Ready }> {
    return this.start(name, [process.execPath, drillProgram(program), this.folder.write(`${name}.json`, configuration)], true, readyDeadlineMs);
  }

  /** Those that run now. */
  get running(): readonly { name: string; child: Child }[] {
    return this.#children.filter(({ running }) => running).map((child) => ({ name: child.name, child }));
  }

  /** Ends every process. */
  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop(STOP_GRACE_MS)));
  }
}

/** Path of a program of `src/testbed/processes`. */
export function drillProgram(name: string): string {
  return programPath(`testbed/processes/${name}`);
}
