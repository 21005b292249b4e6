import type { AgentDefinition, ParameterDescription } from '../../ports/agents.ts';
import { lookup } from '../../domain/lookup.ts';

/** One option of our agents as programs of ClusterLabs are called: a key on stdin, a long and a short option on the command line. */
export interface FenceOption {
  /** With underscores, as on stdin; the long option has dashes. */
  name: string;
  aliases: readonly string[];
  /** The older name that ClusterLabs' own agents have beside it. */
  obsoletes?: string;
  letter?: string;
  /** A boolean has no value on the command line. */
  type: 'boolean' | 'string' | 'integer' | 'second';
  required: boolean;
  default?: string;
  description: string;
}

export const POWER_TIMEOUT_SECONDS = 40;

/** As the library of ClusterLabs has them. */
const LETTERS: Readonly<Record<string, string>> = {
  action: 'o',
  ip: 'a',
  ipport: 'u',
  username: 'l',
  password: 'p',
  plug: 'n',
  ssl: 'z',
  ssh: 'x',
  identity_file: 'k',
  command_prompt: 'c',
  method: 'm',
  inet4_only: '4',
  inet6_only: '6',
  cipher: 'C',
  privlvl: 'L',
  auth: 'A',
  lanplus: 'P',
  snmp_version: 'd',
  community: 'c',
  snmp_auth_prot: 'b',
  snmp_sec_level: 'E',
  snmp_priv_prot: 'B',
  snmp_priv_passwd: 'P',
  switch: 's',
  separator: 'C',
  quiet: 'q',
  verbose: 'v',
  version: 'V',
  help: 'h',
};

const OBSOLETES: Readonly<Record<string, string>> = {
  ip: 'ipaddr',
  username: 'login',
  password: 'passwd',
  plug: 'port',
  ssh: 'secure',
  command_prompt: 'cmd_prompt',
};

/** Agents behind whose address is one machine: a cluster manager shall not give them the node's name as the plug. */
const ONE_MACHINE: ReadonlySet<string> = new Set(['ipmi', 'redfish']);

/** Options that an agent of one machine does not know: a fencer sends its node's name as a plug all the same, which is left aside. */
const OF_PLUGS: ReadonlySet<string> = new Set(['plug', 'plug_separator', 'separator']);
const OF_OUTLETS: ReadonlySet<string> = new Set(['outlet']);

/**
 * Agents of one machine that switch outlets where `resource=outlet` says so. Their option is no `plug`, for what a fencer sends as that unasked is the name
 * of its node: with pacemaker, `pcmk_host_argument=outlet`.
 */
const WITH_OUTLETS: ReadonlySet<string> = new Set(['redfish']);

export function showsPlugs(definition: AgentDefinition): boolean {
  return !ONE_MACHINE.has(definition.name);
}

/** Every option of an agent, no two with one letter. */
export function optionsOf(definition: AgentDefinition): FenceOption[] {
  const own = definition.describe().map(optionOf);
  const names = new Set(own.map(({ name }) => name));
  const isShown = (name: string): boolean =>
    OF_OUTLETS.has(name) ? WITH_OUTLETS.has(definition.name) : showsPlugs(definition) || !OF_PLUGS.has(name);
  const options = [...own, ...commonOptions(definition).filter(({ name }) => !names.has(name) && isShown(name))];
  const taken = new Set<string>();
  return options.map((option) => {
    const letter = lookup(LETTERS, option.name);
    if (letter === undefined || taken.has(letter)) return option;
    taken.add(letter);
    return { ...option, letter };
  });
}

function optionOf({ name, required, description, default: usual, aliases: written = [] }: ParameterDescription): FenceOption {
  // What a fencer sends as `port` is the name of its node.
  const aliases = written.filter((alias) => alias !== 'port');
  const plain = name.replaceAll('-', '_');
  const isBoolean = usual === 'yes' || usual === 'no';
  const obsoletes = lookup(OBSOLETES, plain);
  return {
    name: plain,
    aliases: [...new Set([...aliases, ...(obsoletes === undefined ? [] : [obsoletes])].map((alias) => alias.replaceAll('-', '_')))].filter(
      (alias) => alias !== plain,
    ),
    ...(obsoletes === undefined ? {} : { obsoletes }),
    type: isBoolean ? 'boolean' : /^\d+$/.test(usual ?? '') ? 'integer' : 'string',
    required,
    ...(usual === undefined ? {} : { default: isBoolean ? (usual === 'yes' ? '1' : '0') : usual }),
    description,
  };
}

function commonOptions({ kind }: AgentDefinition): FenceOption[] {
  const option = (name: string, type: FenceOption['type'], description: string, usual?: string): FenceOption => ({
    name,
    aliases: [],
    type,
    required: false,
    description,
    ...(usual === undefined ? {} : { default: usual }),
  });
  return [
    option('action', 'string', 'What to do.', defaultAction(kind)),
    { ...option('plug', 'string', 'Outlet, port or machine; several are divided by plug_separator.'), aliases: ['port'], obsoletes: 'port' },
    option('outlet', 'string', 'Outlets to switch where resource is outlet, divided by a comma.'),
    option('plug_separator', 'string', 'Divides several plugs of one node.', ','),
    option('separator', 'string', 'Divides the fields of a list.', ','),
    option(
      'power_timeout',
      'second',
      'Seconds for all of an off, an on, a status or a list: its end has to be read back by then.',
      String(POWER_TIMEOUT_SECONDS),
    ),
    option('delay', 'second', 'Seconds to wait before an off or a reboot.', '0'),
    option('quiet', 'boolean', 'Say nothing on stderr.'),
    option('verbose', 'boolean', 'Accepted; nothing more is said.'),
    option('version', 'boolean', 'Show the version and end.'),
    option('help', 'boolean', 'Show the options and end.'),
  ];
}

export function defaultAction(kind: AgentDefinition['kind']): string {
  return kind === 'fabric' ? 'off' : 'reboot';
}

/** Actions that an agent has, in the order in which they are shown. */
export function actionsOf(definition: AgentDefinition): string[] {
  return [
    'on',
    'off',
    ...(definition.kind === 'power' ? ['reboot'] : []),
    'status',
    ...(showsPlugs(definition) ? ['list', 'list-status'] : []),
    ...['monitor', 'metadata', 'manpage', 'validate-all'],
    ...(definition.actions.includes('diag') ? ['diag'] : []),
  ];
}
