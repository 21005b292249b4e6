import { readdirSync, readFileSync } from 'node:fs';

/** Programs that a controller starts live for moments. */
const EVERY_MS = 100;
const FETCH_DEADLINE_MS = 5_000;
/** What an open page of the controller may tell to whoever asks. */
const PAGES = ['metrics', 'readyz', 'healthz'];

export interface Observed {
  name: string;
  child: { pid: number };
}

/**
 * What the controllers, and the programs that they start, show of themselves to whoever looks while a drill runs: command lines and environments by /proc,
 * and the pages that they serve.
 */
export class Exposure {
  /** By what it is. One process may show several: a fork is its parent until it is another program. */
  readonly texts: Record<string, string> = {};
  readonly #processes = new Set<number>();
  /** Whose dump would hold memory, if one were made. */
  readonly dumps = new Set<string>();
  readonly #running: () => readonly Observed[];
  #timer: NodeJS.Timeout | undefined;

  constructor(running: () => readonly Observed[]) {
    this.#running = running;
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), EVERY_MS);
    this.#timer.unref();
  }

  /** Looks for the last time. */
  end(): void {
    clearInterval(this.#timer);
    this.look();
  }

  /** Processes that were looked at, the controllers among them. */
  get processes(): number {
    return this.#processes.size;
  }

  look(): void {
    for (const { name, child } of this.#running()) {
      this.#see(name, child.pid);
      for (const pid of descendantsOf(child.pid)) this.#see(`process ${pid} of ${name}`, pid);
    }
  }

  /** The pages of one controller; one that does not answer shows nothing. */
  async readPages(name: string, address: string): Promise<void> {
    for (const page of PAGES) {
      try {
        const answer = await fetch(`http://${address}/${page}`, { signal: AbortSignal.timeout(FETCH_DEADLINE_MS) });
        this.texts[`${page} of ${name}`] = await answer.text();
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        this.texts[`${page} of ${name}`] = error.message;
      }
    }
  }

  #see(name: string, pid: number): void {
    const [line, environment] = [procFile(pid, 'cmdline'), procFile(pid, 'environ')];
    // Gone, or about to go.
    if (line === '') return;
    this.#processes.add(pid);
    this.#keep(`command line of ${name}`, line);
    this.#keep(`environment of ${name}`, environment);
    const filter = procFile(pid, 'coredump_filter').trim();
    if (filter === '' || /^0+$/.test(filter)) this.dumps.delete(name);
    else this.dumps.add(name);
  }

  #keep(what: string, text: string): void {
    const before = this.texts[what];
    if (before === undefined) this.texts[what] = text;
    else if (!before.split('\n').includes(text)) this.texts[what] = `${before}\n${text}`;
  }
}

function descendantsOf(pid: number): number[] {
  const children = tasksOf(pid).flatMap((task) => procFile(pid, `task/${task}/children`).split(' ').filter(Boolean).map(Number));
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** Empty when the process is gone. */
function procFile(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (isGone(error)) return '';
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}
