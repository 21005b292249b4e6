/** Letters that are two cells wide on a terminal: East Asian wide and fullwidth, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}]/u;
/** Control characters, and those that turn the direction of what follows: a text of the API may hold them, a terminal must not obey them. */
const COMMANDS = /[\p{Cc}\u200e\u200f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });
const COLOUR = /(\u001b\[[\d;]*m)/u;

/** A text of the API as it may be written to a terminal: one line, and nothing in it is obeyed. */
export function harmless(text: string): string {
  return text
    .replaceAll(/[\t\n\r]+/gu, ' ')
    .replaceAll(COMMANDS, (character) => `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`);
}

/** Cells that a text without colours takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) width += cellsOf(segment);
  return width;
}

function cellsOf(segment: string): number {
  if (ZERO_WIDTH.test(segment)) return 0;
  return WIDE.test(segment) || segment.includes('\ufe0f') ? 2 : 1;
}

/** Cut to so many cells, with `…` where something is missing. */
export function clipped(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    const cells = cellsOf(segment);
    if (used + cells > width - 1) break;
    kept += segment;
    used += cells;
  }
  return `${kept}…`;
}

/** As `clipped`, for a line that carries colours; they end with it. */
export function clippedLine(line: string, width: number): string {
  let shown = 0;
  let text = '';
  for (const part of line.split(COLOUR)) {
    if (COLOUR.test(part)) {
      text += part;
      continue;
    }
    const piece = clipped(part, Math.max(0, width - shown));
    text += piece;
    shown += widthOf(piece);
    if (piece !== part) return text.includes('\u001b') ? `${text}\u001b[0m` : text;
  }
  return text;
}

/** Filled with blanks up to so many cells. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Broken at blanks into lines of at most `width` cells; `indent` stands before every line but the first. */
export function wrapped(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const room = width - (lines.length === 0 ? 0 : widthOf(indent));
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join(`\n${indent}`);
}

/** `1 pod`, `3 pods`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
