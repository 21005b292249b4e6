import type { AgentDefinition, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { localProblems, localWarnings } from '../shared/command/local-program.ts';
import type { LocalProgram } from '../shared/command/local-program.ts';
import { placeFirstTrust, placeKey } from '../shared/command/place.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { ProgramFolder } from '../shared/process/program-folder.ts';
import { localArguments } from './local-arguments.ts';
import { cephParameters, expiryOf, problemsOf } from './parameters.ts';

/** The addresses of a node on Ceph's blocklist. csi-addons answers within its own timeout of 3 minutes at most, ordinarily in seconds. `programs`: those that may run here; absent: none. */
export function cephWith(programs: ProgramFolder = new ProgramFolder()): AgentDefinition {
  return {
    name: 'ceph',
    aliases: ['fence-ceph', 'network-fence', 'networkfence'],
    kind: 'fabric',
    needsStorage: true,
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
    check: (parameters, withSecrets) => [...problemsOf(parameters, withSecrets), ...localIn(parameters, programs)],
    firstTrust: (parameters) => {
      const named = canonical(cephParameters, parameters);
      return named['via'] === 'exec' ? placeFirstTrust(named) : undefined;
    },
    warnings: (parameters) => localWarnings(localOf(parameters), programs),
    create: async (context) => {
      const { CephAgent } = await import('./agent.ts');
      return new CephAgent(context, programs);
    },
  };
}

/** The program that runs here: of `via=exec` without `ip`. */
function localOf(parameters: Parameters): LocalProgram[] {
  const { via, ip, program = 'ceph' } = canonical(cephParameters, parameters);
  return via === 'exec' && ip === undefined ? [{ parameter: 'program', program }] : [];
}

function localIn(parameters: Parameters, programs: ProgramFolder): ParameterProblem[] {
  const local = localOf(parameters);
  if (local.length === 0) return [];
  const words = (canonical(cephParameters, parameters)['arguments'] ?? '').split(/\s+/).filter((word) => word !== '');
  const given = localArguments(words, programs, false);
  return [...localProblems(local, programs), ...('message' in given ? [given] : [])];
}
