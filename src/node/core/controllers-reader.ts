import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { DaemonLog, KnownOthers } from '../../ports/node-daemon.ts';
import { CONFIG_MAPS } from '../../ports/resources.ts';

export interface Controllers {
  /** X25519 public keys, the current one first. */
  keys: readonly string[];
  addresses: readonly string[];
}

const AGAIN_MS = 60_000;
const RETRY_MS = 5_000;
/** More replicas than anybody runs. */
const ADDRESSES_MAX = 16;
const KEYS_MAX = 4;

/** Reads where the controllers are, and by which keys they are known, from their ConfigMap: keys `public-keys` and `addresses`, one a line. */
export class ControllersReader {
  readonly #ports: { clock: Clock; cluster: Pick<Cluster, 'get'>; log: DaemonLog };
  readonly #place: { namespace: string; name: string };
  readonly #changed: () => void;
  #known: Controllers = { keys: [], addresses: [] };
  #problem: string | undefined;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(
    ports: { clock: Clock; cluster: Pick<Cluster, 'get'>; log: DaemonLog },
    place: { namespace: string; name: string },
    changed: () => void,
  ) {
    this.#ports = ports;
    this.#place = place;
    this.#changed = changed;
  }

  get known(): Controllers {
    return this.#known;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** What an earlier process knew, until the API server answers. */
  knew({ controllerKeys, controllerAddresses }: KnownOthers): void {
    this.#known = { keys: controllerKeys, addresses: controllerAddresses };
  }

  start(): void {
    void this.#read().then((isRead) => {
      if (!this.#isClosed) this.#cancel = this.#ports.clock.after(isRead ? AGAIN_MS : RETRY_MS, () => this.start());
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Never rejects; what was known stays where nothing better is. */
  async #read(): Promise<boolean> {
    const { namespace, name } = this.#place;
    try {
      const found = await this.#ports.cluster.get(CONFIG_MAPS, name, namespace);
      const keys = linesOf(found?.data?.['public-keys']).slice(0, KEYS_MAX);
      const addresses = linesOf(found?.data?.['addresses']).slice(0, ADDRESSES_MAX);
      if (keys.length === 0 || addresses.length === 0)
        throw new Error(`ConfigMap ${namespace}/${name} names no controller yet: is the controller run with --node-daemons?`);
      this.#known = { keys, addresses };
      this.#problem = undefined;
      this.#changed();
      return true;
    } catch (error) {
      const problem = `the controllers cannot be looked up: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== this.#problem) this.#ports.log.warn('the controllers cannot be looked up', { error: problem });
      this.#problem = problem;
      return false;
    }
  }
}

function linesOf(text: string | undefined): string[] {
  return (text ?? '').split(/\s+/).filter((line) => line !== '');
}
