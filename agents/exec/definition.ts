import { createHash } from 'node:crypto';

import type { AgentDefinition, Parameters } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import type { ProgramFolder } from '../shared/process/program-folder.ts';
import { FenceCatalogue } from './catalogue.ts';
import type { FenceProgram } from './catalogue.ts';
import { plugProblem } from './call-text.ts';
import { knownFaults } from './known-faults.ts';
import { nameWarnings } from './named-device.ts';
import { canonicalParameters, checkProgram, describeProgram, isSecret } from './parameters.ts';

/** Any device may stand behind an agent; 30 s as with the slowest BMCs. */
const LATENCY_MS = 30_000;
const PREFIX = 'exec/';
const HASH_LENGTH = 16;
/** Those of fence-agents 4.12 that cut a way instead of switching power, for where they cannot be asked. */
const FABRICS: ReadonlySet<string> = new Set(['fence_brocade', 'fence_cisco_mds', 'fence_ifmib', 'fence_mpath', 'fence_sanbox2', 'fence_scsi']);

/** Installed fence agents of ClusterLabs as agents of ours. */
export class FencePrograms {
  readonly #catalogue: FenceCatalogue;
  readonly #definitions = new WeakMap<FenceProgram, AgentDefinition>();

  constructor(programs: ProgramFolder) {
    this.#catalogue = new FenceCatalogue(programs);
  }

  /**
   * `exec/fence_x`: that program, and why it cannot run where it cannot. `fence_x`: that program where it is installed, unless faults of it are known and `own`
   * can do the same; then `own`. Undefined where no such program is installed.
   */
  find(written: string, own: AgentDefinition | undefined): AgentDefinition | undefined {
    const name = written.trim().toLowerCase();
    const isExplicit = name.startsWith(PREFIX);
    if (!isExplicit && own !== undefined && isFaulty(name)) return undefined;
    const program = this.#catalogue.find(isExplicit ? name.slice(PREFIX.length) : name);
    if (program === undefined || (!isExplicit && !this.#isThere(program))) return undefined;
    return this.#definitionOf(program);
  }

  /** It was looked for, and a file of that name stands there. */
  #isThere({ name }: FenceProgram): boolean {
    const located = this.#catalogue.programs.locate(name, 'run');
    return located.kind === 'found' || (located.kind === 'refused' && this.#catalogue.programs.isGiven);
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
  const { name, metadata, unasked } = program;
  const isFabric = metadata?.isFabric ?? FABRICS.has(name);
  return {
    name: `${PREFIX}${name}`,
    aliases: [],
    kind: isFabric ? 'fabric' : 'power',
    actions: isFabric ? ['on', 'off', 'enable', 'disable'] : ['on', 'off', 'reboot', ...(metadata?.actions.has('diag') === true ? ['diag'] : [])],
    deviceMaxLatencyMs: LATENCY_MS,
    deviceKey: (parameters) => deviceKeyOf(program, parameters),
    describe: () => describeProgram(program),
    ...(metadata === undefined ? {} : { warnings: (parameters) => nameWarnings(name, metadata, canonicalParameters(metadata, parameters)) }),
    ...(unasked === undefined
      ? {}
      : { takesAny: true, warnings: () => [{ parameter: 'agent_name', message: `${name}: what it takes is not known here: ${unasked}` }] }),
    check: (parameters, withSecrets) => checkProgram(program, parameters, withSecrets, catalogue.programs),
    plugProblem: (plug) => (metadata === undefined ? undefined : plugProblem(name, plug, metadata)),
    anonymous: () => 'a fence agent of ClusterLabs does not tell whose machine it switches',
    create: async (context) => {
      const { ExecFabricAgent, ExecPowerAgent, FenceProgramRunner } = await import('./agent.ts');
      const runner = new FenceProgramRunner(name, catalogue, context.clock, addressCheckOf(context));
      return isFabric ? new ExecFabricAgent(runner) : new ExecPowerAgent(runner);
    },
  };
}

/** `host:port` where the agent has an address, as agents of our own have it: one device, one queue. Else all that says which device it is. */
function deviceKeyOf({ name, metadata }: FenceProgram, parameters: Parameters): string {
  const named = metadata === undefined ? parameters : canonicalParameters(metadata, parameters);
  const ip = named['ip'] ?? named['ipaddr'];
  const port = named['ipport'] ?? metadata?.parameters.get('ipport')?.default;
  if (ip !== undefined) return `${ip.replace(/^\[|\]$/g, '').toLowerCase()}${port === undefined ? '' : `:${port}`}`;
  const open = Object.entries(named).filter(([key]) => !isSecret(key));
  return open.length === 0 ? name : `${name}:${createHash('sha256').update(JSON.stringify(open)).digest('hex').slice(0, HASH_LENGTH)}`;
}
