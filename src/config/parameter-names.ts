import type { AgentDefinition } from '../ports/agents.ts';

/** Keys that are a method's own, whatever the agent. */
export const OWN_KEYS: ReadonlySet<string> = new Set([
  'action',
  'plug',
  'secret',
  'secret_file',
  'secret_program',
  'storage',
  'storage_match',
  'identity',
  'shared',
  'device_max_latency',
  'diag_wait',
]);

/** Read by nobody: historical keys that meant nothing, and keys of other places. */
export const IGNORED_KEYS: ReadonlySet<string> = new Set([
  'template',
  'agent_name',
  'method_name',
  'name',
  'must_success',
  'namespace',
  'node_name',
  'script_path',
]);

/** ClusterLabs' older names; an agent's own aliases come first. */
const LEGACY: Readonly<Record<string, string>> = {
  ipaddr: 'ip',
  login: 'username',
  passwd: 'password',
  'passwd-script': 'password-script',
  port: 'plug',
  uuid: 'plug',
};

/** Letters and signs as ClusterLabs compares them. */
export function spelling(text: string): string {
  return text.toLowerCase().replaceAll('_', '-');
}

/** Agent → its canonical parameter name for every spelling: `_` and `-` alike, the agent's aliases, then ClusterLabs' older names. */
export function parameterNames(definition: AgentDefinition): (written: string) => string | undefined {
  let names = namesOf.get(definition);
  if (names === undefined) namesOf.set(definition, (names = readNames(definition)));
  return names;
}

/** An agent describes itself alike every time. */
const namesOf = new WeakMap<AgentDefinition, (written: string) => string | undefined>();
const secretsOf = new WeakMap<AgentDefinition, ReadonlySet<string>>();

/** Names of the agent's parameters that are secret. */
export function secretNames(definition: AgentDefinition): ReadonlySet<string> {
  let names = secretsOf.get(definition);
  if (names === undefined)
    secretsOf.set(definition, (names = new Set(definition.describe().flatMap((parameter) => (parameter.secret ? [parameter.name] : [])))));
  return names;
}

function readNames(definition: AgentDefinition): (written: string) => string | undefined {
  const known = new Map<string, string>();
  for (const { name, aliases = [] } of definition.describe()) for (const alias of aliases) known.set(spelling(alias), name);
  for (const { name } of definition.describe()) known.set(spelling(name), name);
  const own = new Map([...OWN_KEYS].map((key) => [spelling(key), key]));
  return (written) => {
    const plain = spelling(written);
    const legacy = Object.hasOwn(LEGACY, plain) ? LEGACY[plain] : undefined;
    return known.get(plain) ?? own.get(plain) ?? (legacy === undefined ? undefined : (known.get(legacy) ?? own.get(legacy)));
  };
}

/** Every name that a method of this agent may write, for the question what was meant. */
export function writableNames(definition: AgentDefinition): string[] {
  return [...definition.describe().flatMap(({ name, aliases = [] }) => [name, ...aliases]), ...OWN_KEYS, 'template', 'agent_name'];
}
