import type { Ink } from '../terminal/ink.ts';
import { padded, wrapped } from '../terminal/text.ts';

/** How a page is set: colours, and the width of its lines when they are broken. */
export interface Sheet {
  ink: Ink;
  width: number | undefined;
  /** Milliseconds since 1970. */
  nowMs: number;
}

const UNBROKEN = 10_000;

/** A sentence, broken at the width of the page. */
export function paragraph(sheet: Sheet, text: string, indent = ''): string {
  return indent + wrapped(text, (sheet.width ?? UNBROKEN) - indent.length, indent);
}

/** `  name   text`, the text broken under itself. `paint` colours the text. */
export function entry(sheet: Sheet, name: string, text: string, nameWidth: number, paint: (text: string) => string = (plain) => plain): string {
  const indent = ' '.repeat(nameWidth + 4);
  const lines = wrapped(text, Math.max(24, (sheet.width ?? UNBROKEN) - indent.length)).split('\n');
  return lines.map((line, index) => (index === 0 ? `  ${sheet.ink.dim(padded(name, nameWidth))}  ` : indent) + paint(line)).join('\n');
}

export function heading(sheet: Sheet, text: string): string {
  return `\n${sheet.ink.bold(text)}`;
}
