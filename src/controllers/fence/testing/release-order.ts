import type { Evidence, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { AskedPods } from '../../shared/release/asked-pods.ts';
import type { ReleaseOrder } from '../release/order.ts';

/** What nothing speaks against: node `a`, proven off by the first evidence, as its kubelet left it. */
export function releaseOrder(status: NodeFenceStatus, more: Pick<ReleaseOrder, 'renewTime'> & Partial<ReleaseOrder>): ReleaseOrder {
  return {
    node: 'a',
    fenceUID: 'fence-1',
    status,
    proof: status.evidence[0] as Evidence,
    heartbeat: '2026-01-01T00:00:00Z',
    asked: new AskedPods(),
    outlives: () => undefined,
    mayGoOn: () => undefined,
    ...more,
  };
}
