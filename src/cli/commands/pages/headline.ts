import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import { harmless } from '../terminal/text.ts';

const OUTCOMES: Readonly<Record<NonNullable<NodeFenceStatus['outcome']>, string>> = {
  recovered: 'was fenced and recovered',
  untouched: 'came back before anything was done',
  replaced: 'was replaced',
  'fenced-off': 'was fenced and stays off',
  'node-gone': 'is gone, its fence is closed',
  failed: 'could not be fenced: an operator must act',
  stopped: 'was stopped',
};

/** One line about a fence: `Node a is being fenced: running, step power-management (incident 3).` */
export function fenceHeadline(node: string, status: NodeFenceStatus): string {
  const where = `state ${status.state}, step ${status.step}, incident ${status.incident}`;
  if (status.outcome !== undefined) return `Node ${node} ${OUTCOMES[status.outcome]} (${where}).`;
  if (status.hold?.policy === 'observe') return `Node ${node} has failed; mode observe, nothing is changed (${where}).`;
  if (status.hold !== undefined) return `Node ${node} has failed; its fence is held by ${harmless(status.hold.policy)} (${where}).`;
  if (status.state === 'error') return `Node ${node}: a step of its fence failed; it is tried again (${where}).`;
  return `Node ${node} is being fenced (${where}).`;
}
