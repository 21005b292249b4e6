import type { AgentDefinition } from '../../src/ports/agents.ts';
import { placeKey } from '../shared/command/place.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { sshWarnings } from '../shared/ssh/parameters.ts';
import { problemsOf, storageParameters } from './parameters.ts';

/** Any storage by a pair of commands: one shuts out, one shows. A command that is done has acted; 15 s are for storages that take their time. */
export const storage: AgentDefinition = {
  name: 'storage',
  aliases: ['csi', 'nfs', 'iscsi'],
  kind: 'fabric',
  actions: ['on', 'off'],
  deviceMaxLatencyMs: 15_000,
  deviceKey: (parameters) => {
    const named = canonical(storageParameters, parameters);
    const place = placeKey(named);
    return place === '' ? `here ${named['state_command'] ?? ''}`.trimEnd() : place;
  },
  describe: () => describeParameters(storageParameters),
  check: problemsOf,
  warnings: sshWarnings,
  create: async (context) => {
    const { StorageAgent } = await import('./agent.ts');
    return new StorageAgent(context);
  },
};
