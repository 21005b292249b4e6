/** What became of one mutant. */
export interface Hunted {
  /** Where its defect stands; undefined: it is built into a simulated world. */
  file: string | undefined;
  /** What noticed it, from the first word on `search`, `test`, or the words of a simulated world; undefined: nothing did. */
  killer: string | undefined;
}

const SIMULATION = 'simulation';

/** `agents/redfish/session.ts` → `agents/redfish`; of `src` two folders below it where there are two: `src/controllers/probes`. */
export function folderOf(file: string | undefined): string {
  if (file === undefined) return SIMULATION;
  const folders = file.split('/').slice(0, -1);
  const isOfController = folders[0] === 'src' && folders[1] === 'controllers';
  return folders.slice(0, isOfController ? 3 : 2).join('/');
}

/** Each folder with its mutants planted and killed, and by what. */
export function tableOf(rows: readonly Hunted[]): string[] {
  const folders = Map.groupBy(rows, ({ file }) => folderOf(file));
  const width = Math.max(0, ...[...folders.keys()].map((folder) => folder.length));
  return [...folders]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([folder, members]) => {
      const killed = members.flatMap(({ killer }) => (killer === undefined ? [] : [killer]));
      return `${folder.padEnd(width)}  ${members.length} planted, ${killed.length} killed${byWhat(killed)}`;
    });
}

function byWhat(killers: readonly string[]): string {
  const kinds = Map.groupBy(killers, (killer) => /^(?:search|test|deadline)(?=\W)/.exec(killer)?.[0] ?? SIMULATION);
  const words = [...kinds].sort(([one], [other]) => (one < other ? -1 : 1)).map(([kind, members]) => `${members.length} by ${kind}`);
  return words.length === 0 ? '' : `: ${words.join(', ')}`;
}
