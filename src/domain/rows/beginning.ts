import type { Frozen, HistoryEntry, NodeFenceStatus } from '../node-fence.ts';
import type { Snapshot } from '../snapshot.ts';

/** The status with which an incident begins: plan and identity frozen (P7, P10). `undefined` without a Node. */
export function beginning(snapshot: Snapshot, history: HistoryEntry[], incident: number): NodeFenceStatus | undefined {
  const { node, identity, plan, wall, epoch } = snapshot;
  if (node === undefined) return undefined;
  const systemUUID = identity?.systemUUID ?? node.systemUUID;
  const providerID = identity?.providerID ?? node.providerID;
  const frozen: Frozen = {
    nodeUID: node.uid,
    ...(systemUUID === undefined ? {} : { systemUUID }),
    ...(providerID === undefined ? {} : { providerID }),
    ...(node.bootID === undefined ? {} : { bootID: node.bootID }),
    plan,
  };
  return {
    state: 'new',
    step: 'isolation',
    level: 1,
    incident,
    epoch,
    frozen,
    retries: 0,
    restarts: 0,
    trigger: {
      kind: 'node-condition',
      conditionType: 'Ready',
      status: node.ready,
      reason: node.readyReason,
      since: node.readySince ?? wall,
      ...(node.bootID === undefined ? {} : { bootID: node.bootID }),
    },
    jobs: [],
    journal: [],
    evidence: [],
    timeline: { failedAt: node.readySince ?? wall, noticedAt: wall },
    conditions: [],
    history,
    message: `Ready is ${node.ready} (${node.readyReason}); isolation follows after isolation_delay.`,
  };
}
