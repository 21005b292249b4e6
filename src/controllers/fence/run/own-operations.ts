import { proofOf } from '../../../domain/evidence.ts';
import { lastSignMs } from '../../../domain/health.ts';
import { RELEASE_WRITES_WITHIN_MS } from '../../../domain/proof-age.ts';
import type { Acknowledgements } from '../acknowledgements.ts';
import type { FenceDependencies } from '../dependencies.ts';
import type { NodeObservation } from '../observation.ts';
import { endRelease, recoverRelease } from '../release/end.ts';
import { release } from '../release/release.ts';
import type { DeviceRuns } from './device-runs.ts';
import type { Permission } from './permission.ts';
import { notSent } from './run.ts';
import type { Run, RunOutcome } from './run.ts';
import type { WritesUnderWay } from './writes.ts';

/** Operations of the controller itself, which no agent runs: the release, its end, and the check of a person's acknowledgement. */
export class OwnOperations {
  readonly #dependencies: FenceDependencies;
  readonly #acknowledgements: Acknowledgements;
  readonly #permission: Permission;
  readonly #writes: WritesUnderWay;
  readonly #devices: DeviceRuns;

  constructor(
    dependencies: FenceDependencies,
    acknowledgements: Acknowledgements,
    { permission, writes, devices }: { permission: Permission; writes: WritesUnderWay; devices: DeviceRuns },
  ) {
    this.#dependencies = dependencies;
    this.#acknowledgements = acknowledgements;
    this.#permission = permission;
    this.#writes = writes;
    this.#devices = devices;
  }

  async run(run: Run, observation: NodeObservation): Promise<RunOutcome> {
    const { node, status, entry } = run;
    if (entry.action === 'acknowledge') return this.#acknowledge(run, observation);
    if (run.kind === 'recover') return recoverRelease(this.#dependencies, { node, status }, entry.action === 'release' ? 'release' : 'release-end');
    const plan = status.frozen?.plan;
    const mayBegin = (): void => this.#permission.demand(node, plan?.timing.setDeadlineMs ?? 0, entry);
    if (entry.action === 'release-end') {
      observation.asked.keepOnly([]);
      return endRelease(this.#dependencies, node, status, mayBegin);
    }
    const proof = plan === undefined ? undefined : proofOf(status.evidence, plan, status.step);
    if (proof === undefined) return { result: 'voided', message: 'no evidence is valid' };
    const provenAtMs = observation.since(status).evidence;
    const mayGoOn = (): void => {
      mayBegin();
      const heardAtMs = this.#dependencies.fastDetection?.heardAtMs(node);
      if (provenAtMs === undefined || lastSignMs({ lifeAtMs: observation.lifeAtMs, heardAtMs }, proof, status) > provenAtMs)
        throw notSent(entry, 'a sign of life was received');
      if (this.#dependencies.clock.monotonicMs() - provenAtMs > RELEASE_WRITES_WITHIN_MS)
        throw notSent(entry, 'the last off read is too old; the device is read again');
    };
    // The node could open again what was read closed.
    const doubt = entry.step === 'isolation' ? await this.#dependencies.unfencing?.mayRegister(node) : undefined;
    if (doubt !== undefined) return { result: 'voided', message: doubt };
    const { renewTime, heartbeat, asked } = observation;
    const outlives = (call: Promise<unknown>): void => this.#writes.outlives(call);
    return release(this.#dependencies, {
      node,
      fenceUID: run.fence.metadata.uid ?? '',
      status,
      proof,
      renewTime,
      heartbeat,
      asked,
      outlives,
      mayGoOn,
    });
  }

  /** One that a crash cut off is checked anew. */
  async #acknowledge(run: Run, observation: NodeObservation): Promise<RunOutcome> {
    const { node, entry, status, fence, kind } = run;
    if (kind === 'recover') return { result: 'found-not-done', message: 'the check of the acknowledgement was interrupted; it is repeated' };
    const { frozen } = status;
    if (frozen === undefined) return { result: 'voided', message: 'the fence has not begun' };
    const bootID = this.#dependencies.listers.nodes.get(node)?.status.nodeInfo?.bootID;
    const mayGoOn = (): void => this.#permission.demand(node, frozen.plan.timing.setDeadlineMs, entry);
    return this.#acknowledgements.weigh({ fence, status, entry, bootID, life: () => observation, mayGoOn }, (method) =>
      // A device that reads on contradicts the person, whether or not it shows whose machine it switches.
      this.#dependencies.runner.readState({ ...this.#devices.jobFor(run, frozen, method), identityRequired: false }),
    );
  }
}
