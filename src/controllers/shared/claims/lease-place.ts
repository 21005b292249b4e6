import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Logger } from '../../../ports/recorder.ts';
import { LEASES, NAMESPACES } from '../../../ports/resources.ts';

export type LeasePlaceState = 'unknown' | 'absent' | 'readable' | 'unreadable';

export interface LeasePlaceOptions {
  cluster: Pick<Cluster, 'get'>;
  clock: Clock;
  log: Pick<Logger, 'info' | 'debug'>;
  namespace: string;
}

/** A namespace that appears later is found within this. */
const LOOK_MS = 10_000;
/** An API server that comes up denies everything until its roles are loaded; one that denies for longer means it. */
const BEARABLE_MS = 30_000;
/** Of no node: whether Leases may be read there at all. */
const SAMPLE = 'nodefence-self-check';

/**
 * Whether there are node leases to be honoured, and whether this account may read them. Where there is the namespace and no right, nobody knows whose the nodes
 * are: then nothing may begin.
 */
export class LeasePlace {
  readonly #options: LeasePlaceOptions;
  readonly #told = new Set<(state: LeasePlaceState) => void>();
  #state: LeasePlaceState = 'unknown';
  #cancel: (() => void) | undefined;
  #isClosed = false;
  #deniedSinceMs: number | undefined;

  constructor(options: LeasePlaceOptions) {
    this.#options = options;
  }

  get state(): LeasePlaceState {
    return this.#state;
  }

  get namespace(): string {
    return this.#options.namespace;
  }

  /** Why nothing may begin; undefined: nothing is known against it. */
  get refusal(): string | undefined {
    if (this.#state !== 'unreadable') return undefined;
    const { namespace } = this.#options;
    return `namespace ${namespace} is there, and the controller may not read its Leases, which say whose a node is: kubectl apply -k config/medik8s`;
  }

  onChange(told: (state: LeasePlaceState) => void): void {
    this.#told.add(told);
  }

  /** Looks now, and again until the Leases can be read. */
  start(): void {
    if (this.#isClosed) return;
    const again = (): void => {
      if (!this.#isClosed && this.#state !== 'readable') this.#cancel = this.#options.clock.after(LOOK_MS, () => this.start());
    };
    this.look().then(again, (error: unknown) => {
      this.#options.log.debug('whether there are node leases is not known yet; asked again', { error: String(error) });
      again();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  /** Asks the API server. Rejects when it could not be asked, or denies for a moment what it has told before. */
  async look(): Promise<LeasePlaceState> {
    const { cluster, namespace, log } = this.#options;
    const isThere = await unlessDenied(async () => (await cluster.get(NAMESPACES, namespace)) !== undefined);
    const mayRead = isThere !== false && (await unlessDenied(() => cluster.get(LEASES, SAMPLE, namespace).then(() => true))) === true;
    this.#bear(isThere === 'denied' && !mayRead);
    const state = isThere === false ? 'absent' : mayRead ? 'readable' : 'unreadable';
    if (state !== this.#state) {
      this.#state = state;
      log.info('node leases', { namespace, state });
      for (const tell of this.#told) tell(state);
    }
    return state;
  }

  /** What was known stands while the API server comes up: nothing is held for it, and nothing that asks begins. */
  #bear(isDenied: boolean): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#deniedSinceMs = isDenied ? (this.#deniedSinceMs ?? nowMs) : undefined;
    if (this.#deniedSinceMs === undefined || this.#state === 'unknown' || this.#state === 'unreadable') return;
    if (nowMs - this.#deniedSinceMs < BEARABLE_MS)
      throw new ApiStatusError(403, 'Forbidden', `namespace ${this.#options.namespace} may not be read just now`);
  }
}

async function unlessDenied(ask: () => Promise<boolean>): Promise<boolean | 'denied'> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiStatusError && (error.status === 401 || error.status === 403)) return 'denied';
    throw error;
  }
}
