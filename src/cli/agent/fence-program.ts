import { standardRegistry } from '../../../agents/registry.ts';
import { AgentError } from '../../ports/agents.ts';
import type { AgentContext, AgentDefinition, AgentRegistry, PlugEntry } from '../../ports/agents.ts';
import { VERSION } from '../version.ts';
import { fromArguments, fromStdin } from './fence-input.ts';
import type { FenceInput } from './fence-input.ts';
import { manpageOf, metadataOf, usageOf } from './fence-metadata.ts';
import { optionsOf, showsPlugs } from './fence-options.ts';
import { requestOf } from './fence-request.ts';
import type { FenceRequest } from './fence-request.ts';
import { FenceFailure, FenceRun } from './fence-run.ts';

/** Never anything else: 2 means off, of a status. */
export type FenceExit = 0 | 1 | 2;

const DONE: FenceExit = 0;
const FAILED: FenceExit = 1;
const OFF: FenceExit = 2;

/** The process around a call. */
export interface FenceWorld {
  context: AgentContext;
  signal: AbortSignal;
  stdin(): Promise<string>;
  out(text: string): void;
  complain(line: string): void;
}

/** Agents that can be called in this way: those of a device. */
export function fenceAgents(registry: AgentRegistry = standardRegistry()): AgentDefinition[] {
  return registry.names().flatMap((name) => {
    const definition = registry.find(name);
    return definition === undefined || definition.kind === 'action' || definition.actions.length === 0 ? [] : [definition];
  });
}

/** `nodefence agent <name>` and `fence_nodefence_<name>`: an agent of ours, called as ClusterLabs' fencers call theirs. Resolves with the exit code. */
export async function runFenceProgram(name: string | undefined, argv: readonly string[], world: FenceWorld): Promise<FenceExit> {
  const agents = fenceAgents();
  const wanted = (name ?? '').toLowerCase().replaceAll('_', '-');
  const definition = agents.find((agent) => agent.name === wanted);
  if (definition === undefined) {
    const which = name === undefined ? 'name an agent' : `there is no agent ${name}`;
    world.complain(`nodefence agent: ${which}: one of ${agents.map((agent) => agent.name).join(', ')}`);
    return FAILED;
  }
  const options = optionsOf(definition);
  const input = argv.length > 0 ? fromArguments(argv, options) : fromStdin(await world.stdin(), options);
  return answered(definition, input, input.values.get('quiet') === 'yes' ? { ...world, complain: () => undefined } : world);
}

async function answered(definition: AgentDefinition, { values, warnings, failure }: FenceInput, world: FenceWorld): Promise<FenceExit> {
  for (const warning of warnings) world.complain(warning);
  if (failure === undefined && values.get('help') === 'yes') return said(world, usageOf(definition));
  if (failure === undefined && values.get('version') === 'yes') return said(world, `${VERSION}\n`);
  const request = failure === undefined ? requestOf(definition, values) : { failure };
  if ('failure' in request) {
    world.complain(request.failure);
    world.complain("Please use '-h' for usage");
    return FAILED;
  }
  if (request.action === 'metadata') return said(world, metadataOf(definition));
  if (request.action === 'manpage') return said(world, manpageOf(definition));
  const problems = definition.check(request.parameters, true);
  for (const { parameter, message } of problems) world.complain(`Failed: ${parameter} ${message}`);
  if (problems.length > 0) return FAILED;
  return request.action === 'validate-all' ? DONE : performed(definition, request, world);
}

function said(world: FenceWorld, text: string): FenceExit {
  world.out(text);
  return DONE;
}

async function performed(definition: AgentDefinition, request: FenceRequest, world: FenceWorld): Promise<FenceExit> {
  const run = new FenceRun(definition, world.context, request, world.signal);
  try {
    if (request.action === 'off' || request.action === 'reboot') await world.context.clock.sleep(request.delayMs, world.signal);
    return await act(definition, run, request, world);
  } catch (error) {
    world.complain(messageOf(error, world.signal));
    return FAILED;
  } finally {
    for (const remark of run.remarks) world.complain(remark);
    await run.close();
  }
}

async function act(definition: AgentDefinition, run: FenceRun, request: FenceRequest, world: FenceWorld): Promise<FenceExit> {
  switch (request.action) {
    case 'status': {
      const state = await run.status();
      world.out(`Status: ${state.toUpperCase()}\n`);
      return state === 'off' ? OFF : DONE;
    }
    case 'off':
      return said(world, (await run.off()) === 'already' ? 'Success: Already OFF\n' : 'Success: Powered OFF\n');
    case 'on':
      return said(world, (await run.on()) === 'already' ? 'Success: Already ON\n' : 'Success: Powered ON\n');
    case 'reboot':
      return reboot(run, world);
    case 'diag':
      await run.diag();
      return said(world, 'Success: Diag\n');
    default:
      return listed(definition, run, request, world);
  }
}

/** The off is what a cluster waits for: an on that fails is said, and does not spoil it. */
async function reboot(run: FenceRun, world: FenceWorld): Promise<FenceExit> {
  await run.off();
  try {
    await run.on();
  } catch (error) {
    if (world.signal.aborted) throw error;
    world.complain(`Timed out waiting to power ON: ${messageOf(error, world.signal)}`);
  }
  return said(world, 'Success: Rebooted\n');
}

/** `list`, `list-status`, and `monitor`: of a device of several plugs its list, of one machine its state, which may be either. */
async function listed(definition: AgentDefinition, run: FenceRun, request: FenceRequest, world: FenceWorld): Promise<FenceExit> {
  const { action, plugs, separator, parameters } = request;
  const hasPlugs = showsPlugs(definition) || parameters['resource'] === 'outlet';
  const entries = hasPlugs ? await run.list() : undefined;
  if (entries === undefined) {
    if (action !== 'monitor') throw new FenceFailure(`Failed: Unsupported action '${action}': the device has no list`);
    if (hasPlugs && plugs[0] === '') throw new FenceFailure('Failed: You have to enter plug number or machine identification');
    await run.status();
    return DONE;
  }
  return said(world, entries.map((entry) => `${lineOf(entry, separator, action === 'list-status')}\n`).join(''));
}

const SHOWN: Readonly<Partial<Record<NonNullable<PlugEntry['state']>, string>>> = { on: 'ON', open: 'ON', off: 'OFF', closed: 'OFF' };

function lineOf({ plug, alias = '', state }: PlugEntry, separator: string, withState: boolean): string {
  return [plug, alias, ...(withState ? [SHOWN[state ?? 'unknown'] ?? 'UNKNOWN'] : [])]
    .map((text) => text.replaceAll(/\p{Cc}/gu, '?'))
    .join(separator);
}

function messageOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'Failed: the call was given up before it came to an end';
  if (error instanceof FenceFailure) return error.message;
  // A cluster manager tells a timeout from other failures by these words.
  if (error instanceof AgentError) return `Failed: ${error.kind === 'Timeout' ? 'timed out: ' : ''}${error.message}`;
  return `Failed: ${error instanceof Error ? error.message : String(error)}`;
}
