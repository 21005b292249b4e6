import { validEvidence } from '../../../domain/evidence.ts';
import { operationOf } from '../../../domain/operation-of.ts';
import { ownStatus } from '../../../domain/restored.ts';
import { RELEASE_BEGINS_WITHIN_MS } from '../../../domain/proof-age.ts';
import { timestamp } from '../../../ports/clock.ts';
import type { ProofRead, ProofReader } from '../../../ports/proof-reads.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { contradiction } from '../acknowledgements.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { NodeObservation } from '../observation.ts';
import type { DeviceRuns } from './device-runs.ts';
import type { Run } from './run.ts';

const UNKNOWN = 'its fence does not say any more how it was proven: it has to be fenced again';

type Sources = Pick<FenceDependencies, 'clock' | 'random' | 'leadership' | 'runner'>;

/** For those who rest something on the proof of a fence that does not read its device any more. It only reads: it writes no journal, and renews no evidence (P2). */
export class ProofReads implements ProofReader {
  readonly #dependencies: Sources;
  readonly #devices: Pick<DeviceRuns, 'run' | 'jobFor' | 'readAhead'>;
  /** Monotonic time at which this process itself read the device for the evidence of that run. */
  readonly #provenAtMs: (node: string, source: string) => number | undefined;

  constructor(
    dependencies: Sources,
    devices: Pick<DeviceRuns, 'run' | 'jobFor' | 'readAhead'>,
    provenAtMs: (node: string, source: string) => number | undefined,
  ) {
    this.#dependencies = dependencies;
    this.#devices = devices;
    this.#provenAtMs = provenAtMs;
  }

  /** As the release of a fence does: an old proof is taken again, by the run that gave it. */
  async readAnew(fence: NodeFence): Promise<ProofRead> {
    const { clock, runner } = this.#dependencies;
    const { spec } = fence;
    const status = ownStatus(fence);
    const proof = status?.frozen === undefined ? undefined : validEvidence(status.evidence, status.frozen.plan);
    if (status?.frozen === undefined || proof === undefined) return { doubt: UNKNOWN };
    const knownAtMs = this.#provenAtMs(spec.node, proof.source);
    if (knownAtMs !== undefined && clock.monotonicMs() - knownAtMs <= RELEASE_BEGINS_WITHIN_MS) return { atMs: knownAtMs };
    const source = status.journal.find(({ id }) => id === proof.source);
    if (source === undefined) return { doubt: UNKNOWN };
    const run = this.#runOf(fence, status, source);
    if (source.action === 'acknowledge') {
      const { frozen } = status;
      // As when the word was weighed: a device that reads on contradicts the person, whether or not it shows whose machine it switches.
      const readState = (method: Parameters<DeviceRuns['jobFor']>[2]) =>
        runner.readState({ ...this.#devices.jobFor(run, frozen, method), identityRequired: false });
      const { message } = await contradiction(frozen.plan, readState);
      return message === undefined ? { atMs: clock.monotonicMs() } : { doubt: message };
    }
    if (run.operation?.method === undefined) return { doubt: UNKNOWN };
    const { result, message, evidenceAtMs } = await this.#devices.run(run, new NodeObservation(clock.monotonicMs()), this.#devices.readAhead(run));
    if (result === 'succeeded' && evidenceAtMs !== undefined) return { atMs: evidenceAtMs };
    return { doubt: `its device does not bear the proof out when it is read anew: ${message}` };
  }

  #runOf(fence: NodeFence, status: Run['status'], source: Run['entry']): Run {
    const { clock, random, leadership } = this.#dependencies;
    const { finishedAt: _finishedAt, result: _result, message: _message, ...bare } = source;
    const entry = {
      ...bare,
      id: `${source.method}-${random.uuid()}`,
      action: 'confirm' as const,
      epoch: leadership.epoch,
      startedAt: timestamp(clock),
    };
    const operation = operationOf(source, status);
    return { node: fence.spec.node, fence, status, entry, operation, kind: 'run', intentAtMs: clock.monotonicMs() };
  }
}
