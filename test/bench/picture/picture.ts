import type { Line, Run } from './terminal.ts';

const CHARACTER_WIDTH = 8.4;
const LINE_HEIGHT = 19;
const MARGIN = 18;
const BAR_HEIGHT = 30;
const COLOURS = { plain: '#d6deeb', red: '#ff6b6b', green: '#7ee787', yellow: '#f2cc60' } as const;
const DIM = '#8b98a9';
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/** A dark window with the lines as text; every run is placed by its column, so that any monospaced font keeps the alignment. */
export function pictureOf(lines: readonly Line[], columns: number): string {
  const width = Math.ceil(columns * CHARACTER_WIDTH + 2 * MARGIN);
  const height = BAR_HEIGHT + lines.length * LINE_HEIGHT + MARGIN;
  const buttons = ['#ff5f57', '#febc2e', '#28c840'].map((colour, index) => `<circle cx="${20 + index * 18}" cy="16" r="5.5" fill="${colour}"/>`);
  const rows = lines.flatMap((line, index) => (line.length === 0 ? [] : [row(line, BAR_HEIGHT + (index + 1) * LINE_HEIGHT - 2)]));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${FONT}" font-size="14">`,
    '<title>A failed node is isolated, proven off, its workload released, and brought back</title>',
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1420"/>`,
    ...buttons,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

function row(line: Line, y: number): string {
  return `<text y="${y}" xml:space="preserve">${line.map(span).join('')}</text>`;
}

function span({ column, text, bold, dim, colour }: Run): string {
  const x = (MARGIN + column * CHARACTER_WIDTH).toFixed(1);
  const fill = dim && colour === 'plain' ? DIM : COLOURS[colour];
  const length = (text.length * CHARACTER_WIDTH).toFixed(1);
  const weight = bold ? ' font-weight="bold"' : '';
  return `<tspan x="${x}" textLength="${length}" lengthAdjust="spacingAndGlyphs" fill="${fill}"${weight}>${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
