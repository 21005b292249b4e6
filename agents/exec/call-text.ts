import type { Parameters } from '../../src/ports/agents.ts';
import { parseBoolean } from '../shared/parameter-schema.ts';
import type { FenceMetadata } from './metadata.ts';
import { canonicalParameters } from './parameters.ts';

export type FenceAction = 'status' | 'on' | 'off' | 'list' | 'list-status' | 'diag';

export interface FenceCall {
  action: FenceAction;
  /** Empty where the device has one machine only. */
  plug: string;
  parameters: Parameters;
  /** Polls and seconds that the agent may take for its own reading back; ours follows anyway. */
  powerTimeout: number;
}

/** Does this agent switch several plugs? Those of one machine have `plug` as another word for the address. */
export function hasPlugs({ parameters }: FenceMetadata): boolean {
  return (parameters.has('plug') || parameters.has('port')) && !parameters.has('port_as_ip');
}

/**
 * What the agent reads from stdin: one `name=value` a line, the action always and explicitly (a missing one means reboot), names as the agent's own
 * metadata has them, no boolean that is false (any value of it would count as given), one plug.
 */
export function callText(metadata: FenceMetadata, { action, plug, parameters, powerTimeout }: FenceCall): string {
  const values = new Map<string, string>([['action', action]]);
  const plugName = metadata.parameters.has('plug') ? 'plug' : 'port';
  if (plug !== '') values.set(plugName, plug);
  for (const [name, value] of Object.entries(canonicalParameters(metadata, parameters))) {
    const type = metadata.parameters.get(name)?.type;
    if (type === undefined) continue;
    if (type !== 'boolean') values.set(name, type === 'string' ? value : value.trim());
    else if (parseBoolean(value) === true) values.set(name, '1');
  }
  const add = (name: string, value: string): void => {
    if (metadata.parameters.has(name) && !values.has(name)) values.set(name, value);
  };
  // Its `on` is sent once and as often again; the core decides on that.
  add('retry_on', '0');
  add('method', 'onoff');
  add('power_timeout', String(powerTimeout));
  return [...values].map(([name, value]) => `${name}=${guarded(value)}\n`).join('');
}

/** Lines are trimmed and lose one pair of quotes: where that would change the value, it gets a pair to lose. */
function guarded(value: string): string {
  return value !== value.trim() || /^".*"$/.test(value) ? `"${value}"` : value;
}

/** The library splits a plug at commas, and some agents then switch and read the first one only, whatever they say. */
export function plugProblem(name: string, plug: string, metadata: FenceMetadata): string | undefined {
  if (!hasPlugs(metadata)) return plug === '' ? undefined : `${name} switches one machine: remove plug`;
  if (plug === '') return `${name} needs a plug`;
  return /[,\p{Cc}"]/u.test(plug) ? 'a plug must have no comma, quote or control character: name one plug at a time' : undefined;
}
