import { backOffMs } from '../../domain/back-off.ts';
import { CONTROLLERS_TOLD, parseControllers } from '../../domain/node-daemon/controllers.ts';
import type { ControllersTold } from '../../domain/node-daemon/controllers.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { DaemonLog, KnownOthers } from '../../ports/node-daemon.ts';
import { CONFIG_MAPS } from '../../ports/resources.ts';

const AGAIN_MS = 60_000;
/** After a failure, and twice as long after each that follows, up to what a look that succeeds is followed by: thousands of nodes may ask. */
const RETRY_MS = 5_000;
/** When grants ceased, the controllers may be elsewhere since: looked for sooner, but not for ever, for thousands of nodes would ask. */
const CEASED_AGAIN_MS = 10_000;
const CEASED_FOR_MS = 120_000;

/** Reads where the controllers are, and by which keys they are known, from their ConfigMap. */
export class ControllersReader {
  readonly #ports: { clock: Clock; cluster: Pick<Cluster, 'get'>; log: DaemonLog };
  readonly #namespace: string;
  readonly #changed: () => void;
  readonly #grantedUntilMs: () => number;
  /** When it was last tried, and how often in a row in vain. */
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #known: ControllersTold = { publicKeys: [], addresses: [], times: {} };
  #hasTried = false;
  #problem: string | undefined;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  /** `grantedUntilMs`: the end of the last grant, on the running clock. */
  constructor(
    ports: { clock: Clock; cluster: Pick<Cluster, 'get'>; log: DaemonLog },
    namespace: string,
    hooks: { changed: () => void; grantedUntilMs: () => number },
  ) {
    this.#ports = ports;
    this.#namespace = namespace;
    this.#changed = hooks.changed;
    this.#grantedUntilMs = hooks.grantedUntilMs;
  }

  get known(): ControllersTold {
    return this.#known;
  }

  /** They were asked for, whatever came of it. */
  get hasTried(): boolean {
    return this.#hasTried;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** What an earlier process knew, until the API server answers. */
  knew({ controllerKeys, controllerAddresses, times = {} }: KnownOthers): void {
    this.#known = { publicKeys: [...controllerKeys], addresses: [...controllerAddresses], times };
  }

  start(): void {
    const { clock } = this.#ports;
    void (this.#isDue(clock.monotonicMs()) ? this.#read() : Promise.resolve()).then(() => {
      if (!this.#isClosed) this.#cancel = clock.after(RETRY_MS, () => this.start());
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #isDue(nowMs: number): boolean {
    const ceasedForMs = nowMs - this.#grantedUntilMs();
    const againMs = ceasedForMs > 0 && ceasedForMs < CEASED_FOR_MS ? CEASED_AGAIN_MS : AGAIN_MS;
    return nowMs - this.#triedAtMs >= (this.#failures === 0 ? againMs : backOffMs(this.#failures, RETRY_MS, againMs));
  }

  /** Never rejects; what was known stays where nothing better is. */
  async #read(): Promise<void> {
    const namespace = this.#namespace;
    this.#triedAtMs = this.#ports.clock.monotonicMs();
    try {
      const found = await this.#ports.cluster.get(CONFIG_MAPS, CONTROLLERS_TOLD, namespace);
      const told = parseControllers(found?.data);
      if (told === undefined) throw new Error(`ConfigMap ${namespace}/${CONTROLLERS_TOLD} names none: run the controllers with --node-daemons`);
      this.#known = told;
      this.#problem = undefined;
      this.#failures = 0;
      this.#changed();
    } catch (error) {
      this.#failures += 1;
      const problem = `the controllers cannot be looked up: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== this.#problem) this.#ports.log.warn('the controllers cannot be looked up', { error: problem });
      this.#problem = problem;
    } finally {
      this.#hasTried = true;
    }
  }
}
