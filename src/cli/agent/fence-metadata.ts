import { escapeXml } from '../../../agents/shared/xml.ts';
import type { AgentDefinition } from '../../ports/agents.ts';
import { actionsOf, optionsOf } from './fence-options.ts';
import type { FenceOption } from './fence-options.ts';

export const PROGRAM_PREFIX = 'fence_nodefence_';
const VENDOR = 'https://github.com/ClusterLabs/fence-agents/blob/main/doc/FenceAgentAPI.md';

function longOf({ name, letter, type }: FenceOption): string {
  const long = `--${name.replaceAll('_', '-')}${type === 'boolean' ? '' : `=[${name}]`}`;
  return letter === undefined ? long : `-${letter}, ${long}`;
}

/** The answer to `metadata`, by fence-agents' schema metadata.rng. */
export function metadataOf(definition: AgentDefinition): string {
  const name = `${PROGRAM_PREFIX}${definition.name.replaceAll('-', '_')}`;
  const parameters = optionsOf(definition).flatMap((option) => [
    parameterXml(option, option.name, option.obsoletes === undefined ? '' : ` obsoletes="${option.obsoletes}"`),
    ...(option.obsoletes === undefined ? [] : [parameterXml(option, option.obsoletes, ' deprecated="1"')]),
  ]);
  const actions = actionsOf(definition).map((action) =>
    action === 'on' ? `<action name="on" automatic="${definition.kind === 'fabric' ? 1 : 0}"/>` : `<action name="${action}"/>`,
  );
  return [
    '<?xml version="1.0" ?>',
    `<resource-agent name="${name}" shortdesc="Fence agent ${escapeXml(definition.name)} of nodefence">`,
    `<longdesc>${escapeXml(longdescOf(definition))}</longdesc>`,
    `<vendor-url>${VENDOR}</vendor-url>`,
    '<parameters>',
    ...parameters,
    '</parameters>',
    '<actions>',
    ...actions.map((action) => `\t${action}`),
    '</actions>',
    '</resource-agent>',
    '',
  ].join('\n');
}

function longdescOf({ name, kind }: AgentDefinition): string {
  const off = kind === 'fabric' ? 'closed' : 'off';
  return `${PROGRAM_PREFIX}${name.replaceAll('-', '_')} believes only what the device shows: a machine or way is ${off} when three reads in a row over three seconds say so. Booleans are read as they are written: no means no.`;
}

function parameterXml(option: FenceOption, name: string, age: string): string {
  const usual = option.default === undefined ? '' : ` default="${escapeXml(option.default)}"`;
  return [
    `\t<parameter name="${name}" unique="0" required="${option.required ? 1 : 0}"${age}>`,
    `\t\t<getopt mixed="${escapeXml(longOf(option))}" />`,
    `\t\t<content type="${option.type}"${usual} />`,
    `\t\t<shortdesc lang="en">${escapeXml(option.description)}</shortdesc>`,
    '\t</parameter>',
  ].join('\n');
}

/** The answer to `--help`. */
export function usageOf(definition: AgentDefinition): string {
  const rows = optionsOf(definition).map((option) => [longOf(option), option.description] as const);
  const width = Math.max(...rows.map(([option]) => option.length));
  return [
    'Usage:',
    `\t${PROGRAM_PREFIX}${definition.name.replaceAll('-', '_')} [options]`,
    `Actions: ${actionsOf(definition).join(', ')}`,
    'Options (or name=value lines on stdin, where no option is given; a password belongs there):',
    ...rows.map(([option, description]) => `   ${option.padEnd(width)}  ${description}`),
    '',
  ].join('\n');
}

/** The answer to `manpage`: a page for man(1). */
export function manpageOf(definition: AgentDefinition): string {
  const name = `${PROGRAM_PREFIX}${definition.name.replaceAll('-', '_')}`;
  const plain = (text: string): string =>
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replaceAll(/^([.'])/gm, '\\&$1');
  const rows = optionsOf(definition).flatMap((option) => ['.TP', `.B ${plain(longOf(option))}`, plain(option.description)]);
  return [
    `.TH ${name.toUpperCase()} 8 "" nodefence "Fence agents"`,
    '.SH NAME',
    `${plain(name)} \\- fence agent ${plain(definition.name)} of nodefence`,
    '.SH DESCRIPTION',
    plain(longdescOf(definition)),
    '.SH ACTIONS',
    plain(actionsOf(definition).join(', ')),
    '.SH PARAMETERS',
    ...rows,
    '',
  ].join('\n');
}
