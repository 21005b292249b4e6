import type { AgentDefinition } from '../../src/ports/agents.ts';
import { placeKey } from '../shared/command/place.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { cephParameters, expiryOf, problemsOf } from './parameters.ts';

/** The addresses of a node on Ceph's blocklist. csi-addons answers within its own timeout of 3 minutes at most, ordinarily in seconds. */
export const ceph: AgentDefinition = {
  name: 'ceph',
  aliases: ['fence-ceph', 'network-fence', 'networkfence'],
  kind: 'fabric',
  actions: ['on', 'off'],
  deviceMaxLatencyMs: 30_000,
  deviceKey: (parameters) => {
    const { via = 'networkfence', driver, class_name: className, cluster_id: clusterID, ...named } = canonical(cephParameters, parameters);
    return ['ceph', via, className ?? driver, clusterID, placeKey(named), named['cidrs']]
      .filter((part) => part !== undefined && part !== '')
      .join(' ');
  },
  forgetsAfterMs: expiryOf,
  describe: () => describeParameters(cephParameters),
  check: problemsOf,
  create: async (context) => {
    const { CephAgent } = await import('./agent.ts');
    return new CephAgent(context);
  },
};
