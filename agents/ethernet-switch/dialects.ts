import { portOfNxos } from '../shared/interfaces/nxos.ts';
import { portState, type AdminStatus, type OperStatus, type PortView } from '../shared/interfaces/port-view.ts';
import { lookup } from '../../src/domain/lookup.ts';

/** How one kind of switch is spoken to over its command line: all of it data, so that another one is another entry. */
export interface Dialect {
  /** The first prompt; its first group is what every later prompt begins with. */
  firstPrompt: RegExp;
  /** Prompts where things are looked at, and where they are changed. */
  prompt(host: string): RegExp;
  configPrompt(host: string): RegExp;
  /** Typed once after the login: no pages, no wrapped lines. */
  prepare: readonly string[];
  show(port: string): string;
  /** The port in an answer to `show`; undefined where it is none. */
  read(lines: readonly string[]): PortView | undefined;
  /** Up to the line that changes something, that line, and the way back. */
  change(port: string, wanted: 'open' | 'closed'): { enter: readonly string[]; change: string; leave: readonly string[] };
  /** A line of an answer that refuses. */
  refusal: RegExp;
  /** A line without which the change was not taken. */
  confirmation?: RegExp;
  /** Knows `enable`. */
  hasEnable: boolean;
}

export type DialectName = 'ios' | 'nxos' | 'eos' | 'junos';

/** IOS shortens long names in configuration mode, to 20 characters at least. */
const SHORT_NAME = 20;

function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

const CISCO_HEAD = /^(\S+) is (administratively down|up|down|reset), line protocol is ([a-z]+)(?: \([^)]*\))?\s*$/;
const CISCO_DESCRIPTION = /^\s+Description: "?(.*?)"?\s*$/;
const LINE_PROTOCOL: Readonly<Record<string, OperStatus>> = {
  up: 'up',
  down: 'down',
  lowerlayerdown: 'lowerLayerDown',
  notpresent: 'notPresent',
  dormant: 'dormant',
  testing: 'testing',
  unknown: 'unknown',
};

function onlyMatch(lines: readonly string[], head: RegExp): RegExpExecArray | undefined {
  const found = lines.map((line) => head.exec(line)).filter((match) => match !== null);
  return found.length === 1 ? found[0] : undefined;
}

function firstGroup(lines: readonly string[], pattern: RegExp): string | undefined {
  return lines.map((line) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
}

function portOfCisco(lines: readonly string[]): PortView | undefined {
  const head = onlyMatch(lines, CISCO_HEAD);
  if (head === undefined) return undefined;
  const [text, name = '', line = '', protocol = ''] = head;
  const admin: AdminStatus | undefined = line === 'administratively down' ? 'down' : line === 'reset' ? undefined : 'up';
  const oper = lookup(LINE_PROTOCOL, protocol);
  const description = firstGroup(lines, CISCO_DESCRIPTION);
  return { name, description, state: portState(admin, oper), hasLink: oper === 'up', detail: text.trim() };
}

const JUNOS_HEAD = /^Physical interface: (\S+), (Enabled|Administratively down), Physical link is (Up|Down)\s*$/;
const JUNOS_DESCRIPTION = /^ {2}Description: (.*?)\s*$/;

function portOfJunos(lines: readonly string[]): PortView | undefined {
  const head = onlyMatch(lines, JUNOS_HEAD);
  if (head === undefined) return undefined;
  const [text, name = '', admin, link] = head;
  return {
    name,
    description: firstGroup(lines, JUNOS_DESCRIPTION),
    state: portState(admin === 'Enabled' ? 'up' : 'down', link === 'Up' ? 'up' : 'down'),
    hasLink: link === 'Up',
    detail: text.trim(),
  };
}

const cisco: Dialect = {
  firstPrompt: /^([A-Za-z0-9][\w.:@/-]*)[>#] ?$/,
  prompt: (host) => new RegExp(`^${escaped(host)}[>#] ?$`),
  configPrompt: (host) => new RegExp(`^${escaped(host.slice(0, SHORT_NAME))}[\\w.:@/-]*\\(config[^)]*\\)# ?$`),
  prepare: ['terminal length 0', 'terminal width 511'],
  show: (port) => `show interfaces ${port}`,
  read: portOfCisco,
  change: (port, wanted) => ({
    enter: ['configure terminal', `interface ${port}`],
    change: wanted === 'closed' ? 'shutdown' : 'no shutdown',
    leave: ['end'],
  }),
  refusal: /^\s*(?:%|Command authorization failed|ERROR:|Error:)/,
  hasEnable: true,
};

const DISABLE: Readonly<Record<'open' | 'closed', string>> = { closed: 'set', open: 'delete' };

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  ios: cisco,
  eos: { ...cisco, prepare: ['terminal length 0', 'terminal width 32767'] },
  nxos: { ...cisco, show: (port) => `show interface ${port}`, read: portOfNxos },
  junos: {
    firstPrompt: /^([\w.-]+@[\w.:-]+)> ?$/,
    prompt: (host) => new RegExp(`^${escaped(host)}> ?$`),
    configPrompt: (host) => new RegExp(`^${escaped(host)}# ?$`),
    prepare: ['set cli screen-length 0', 'set cli screen-width 0'],
    show: (port) => `show interfaces ${port} | no-more`,
    read: portOfJunos,
    // A private candidate: a commit never takes along what somebody else was writing, and ends with the session.
    change: (port, wanted) => ({
      enter: ['configure private', `${DISABLE[wanted]} interfaces ${port} disable`],
      change: 'commit',
      leave: ['exit'],
    }),
    refusal: /^\s*(?:error:|syntax error|unknown command|missing argument|commit failed|configuration check-out failed|invalid )/i,
    confirmation: /^commit complete\s*$/,
    hasEnable: false,
  },
};
