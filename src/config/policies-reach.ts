import { allowedUnhealthy } from '../domain/policies/max-unhealthy.ts';
import type { Configuration, NodeFacts } from './configuration.ts';
import { writtenPolicies } from './policies.ts';
import type { WrittenPolicy } from './policies-written.ts';
import { Problems } from './problems.ts';

/** Policies that, on these nodes, hold nobody or everybody for ever: likely not what was meant. */
export function checkPolicyReach(configuration: Configuration, cluster: ReadonlyMap<string, NodeFacts>, problems: Problems): void {
  for (const written of writtenPolicies(configuration, new Problems()).values()) {
    if (!written.isEnabled || written.isBroken) continue;
    const scope = written.values.matcher('node_selector');
    const nodes = [...cluster.values()].filter(({ labels }) => scope?.(labels) ?? true);
    if (nodes.length > 0) checkOne(written, nodes, problems);
    else if (written.isScoped) problems.warning(written.where, 'its node_selector matches no Node: it holds no node');
  }
}

function checkOne({ policy, values, where }: WrittenPolicy, nodes: readonly NodeFacts[], problems: Problems): void {
  for (const key of values.list('topology_key') ?? []) {
    if (nodes.some(({ labels }) => Object.hasOwn(labels, key))) continue;
    const effect = policy === 'failure-domain' ? 'it sees no failure domain' : 'it distinguishes no failure domains';
    problems.warning(where, `topology_key ${key}: no Node has that label, ${effect}`);
  }
  if (policy !== 'max-unhealthy') return;
  const [percentage, max] = [values.number('percentage'), values.number('max')];
  const allowed = allowedUnhealthy(nodes.length, { ...(percentage !== undefined && { percentage }), ...(max !== undefined && { max }) });
  if (allowed > 0) return;
  const count = `${nodes.length} Node${nodes.length === 1 ? '' : 's'}`;
  problems.warning(where, `of ${count} in its scope none may be unhealthy: none is ever fenced; raise percentage, or write max=1`);
}
