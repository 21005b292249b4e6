import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import { NO_METRICS } from '../../ports/metrics.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { LeaderElector, type LeaderElectorOptions } from '../leader-elector.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

type Fault = 'refuse' | 'lose-answer' | 'hang' | 'too-many';

/** One Lease behind compare-and-swap. `fault` says how the next calls go wrong. */
export class LeaseServer implements Pick<Cluster, 'get' | 'create' | 'replace'> {
  /** Given back by an earlier leader. */
  lease: Lease | undefined = { metadata: { name: 'leader', namespace: 'ns', uid: 'u0', resourceVersion: '0' }, spec: { holderIdentity: '' } };
  fault: Fault | undefined;
  writes = 0;
  #version = 0;

  async get<T extends KubeObject>(): Promise<T | undefined> {
    await this.#misbehave();
    return structuredClone(this.lease) as unknown as T | undefined;
  }

  async create<T extends KubeObject>(_resource: Resource<T>, object: T): Promise<T> {
    return this.#store(object, () => this.lease === undefined, 'AlreadyExists');
  }

  async replace<T extends KubeObject>(_resource: Resource<T>, object: T): Promise<T> {
    if (this.lease === undefined && this.fault === undefined) {
      throw new ApiStatusError(404, 'NotFound', 'no such lease');
    }
    return this.#store(object, () => object.metadata.resourceVersion === this.lease?.metadata.resourceVersion, 'Conflict');
  }

  /** A write by somebody else. */
  set(spec: Lease['spec'] | undefined, annotations: Record<string, string> = {}): void {
    const metadata = { name: 'leader', namespace: 'ns', uid: this.lease?.metadata.uid ?? 'u0', annotations };
    this.lease = spec === undefined ? undefined : { metadata: { ...metadata, resourceVersion: String(++this.#version) }, spec };
  }

  backup(): { lease: Lease | undefined; version: number } {
    return { lease: structuredClone(this.lease), version: this.#version };
  }

  /** As etcd does: versions are given a second time. */
  restore({ lease, version }: ReturnType<LeaseServer['backup']>): void {
    [this.lease, this.#version] = [structuredClone(lease), version];
  }

  async #store<T extends KubeObject>(object: T, isFine: () => boolean, reason: string): Promise<T> {
    this.writes += 1;
    if (this.fault !== 'lose-answer') {
      await this.#misbehave();
    }
    if (!isFine()) {
      throw new ApiStatusError(409, reason, reason);
    }
    const metadata = { ...object.metadata, uid: object.metadata.uid ?? 'u0', resourceVersion: String(++this.#version) };
    this.lease = structuredClone({ ...object, metadata }) as unknown as Lease;
    await this.#misbehave();
    return structuredClone({ ...object, metadata });
  }

  async #misbehave(): Promise<void> {
    if (this.fault === 'hang') {
      await new Promise<never>(() => undefined);
    }
    if (this.fault === 'too-many') {
      throw new ApiStatusError(429, 'TooManyRequests', 'later');
    }
    if (this.fault !== undefined) {
      throw new TransportError('unreachable', 'no answer');
    }
  }
}

/** Electors for one Lease, on one clock. */
export class ElectorHarness {
  readonly clock = new ManualClock({ monotonicMs: 1_000_000 });
  readonly server = new LeaseServer();
  readonly log: string[] = [];
  /** What earlier leaders have written. */
  records: { highestEpoch: number | Error } = { highestEpoch: 0 };
  #count = 0;

  build(name: string, options: Partial<LeaderElectorOptions> = {}): LeaderElector {
    const elector = new LeaderElector({
      cluster: this.server,
      clock: this.clock,
      random: { next: () => 0, uuid: () => `uuid${String(++this.#count)}` },
      logger: SILENT,
      metrics: NO_METRICS.lease,
      namespace: 'ns',
      name: 'leader',
      identity: name,
      records: {
        highestEpoch: () => {
          const { highestEpoch } = this.records;
          return highestEpoch instanceof Error ? Promise.reject(highestEpoch) : Promise.resolve(highestEpoch);
        },
      },
      onAcquired: (epoch) => this.log.push(`${name} acquired ${String(epoch)}`),
      onLost: (reason) => this.log.push(`${name} lost: ${reason}`),
      ...options,
    });
    elector.start();
    return elector;
  }
}

/** A Lease that somebody else holds. */
export function held(renewTime: string, seconds = 15): Lease['spec'] {
  return { holderIdentity: 'other', leaseDurationSeconds: seconds, renewTime, acquireTime: 'then', leaseTransitions: 7 };
}
