import { childrenNamed, parseXml } from '../shared/xml.ts';
import type { XmlElement } from '../shared/xml.ts';

export type FenceParameterType = 'boolean' | 'string' | 'second' | 'integer' | 'select';

/** One parameter under its newest name. */
export interface FenceParameter {
  name: string;
  /** Older names that mean the same, and those of other versions of the library. */
  aliases: readonly string[];
  required: boolean;
  type: FenceParameterType;
  default: string | undefined;
  /** Of a `select`. */
  options: readonly string[];
  description: string;
}

/** What a fence agent says of itself (fence-agents lib/metadata.rng). */
export interface FenceMetadata {
  name: string;
  description: string;
  parameters: ReadonlyMap<string, FenceParameter>;
  actions: ReadonlySet<string>;
  /** It cuts a way to storage or network, not power: no reboot, or unfencing when the node joins. */
  isFabric: boolean;
  /** Its `on` has to run on the node itself. */
  isOnTarget: boolean;
}

const PARAMETERS_MAX = 200;
const DESCRIPTION_MAX = 300;
const TYPES: ReadonlySet<string> = new Set(['boolean', 'string', 'second', 'integer', 'select']);

/** Newest name, then older ones, of parameters that changed names between versions of the library. */
const RENAMED: readonly (readonly string[])[] = [
  ['ip', 'ipaddr'],
  ['username', 'login'],
  ['password', 'passwd'],
  ['plug', 'port'],
  ['ssh', 'secure'],
  ['command_prompt', 'cmd_prompt'],
  ['use_sudo', 'sudo'],
  ['password_script', 'passwd_script'],
  ['debug_file', 'debug'],
];

/** Reads the XML of an agent's `metadata` action; undefined where it is none. */
export function parseMetadata(xml: string): FenceMetadata | undefined {
  const root = parseXml(xml.trim());
  if (root?.name !== 'resource-agent') return undefined;
  const elements = childrenNamed(childrenNamed(root, 'parameters')[0], 'parameter').filter(({ attributes }) => attributes['name'] !== undefined);
  const actions = childrenNamed(childrenNamed(root, 'actions')[0], 'action');
  if (elements.length > PARAMETERS_MAX || actions.length === 0) return undefined;
  const names = new Set(actions.flatMap(({ attributes }) => attributes['name'] ?? []));
  const on = actions.find(({ attributes }) => attributes['name'] === 'on')?.attributes ?? {};
  return {
    name: root.attributes['name'] ?? '',
    description: root.attributes['shortdesc'] ?? '',
    parameters: parametersOf(elements),
    actions: names,
    isFabric: on['automatic'] === '1' || (names.has('on') && !names.has('reboot')),
    isOnTarget: on['on_target'] === '1',
  };
}

function parametersOf(elements: readonly XmlElement[]): Map<string, FenceParameter> {
  const present = new Set(elements.map(({ attributes }) => attributes['name'] ?? ''));
  const successors = new Map(elements.flatMap(({ attributes: { name = '', obsoletes } }) => (obsoletes === undefined ? [] : [[obsoletes, name]])));
  const parameters = new Map<string, FenceParameter>();
  for (const element of elements) {
    const { name = '', required } = element.attributes;
    // A name that another one has taken the place of is that one's alias.
    if (successors.has(name) && successors.get(name) !== name) continue;
    const content = childrenNamed(element, 'content')[0];
    const type = content?.attributes['type'] ?? 'string';
    parameters.set(name, {
      name,
      aliases: aliasesOf(name, present, successors),
      required: required === '1',
      type: TYPES.has(type) ? (type as FenceParameterType) : 'string',
      default: content?.attributes['default'],
      options: childrenNamed(content, 'option').flatMap(({ attributes }) => attributes['value'] ?? []),
      description: plain(childrenNamed(element, 'shortdesc')[0]?.text ?? ''),
    });
  }
  return parameters;
}

function aliasesOf(name: string, present: ReadonlySet<string>, successors: ReadonlyMap<string, string>): string[] {
  const older = [...successors].filter(([, newer]) => newer === name).map(([old]) => old);
  const others = RENAMED.find((names) => names.includes(name)) ?? [];
  return [...new Set([...older, ...others.filter((other) => !present.has(other))])].filter((alias) => alias !== name);
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, DESCRIPTION_MAX);
}
