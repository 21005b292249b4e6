import type { AgentDefinition } from '../../src/ports/agents.ts';
import { placeFirstTrust, placeKey } from '../shared/command/place.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { sshWarnings } from '../shared/ssh/parameters.ts';
import { problemsOf, scsiParameters } from './parameters.ts';

/** A preempt-and-abort has acted when the command ends; 10 s are for an array that is busy. */
export const scsi: AgentDefinition = {
  name: 'scsi',
  aliases: ['mpath'],
  kind: 'fabric',
  actions: ['off'],
  deviceMaxLatencyMs: 10_000,
  needsStorage: true,
  undoneBy: 'unfence',
  deviceKey: (parameters) => {
    const named = canonical(scsiParameters, parameters);
    const place = placeKey(named);
    return place === '' ? 'scsi' : `scsi ${place}`;
  },
  describe: () => describeParameters(scsiParameters),
  check: problemsOf,
  firstTrust: (parameters) => placeFirstTrust(canonical(scsiParameters, parameters)),
  warnings: sshWarnings,
  create: async (context) => {
    const { ScsiAgent } = await import('./agent.ts');
    return new ScsiAgent(context);
  },
};
