const WIDTH = 520;
const HEIGHT = 260;
const MARGIN = { left: 64, right: 20, top: 40, bottom: 44 };
const LABEL_WIDTH = 40;
const FONT = "system-ui, 'DejaVu Sans', sans-serif";
const [INK, FAINT, LINE] = ['#57606a', '#8c959f', '#1f6feb'];

export interface Graph {
  title: string;
  /** Of the x axis and of the values. */
  across: string;
  unit: string;
  points: readonly (readonly [number, number])[];
}

/** A line through its points from nought, in colours that stand on light and dark paper. */
export function graphOf({ title, across, unit, points }: Graph): string {
  const [xMax, yMax] = [Math.max(...points.map(([x]) => x)), niceAbove(Math.max(...points.map(([, y]) => y)))];
  const x = (value: number): number => MARGIN.left + (value / xMax) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (value: number): number => HEIGHT - MARGIN.bottom - (value / yMax) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const text = (at: readonly [number, number], words: string, more = ''): string =>
    `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" fill="${INK}" ${more}>${escaped(words)}</text>`;
  const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => share * yMax);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="${FONT}" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    text([MARGIN.left, 22], title, 'font-size="14" font-weight="bold"'),
    ...steps.map((step) => `<path d="M${x(0)} ${y(step).toFixed(1)}H${x(xMax)}" stroke="${FAINT}" stroke-opacity="0.35"/>`),
    ...steps.map((step) => text([MARGIN.left - 8, y(step) + 4], shown(step), 'text-anchor="end"')),
    ...points.map(([value], index) =>
      text(
        [x(value), HEIGHT - MARGIN.bottom + 18],
        value.toLocaleString('en'),
        `text-anchor="${anchorOf(
          points.map(([px]) => x(px)),
          index,
        )}"`,
      ),
    ),
    text([x(xMax), HEIGHT - 8], across, 'text-anchor="end"'),
    text([8, 22], unit),
    `<polyline points="${points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' ')}" fill="none" stroke="${LINE}" stroke-width="2"/>`,
    ...points.map(([px, py]) => `<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="3.5" fill="${LINE}"/>`),
    ...points.map(([px, py]) => text([x(px), y(py) - 8], shown(py), 'text-anchor="middle" font-size="11"')),
    '</svg>',
    '',
  ].join('\n');
}

/** Labels of neighbours that stand close go apart. */
function anchorOf(across: readonly number[], index: number): 'start' | 'middle' | 'end' {
  const [before = -Infinity, own = 0, after = Infinity] = [across[index - 1], across[index], across[index + 1]];
  if (after - own < LABEL_WIDTH) return 'end';
  return own - before < LABEL_WIDTH ? 'start' : 'middle';
}

/** 1, 2 or 5 times a power of ten, so that the quarters can be read. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 4, 5, 8, 10].map((factor) => factor * power).find((nice) => nice >= value * 1.1) ?? 20 * power;
}

function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
