export interface Style {
  bold: boolean;
  dim: boolean;
  colour: 'plain' | 'red' | 'green' | 'yellow';
}

/** Characters of one style, side by side. */
export interface Run extends Style {
  column: number;
  text: string;
}

export type Line = readonly Run[];

const PLAIN: Style = { bold: false, dim: false, colour: 'plain' };
const COLOURS: Readonly<Record<string, Style['colour']>> = { '31': 'red', '32': 'green', '33': 'yellow', '39': 'plain' };
/** Of the rest of a line that is too long for the picture. */
const HANGING_COLUMNS = 4;

/** The lines of a captured terminal with their SGR attributes (ECMA-48), wrapped between words; empty ones at both ends are cut. */
export function linesOf(capture: string, columns: number, isOmitted: (text: string) => boolean): Line[] {
  let style = PLAIN;
  const lines: Line[] = [];
  for (const raw of capture.split('\n')) {
    const cells: { character: string; style: Style }[] = [];
    for (const part of raw.split(/(\u001b\[[\d;]*m)/)) {
      if (part.startsWith('\u001b')) style = styled(style, part.slice(2, -1));
      else for (const character of part) cells.push({ character, style });
    }
    const plain = cells.map(({ character }) => character).join('');
    if (isOmitted(plain)) continue;
    const kept = cells.slice(0, plain.trimEnd().length);
    for (let at = 0, indent = 0; at === 0 || at < kept.length; indent = HANGING_COLUMNS) {
      const end = breakAt(plain, at, kept.length, columns - indent);
      lines.push(runsOf(kept.slice(at, end), indent));
      at = Math.max(end, 1);
      while (kept[at]?.character === ' ') at += 1;
    }
  }
  const isFull = (line: Line): boolean => line.length > 0;
  return lines.slice(lines.findIndex(isFull), lines.findLastIndex(isFull) + 1);
}

function breakAt(plain: string, from: number, length: number, columns: number): number {
  if (length - from <= columns) return length;
  const space = plain.lastIndexOf(' ', from + columns);
  return space > from ? space : from + columns;
}

function styled(style: Style, codes: string): Style {
  return codes.split(';').reduce((before, code): Style => {
    if (code === '' || code === '0') return PLAIN;
    if (code === '1') return { ...before, bold: true };
    if (code === '2') return { ...before, dim: true };
    if (code === '22') return { ...before, bold: false, dim: false };
    const colour = COLOURS[code];
    return colour === undefined ? before : { ...before, colour };
  }, style);
}

function runsOf(cells: readonly { character: string; style: Style }[], indent: number): Run[] {
  const runs: Run[] = [];
  let last: Style | undefined;
  for (const [index, { character, style }] of cells.entries()) {
    const run = runs.at(-1);
    if (run !== undefined && style === last) run.text += character;
    else runs.push({ ...style, column: index + indent, text: character });
    last = style;
  }
  return runs.filter(({ text }) => text.trim() !== '');
}
