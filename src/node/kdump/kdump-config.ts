/** What `nodefence node kdump-setup` writes, as text. Pure. */

const OPTION = 'fence_kdump_nodes';
/** Above the line, it names the hosts that are ours: those may go again, and no others. */
const ADDED = '# nodefence node kdump-setup added: ';
export const WRITTEN = '# Written by `nodefence node kdump-setup`; edits are lost.';
/** As kdump does without `fence_kdump_args`. */
const SEND_ARGUMENTS = '-p 7410 -f auto -c 0 -i 10';
export const PORT = '7410';

/** RHEL's kdump.conf with these controllers in it. Every other line, and every host that somebody else wrote, stays. */
export function withControllers(text: string, controllers: readonly string[]): { text: string } | { problem: string } {
  const lines = text.split('\n');
  const ours = lines.filter((line) => line.startsWith(ADDED)).flatMap((line) => wordsOf(line.slice(ADDED.length)));
  const kept = lines.filter((line) => !line.startsWith(ADDED));
  const standing = kept.flatMap((line, index) => (isOption(line) ? [index] : []));
  if (standing.length > 1) return { problem: `${OPTION} stands there ${standing.length} times, which kdump refuses: leave one` };
  const [at] = standing;
  const line = at === undefined ? '' : (kept[at] ?? '');
  const [code = '', ...comment] = line.split('#');
  const foreign = wordsOf(code)
    .slice(1)
    .filter((host) => !ours.includes(host));
  const added = controllers.filter((host, index) => !foreign.includes(host) && controllers.indexOf(host) === index);
  const behind = comment.length === 0 ? '' : ` #${comment.join('#')}`;
  const written = [...(added.length === 0 ? [] : [`${ADDED}${added.join(' ')}`]), `${OPTION} ${[...foreign, ...added].join(' ')}${behind}`];
  if (at !== undefined) return { text: [...kept.slice(0, at), ...written, ...kept.slice(at + 1)].join('\n') };
  const before = kept.at(-1) === '' ? kept.slice(0, -1) : kept;
  return { text: [...before, ...written, ''].join('\n') };
}

/** An earlier call wrote it, or into it. */
export function isOurs(text: string): boolean {
  return text.startsWith(WRITTEN) || text.split('\n').some((line) => line.startsWith(ADDED));
}

/** Another port than the controllers listen on, as `fence_kdump_args` names it; undefined: the same. */
export function otherPort(text: string): string | undefined {
  const line = text.split('\n').find((one) => wordsOf(one.split('#')[0] ?? '')[0] === 'fence_kdump_args');
  const port = /(?:^|\s)-p\s*(\d+)/u.exec(line ?? '')?.[1];
  return port === PORT ? undefined : port;
}

/** Debian's crash kernel boots the node's own root: a unit there sends the notices. */
export function notifyUnit(sender: string, controllers: readonly string[]): string {
  return `${WRITTEN}
[Unit]
Description=tells the nodefence controllers that this node saves its memory
DefaultDependencies=no
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${sender} ${SEND_ARGUMENTS} ${controllers.join(' ')}
`;
}

export function notifyDropIn(unit: string): string {
  return `${WRITTEN}
[Unit]
Wants=${unit}
`;
}

/** Lines that go and come, with one line around them. Empty where nothing changes. */
export function difference(path: string, before: string | undefined, after: string): string {
  if (before === after) return '';
  const [old, young] = [before === undefined ? [] : linesOf(before), linesOf(after)];
  let start = 0;
  while (start < Math.min(old.length, young.length) && old[start] === young[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, young.length) - start && old.at(-1 - end) === young.at(-1 - end)) end += 1;
  return [
    `--- ${before === undefined ? '/dev/null' : path}`,
    `+++ ${path}`,
    ...old.slice(Math.max(0, start - 1), start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...young.slice(start, young.length - end).map((line) => `+${line}`),
    ...young.slice(young.length - end, young.length - end + 1).map((line) => ` ${line}`),
    '',
  ].join('\n');
}

function isOption(line: string): boolean {
  return wordsOf(line.split('#')[0] ?? '')[0] === OPTION;
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

function linesOf(text: string): string[] {
  return text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n');
}
