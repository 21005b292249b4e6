import { fenceAgents } from './fence-program.ts';

/** What `nodefence agent` answers where it names no agent of ours. */
export interface Answer {
  out?: string;
  complaint?: string;
  exitCode: 0 | 1 | 2;
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h', 'help']);

function usage(): string {
  return [
    'Usage: nodefence agent <name> [options]',
    '',
    `One agent, called as a fence agent of ClusterLabs: options here, or as name=value lines on stdin. <name> is one of`,
    `  ${fenceAgents()
      .map(({ name }) => name)
      .join(', ')}`,
    '',
    'nodefence agent <name> --help shows the options of one of them; nodefence agents lists them with their links.',
    'Exit codes, as ClusterLabs has them: 0 done or on, 1 failed, 2 off (of a status). Wrong usage of an agent is 1: 2 would say off.',
    'Without the name of an agent it is 2, unless a status may have been asked for.',
    '',
  ].join('\n');
}

/** Undefined: an agent is named, and the call is its own. `asked`: what stands on stdin; undefined: it did not end. */
export async function answerPeople(
  name: string | undefined,
  parameters: readonly string[],
  asked: () => Promise<string | undefined>,
): Promise<Answer | undefined> {
  const wanted = (name ?? '').toLowerCase().replaceAll('_', '-');
  const names = fenceAgents().map((agent) => agent.name);
  if (names.includes(wanted)) return undefined;
  if (name !== undefined && HELP.has(name)) return { out: usage(), exitCode: 0 };
  const which = name === undefined ? 'name an agent' : `there is no agent ${name}`;
  // A fencer that has the name wrong and asks for a status would read a 2 as off.
  const isForStatus = [name ?? '', ...parameters].some((word) => /status/iu.test(word)) || (await asked())?.trim() !== '';
  return { complaint: `nodefence agent: ${which}: one of ${names.join(', ')}; nodefence agent --help says more`, exitCode: isForStatus ? 1 : 2 };
}
