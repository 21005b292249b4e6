import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Logger } from '../../ports/recorder.ts';
import { annotateLease } from '../shared/annotated-lease.ts';
import type { NodeDaemonOptions } from './dependencies.ts';
import { ANNOUNCE_MS } from './replica-addresses.ts';
import type { ReplicaAddresses } from './replica-addresses.ts';

export interface AnnouncementParts {
  clock: Clock;
  log: Logger;
  cluster: Pick<Cluster, 'create' | 'mergePatch'>;
  replicas: Pick<ReplicaAddresses, 'announcement' | 'farewell'>;
  options: Pick<NodeDaemonOptions, 'namespace' | 'replicasLease'>;
}

/** Every replica says where it receives, leader or not: whoever follows knows the nodes before it leads. */
export class Announcements {
  readonly #parts: AnnouncementParts;
  #cancel: () => void = () => undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: AnnouncementParts) {
    this.#parts = parts;
  }

  start(): void {
    const { clock, replicas } = this.#parts;
    this.#writing = this.#write(replicas.announcement(clock.monotonicMs())).then(() => {
      if (!this.#isClosed) this.#cancel = clock.after(ANNOUNCE_MS, () => this.start());
    });
  }

  /** Nobody shall ask a process that ends. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#writing;
    await this.#write(this.#parts.replicas.farewell());
  }

  async #write(annotations: Record<string, string | null>): Promise<void> {
    const { cluster, log, options } = this.#parts;
    const { namespace, replicasLease: name } = options;
    try {
      await annotateLease(cluster, { namespace, name }, annotations);
    } catch (error) {
      log.debug('address for node daemons not announced; retried later', { error });
    }
  }
}
