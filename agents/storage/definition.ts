import type { AgentDefinition, Parameters } from '../../src/ports/agents.ts';
import { localProblems, localWarnings } from '../shared/command/local-program.ts';
import type { LocalProgram } from '../shared/command/local-program.ts';
import { placeFirstTrust, placeKey } from '../shared/command/place.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { ProgramFolder } from '../shared/process/program-folder.ts';
import { sshWarnings } from '../shared/ssh/parameters.ts';
import { problemsOf, storageParameters } from './parameters.ts';
import { argumentsOf } from './template.ts';
import { whyAnonymous } from './whose.ts';

/**
 * Any storage by a pair of commands: one shuts out, one shows. A command that is done has acted; 15 s are for storages that take their time. `programs`: those
 * that may run here; absent: none.
 */
export function storageWith(programs: ProgramFolder = new ProgramFolder()): AgentDefinition {
  return {
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
    check: (parameters, withSecrets) => [...problemsOf(parameters, withSecrets), ...localProblems(localOf(parameters), programs)],
    firstTrust: (parameters) => placeFirstTrust(canonical(storageParameters, parameters)),
    anonymous: (parameters, identity, plug) => {
      if (identity === undefined) return undefined;
      const {
        close_command: close = '',
        closed_match: closedMatch = '',
        open_match: openMatch = '',
        client,
        target,
      } = canonical(storageParameters, parameters);
      return whyAnonymous({ close, closedMatch, openMatch }, { plug, client, target, node: identity.node }, identity);
    },
    warnings: (parameters) => [...sshWarnings(parameters), ...localWarnings(localOf(parameters), programs)],
    create: async (context) => {
      const { StorageAgent } = await import('./agent.ts');
      return new StorageAgent(context, programs);
    },
  };
}

/** The commands that run here, which are those without `ip`: elsewhere the far side decides what runs. */
function localOf(parameters: Parameters): LocalProgram[] {
  const named = canonical(storageParameters, parameters);
  if (named['ip'] !== undefined) return [];
  return ['close_command', 'open_command', 'state_command'].flatMap((parameter) => {
    const words = argumentsOf(named[parameter] ?? '');
    return typeof words === 'string' ? [] : [{ parameter, program: words[0] ?? '' }];
  });
}
