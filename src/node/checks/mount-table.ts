import { textOf } from './reading.ts';

/** One line of a table of mounts, of proc_pid_mountinfo(5). */
export interface Mount {
  /** Major and minor number of the file system: the same wherever it is mounted, in whatever container. */
  device: string;
  point: string;
  type: string;
  source: string;
  /** Of the file system itself: a mount may be read-only where the file system is not. */
  options: readonly string[];
}

/** A node with hundreds of pods has a table of hundreds of kilobytes. */
const TABLE_MAX_BYTES = 4_194_304;

/** `why`: it could not be read whole. */
export async function mountsAt(root: string, path: string): Promise<{ mounts: Mount[] } | { why: string }> {
  const table = await textOf(root, path, TABLE_MAX_BYTES);
  if (table === undefined) return { why: `/${path} is not there` };
  if (Buffer.byteLength(table) >= TABLE_MAX_BYTES) return { why: 'the table of mounts is too long' };
  return { mounts: mountsIn(table) };
}

export function mountsIn(table: string): Mount[] {
  return table.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ', 2);
    const [, , device = '', , point] = before.split(' ');
    const [type = '', source = '', options = ''] = after.split(' ');
    return point === undefined ? [] : [{ device, point: plain(point), type, source: plain(source), options: options.split(',') }];
  });
}

/** The mount that a path lies on: of those that cover it the longest, and of several at one point the last. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  const covers = ({ point }: Mount): boolean => point === '/' || path === point || path.startsWith(`${point}/`);
  return mounts
    .filter(covers)
    .reduce<Mount | undefined>((best, mount) => (best !== undefined && best.point.length > mount.point.length ? best : mount), undefined);
}

/** Blanks and the like are written as `\040`. */
function plain(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/gu, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
