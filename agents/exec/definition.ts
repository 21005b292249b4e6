import { createHash } from 'node:crypto';

import type { AgentDefinition, Parameters } from '../../src/ports/agents.ts';
import { FenceCatalogue } from './catalogue.ts';
import type { FenceProgram } from './catalogue.ts';
import { plugProblem } from './call-text.ts';
import { knownFaults } from './known-faults.ts';
import { canonicalParameters, checkProgram, describeProgram, isSecret } from './parameters.ts';

/** Any device may stand behind an agent; 30 s as with the slowest BMCs. */
const LATENCY_MS = 30_000;
const PREFIX = 'exec/';
const HASH_LENGTH = 16;

/** Installed fence agents of ClusterLabs as agents of ours. */
export class FencePrograms {
  readonly #catalogue: FenceCatalogue;
  readonly #definitions = new WeakMap<FenceProgram, AgentDefinition>();

  /** `path`: where programs are looked for, as in the environment variable; absent: this process' own. */
  constructor(path?: string) {
    this.#catalogue = new FenceCatalogue(path);
  }

  /**
   * `exec/fence_x`: that program, or nothing. `fence_x`: that program, unless faults of it are known and `own` can do the same; then `own`. Undefined
   * where no such program is installed.
   */
  find(written: string, own: AgentDefinition | undefined): AgentDefinition | undefined {
    const name = written.trim().toLowerCase();
    const isExplicit = name.startsWith(PREFIX);
    if (!isExplicit && own !== undefined && isFaulty(name)) return undefined;
    const program = this.#catalogue.find(isExplicit ? name.slice(PREFIX.length) : name);
    return program === undefined ? undefined : this.#definitionOf(program);
  }

  #definitionOf(program: FenceProgram): AgentDefinition {
    const known = this.#definitions.get(program) ?? define(program, this.#catalogue);
    this.#definitions.set(program, known);
    return known;
  }
}

function isFaulty(name: string): boolean {
  const { off, secrets } = knownFaults(name.replaceAll('-', '_'));
  return off !== undefined || secrets !== undefined;
}

function define(program: FenceProgram, catalogue: FenceCatalogue): AgentDefinition {
  const { name, metadata } = program;
  const isFabric = metadata?.isFabric === true;
  return {
    name: `${PREFIX}${name}`,
    aliases: [],
    kind: isFabric ? 'fabric' : 'power',
    actions: isFabric ? ['on', 'off', 'enable', 'disable'] : ['on', 'off', 'reboot', ...(metadata?.actions.has('diag') === true ? ['diag'] : [])],
    deviceMaxLatencyMs: LATENCY_MS,
    deviceKey: (parameters) => deviceKeyOf(program, parameters),
    describe: () => describeProgram(program),
    check: (parameters, withSecrets) => checkProgram(program, parameters, withSecrets),
    plugProblem: (plug) => (metadata === undefined ? undefined : plugProblem(name, plug, metadata)),
    ...(isFabric ? {} : { anonymous: () => 'a fence agent of ClusterLabs does not tell whose machine it switches' }),
    create: async ({ clock }) => {
      const { ExecFabricAgent, ExecPowerAgent, FenceProgramRunner } = await import('./agent.ts');
      const runner = new FenceProgramRunner(name, catalogue, clock);
      return isFabric ? new ExecFabricAgent(runner) : new ExecPowerAgent(runner);
    },
  };
}

/** `host:port` where the agent has an address, as agents of our own have it: one device, one queue. Else all that says which device it is. */
function deviceKeyOf({ name, metadata }: FenceProgram, parameters: Parameters): string {
  const named = metadata === undefined ? {} : canonicalParameters(metadata, parameters);
  const ip = named['ip'] ?? named['ipaddr'];
  const port = named['ipport'] ?? metadata?.parameters.get('ipport')?.default;
  if (ip !== undefined) return `${ip.replace(/^\[|\]$/g, '').toLowerCase()}${port === undefined ? '' : `:${port}`}`;
  const open = Object.entries(named).filter(([key]) => !isSecret(key));
  return open.length === 0 ? name : `${name}:${createHash('sha256').update(JSON.stringify(open)).digest('hex').slice(0, HASH_LENGTH)}`;
}
