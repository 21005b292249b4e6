import { PROMISES_MAX } from '../../ports/node-daemon.ts';
import type { DaemonLog, PromiseStore } from '../../ports/node-daemon.ts';

/** Boots of other nodes that this one never vouches for again. A promise counts once it is on the disk, and is given only then. */
export class Promises {
  readonly #store: PromiseStore;
  readonly #log: DaemonLog;
  /** Node by boot ID. Undefined: what was promised is not known, so nobody is vouched for. */
  #promised: Map<string, string> | undefined;
  #problem: string | undefined;

  constructor(store: PromiseStore, log: DaemonLog) {
    this.#store = store;
    this.#log = log;
  }

  async restore(): Promise<void> {
    try {
      this.#promised = new Map(await this.#store.read());
    } catch (error) {
      this.#problem = `the promises of earlier boots cannot be read, so no node is vouched for: ${String(error)}`;
      this.#log.error('the promises of earlier boots cannot be read, so no node is vouched for', { error: String(error) });
    }
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  mayVouchFor(bootID: string): boolean {
    return this.#promised !== undefined && !this.#promised.has(bootID);
  }

  /** Resolves when the promise is on the disk. From the call on nothing is vouched for, whether it comes there or not. */
  async promise(node: string, bootID: string): Promise<boolean> {
    const promised = this.#promised;
    if (promised === undefined) return false;
    promised.set(bootID, node);
    const [oldest] = promised.keys();
    if (promised.size > PROMISES_MAX && oldest !== undefined) promised.delete(oldest);
    try {
      await this.#store.write(new Map(promised));
      this.#problem = undefined;
      return true;
    } catch (error) {
      this.#problem = `a promise cannot be written: ${String(error)}`;
      this.#log.error('a promise cannot be written', { node, error: String(error) });
      return false;
    }
  }
}
