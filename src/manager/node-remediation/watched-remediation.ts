import type { WatchedKind } from '../../controllers/node-remediation/dependencies.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import type { RemediationKind } from '../../ports/remediation.ts';
import type { ServedPart } from '../served-part.ts';

export interface WatchedRemediationParts {
  clock: Clock;
  log: Logger;
  /** The kinds that are installed. */
  read: () => Promise<RemediationKind[]>;
  watch: (kind: RemediationKind) => { kind: WatchedKind; reflectors: readonly Reflector<KubeObject>[] };
  run: (kinds: readonly WatchedKind[]) => ServedPart;
}

interface Part {
  names: string;
  running: ServedPart;
  reflectors: readonly Reflector<KubeObject>[];
}

/** So often it is looked whether requests can be made at all. */
const LOOK_MS = 60_000;
const RETRY_MS = 10_000;

/** Remediation as long as its kinds are installed; before that it costs a look a minute. */
export class WatchedRemediation {
  readonly #parts: WatchedRemediationParts;
  #part: Part | undefined;
  #cancel: () => void = () => undefined;
  #looking: Promise<void> = Promise.resolve();
  #leaving: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: WatchedRemediationParts) {
    this.#parts = parts;
  }

  /** Of the requests and templates, once they are synced: what may not be read makes nobody unready. */
  get reflectors(): readonly Reflector<KubeObject>[] {
    return (this.#part?.reflectors ?? []).filter(({ lister }) => lister.synced);
  }

  start(): void {
    this.#looking = this.#look();
  }

  /** Leadership has come. */
  wake(): void {
    this.#part?.running.wake();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#looking;
    this.#end();
    await this.#leaving;
  }

  async #look(): Promise<void> {
    const { clock, log, read } = this.#parts;
    let nextMs = LOOK_MS;
    try {
      const kinds = await read();
      if (!this.#isClosed) this.#take(kinds);
    } catch (error) {
      nextMs = RETRY_MS;
      log.debug('it is not known which requests for remediation are installed', { error });
    }
    if (this.#isClosed) return;
    this.#cancel = clock.after(nextMs, () => {
      this.#looking = this.#look();
    });
  }

  #take(kinds: readonly RemediationKind[]): void {
    const names = kinds.map(({ requests }) => `${requests.plural}.${requests.group}`).join(', ');
    if ((this.#part?.names ?? '') === names) return;
    this.#end();
    this.#parts.log.info('requests for remediation', { kinds: names === '' ? 'none are installed' : names });
    if (kinds.length === 0) return;
    const watched = kinds.map((kind) => this.#parts.watch(kind));
    const reflectors = watched.flatMap((each) => each.reflectors);
    const running = this.#parts.run(watched.map(({ kind }) => kind));
    this.#part = { names, running, reflectors };
    running.start();
    for (const reflector of reflectors) reflector.start();
  }

  #end(): void {
    const part = this.#part;
    if (part === undefined) return;
    this.#part = undefined;
    for (const reflector of part.reflectors) reflector.close();
    this.#leaving = Promise.all([this.#leaving, part.running.close()]);
  }
}
