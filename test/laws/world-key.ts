import { hash } from 'node:crypto';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { Model } from '../../src/domain/testing/model.ts';
import type { Walker } from './walker.ts';

/** Two worlds with the same key have the same future: times are ages, ids and words are left out. Hashed, because there are millions. */
export function keyOf(walker: Walker): string {
  const { model, machine } = walker;
  const status = model.fence?.status;
  const age = (atMs: number | undefined): number | undefined => (atMs === undefined ? undefined : Math.min(model.nowMs - atMs, 60_000));
  const words = JSON.stringify([
    status === undefined ? undefined : statusKey(status, model),
    model.fence?.deleting,
    [model.fence?.spec.requestedBy?.uid, model.fence?.spec.ending, model.fence?.spec.lastStep, model.fence?.spec.methods, model.preservation?.kind],
    model.node === undefined ? undefined : [model.node.ready, model.node.uid, model.node.bootID, age(model.node.lifeAtMs)],
    [...model.marks].map(([key, mark]) => [key, age(mark.atMs)]).sort(),
    age(model.setAtMs),
    [
      model.holds.map((hold) => hold.policy),
      model.stop !== undefined,
      model.acknowledgement !== undefined,
      [...model.inFlight].length,
      model.reports.map((report) => report.result),
    ],
    [model.workload, machine, machine.readyAtMs === undefined ? undefined : machine.readyAtMs - model.nowMs, model.plan.problems.length],
  ]);
  return hash('sha1', words, 'base64');
}

function statusKey(status: NodeFenceStatus, model: Model): unknown {
  const proof = status.evidence.findLast((item) => item.voidedAt === undefined);
  return [
    [status.state, status.step, status.level, status.retries, status.restarts, status.incident, status.outcome, status.epoch - model.epoch],
    status.journal.map((entry) => [
      entry.step,
      entry.level,
      entry.restart,
      entry.operation,
      entry.action,
      entry.result ?? '',
      entry.bootID,
      entry.action === 'acknowledge' ? entry.plug : '',
    ]),
    status.evidence.map((item) => [
      item.kind,
      item.voidedAt === undefined,
      item.bootID,
      item.identity === 'unverified' ? ageOf(model, item.source) : '',
    ]),
    proof === undefined ? undefined : ageOf(model, proof.source),
    [status.hold?.policy, status.restore, status.released?.by, status.released?.voidedAt === undefined, Object.keys(status.timeline)],
    [status.frozen?.plan.problems.length, status.ending, status.lastStep, status.slotGivenAway, status.frozen?.asked],
    [status.trigger?.kind, status.trigger?.requestUID, status.released?.left, status.released?.batch, status.storageRelease?.bootID],
  ];
}

/** How long ago this process itself read the device for the evidence of that run. */
function ageOf({ nowMs, proofs }: Model, source: string): number | undefined {
  const provenAtMs = proofs.get(source);
  return provenAtMs === undefined ? undefined : nowMs - provenAtMs;
}
