import type { Reflector } from '../kube/reflector.ts';
import { Workqueue } from '../kube/workqueue.ts';
import type { WorkResult } from '../kube/workqueue.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';
import { Detector } from './detection/detector.ts';

/** A controller as the manager handles it. */
export interface Controller {
  /** Follows its listers from now on, whether they are synced or not. */
  start(): void;
  /** Looks at everything: leadership has come. */
  wake(): void;
  /** What keeps it from its work, one sentence each. */
  problems(): string[];
  /** Begins nothing more; resolves when nothing is under way. */
  close(): Promise<void>;
}

/** A controller with watches of its own. */
export interface Built<C extends Controller = Controller> {
  controller: C;
  reflectors: readonly Reflector<KubeObject>[];
}

/** A controller beside the one that fences, and when it runs. */
export interface ControllerSetup<F, K, C extends Controller = Controller> {
  /** What `find` finds out, for the log: `who owns health checks`. */
  question: string;
  /** Which of its kinds are served, and who else may serve them. Rejects when the API server does not answer. */
  find: () => Promise<F>;
  /** Tells `run` what is to run from now on, and returns after how long it is to be found out anew. */
  gate: (found: F, run: (wanted: readonly K[]) => void) => number;
  /** One controller over these kinds; nothing of it is started yet. */
  build: (kinds: K) => Built<C>;
}

/** Keys worked on at the same time. */
const CONCURRENCY = 16;
const CLOSE_DEADLINE_MS = 5_000;

/** A controller for as long as its kinds are served and are ours: ended, or built anew, where that changes. */
export class GatedController<F, K, C extends Controller = Controller> {
  readonly #log: ControllerPorts['logger'];
  readonly #setup: ControllerSetup<F, K, C>;
  readonly #detector: Detector<F>;
  /** By all that it was built from. */
  readonly #running = new Map<string, Built<C>>();
  #ending: Promise<unknown> = Promise.resolve();

  constructor(
    { clock, logger: log }: Pick<ControllerPorts, 'clock' | 'logger'>,
    { detectionRestMs: leastRestMs }: Pick<ControllerOptions, 'detectionRestMs'>,
    setup: ControllerSetup<F, K, C>,
  ) {
    this.#log = log;
    this.#setup = setup;
    const { question, find: read } = setup;
    const judge = (found: F): number => setup.gate(found, (wanted) => this.run(wanted));
    this.#detector = new Detector({ clock, log, question, read, judge, leastRestMs });
  }

  /** All of those that run. */
  get watches(): readonly Reflector<KubeObject>[] {
    return [...this.#running.values()].flatMap(({ reflectors }) => reflectors);
  }

  /** Those that are synced: what may not be read makes nobody unready. */
  get reflectors(): readonly Reflector<KubeObject>[] {
    return this.watches.filter(({ lister }) => lister.synced);
  }

  get controllers(): readonly C[] {
    return [...this.#running.values()].map(({ controller }) => controller);
  }

  /** Called when the Nodes are synced. */
  start(): void {
    this.#detector.start();
  }

  /** Leadership has come. */
  wake(): void {
    for (const controller of this.controllers) controller.wake();
  }

  problems(): string[] {
    return this.controllers.flatMap((controller) => controller.problems());
  }

  async close(): Promise<void> {
    const detecting = this.#detector.close();
    // Not behind a look that waits for an API server: whoever is to stop writes nothing more.
    this.run([]);
    await Promise.all([detecting, this.#ending]);
  }

  /** Exactly these run from now on; what runs already goes on. */
  run(wanted: readonly K[]): void {
    const kinds = new Map(wanted.map((each) => [JSON.stringify(each), each]));
    for (const [key, running] of [...this.#running]) {
      if (kinds.has(key)) continue;
      this.#running.delete(key);
      this.#end(running);
    }
    for (const [key, each] of kinds) {
      if (this.#running.has(key)) continue;
      const running = this.#setup.build(each);
      this.#running.set(key, running);
      // As handlers stand before an informer is started: whoever listens from before the first list has seen all that there is.
      running.controller.start();
      for (const reflector of running.reflectors) reflector.start();
    }
  }

  /** It stops to write before it stops to hear. */
  #end({ controller, reflectors }: Built<C>): void {
    const closing = controller.close().catch((error: unknown) => {
      this.#log.warn('controller ended with an error', { error: String(error) });
    });
    this.#ending = Promise.all([this.#ending, closing]);
    for (const reflector of reflectors) reflector.close();
  }
}

/** What works on the keys of a queue. */
interface Reconciler extends Omit<Controller, 'close'> {
  reconcile(key: string): Promise<WorkResult | undefined>;
  /** What is decided and not sent by now is not sent. */
  close(): void;
}

/** The queue, which is made first, and the controller that fills it and works on it. */
export function overQueue(
  { clock, random, logger, metrics }: ControllerPorts,
  name: string,
  make: (queue: Pick<Workqueue, 'add'>) => Reconciler,
): Controller {
  const handler = (key: string): Promise<WorkResult | undefined> => reconciler.reconcile(key);
  const queue = new Workqueue({ name, clock, random, logger, metrics: metrics.workqueue, concurrency: CONCURRENCY, handler });
  const reconciler: Reconciler = make(queue);
  return {
    start: () => reconciler.start(),
    wake: () => reconciler.wake(),
    problems: () => reconciler.problems(),
    close: async () => {
      reconciler.close();
      await queue.close(CLOSE_DEADLINE_MS);
    },
  };
}
