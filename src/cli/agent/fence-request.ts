import type { AgentDefinition, Parameters } from '../../ports/agents.ts';
import { actionsOf, defaultAction, POWER_TIMEOUT_SECONDS } from './fence-options.ts';
import { lookup } from '../../domain/lookup.ts';

/** What a call of a fence agent asks for, complete. */
export interface FenceRequest {
  action: string;
  /** At least one; empty where the device has one machine. */
  plugs: readonly string[];
  parameters: Parameters;
  delayMs: number;
  powerTimeoutMs: number;
  separator: string;
}

/** Options of the call itself, not of the device. */
const OWN: ReadonlySet<string> = new Set([
  ...['action', 'plug', 'outlet', 'plug_separator', 'separator', 'power_timeout', 'delay', 'quiet', 'verbose', 'version', 'help'],
]);
const SYNONYMS: Readonly<Record<string, string>> = { 'meta-data': 'metadata', enable: 'on', disable: 'off' };
const SECONDS = /^\d{1,6}$/;

/** The request, or in words why it is none. `action` is never guessed from a misspelt word: a missing one is the library's default. */
export function requestOf(definition: AgentDefinition, values: ReadonlyMap<string, string>): FenceRequest | { failure: string } {
  const written = (values.get('action') ?? defaultAction(definition.kind)).toLowerCase();
  const isWay = written === 'enable' || written === 'disable';
  const action = isWay && definition.kind !== 'fabric' ? written : (lookup(SYNONYMS, written) ?? written);
  // Its metadata has no list: a fencer would ask for it of every machine that is none.
  const isListOfOutlets = ['list', 'list-status'].includes(action) && values.get('resource') === 'outlet';
  if (!actionsOf(definition).includes(action) && !isListOfOutlets) return { failure: `Failed: Unrecognised action '${written}'` };
  const delay = values.get('delay') ?? '0';
  const powerTimeout = values.get('power_timeout') ?? String(POWER_TIMEOUT_SECONDS);
  if (!SECONDS.test(delay)) return { failure: 'Failed: The value you have entered for --delay is not a valid time in seconds' };
  if (!SECONDS.test(powerTimeout) || Number(powerTimeout) === 0)
    return { failure: 'Failed: The value you have entered for --power-timeout is not a valid time in seconds' };
  // Nothing between them would make outlets 1 and 2 of plug 12.
  const divider = values.get('plug_separator') ?? ',';
  if (divider === '') return { failure: 'Failed: The value you have entered for --plug-separator is empty' };
  const outlets = values.get('outlet') ?? '';
  if (outlets !== '' && values.get('resource') !== 'outlet') return { failure: 'Failed: outlet names outlets, but resource is not outlet' };
  const plugs = (values.get('plug') ?? outlets)
    .split(divider)
    .map((plug) => plug.trim())
    .filter((plug) => plug !== '');
  return {
    action,
    plugs: plugs.length === 0 ? [''] : [...new Set(plugs)],
    parameters: Object.fromEntries([...values].filter(([name]) => !OWN.has(name))),
    delayMs: Number(delay) * 1000,
    powerTimeoutMs: Number(powerTimeout) * 1000,
    separator: values.get('separator') ?? ',',
  };
}
