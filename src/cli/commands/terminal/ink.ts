/** Colours, or none. */
export interface Ink {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
}

function code(start: number, end: number): (text: string) => string {
  return (text) => `\u001b[${start}m${text}\u001b[${end}m`;
}

const asIs = (text: string): string => text;

export const PLAIN: Ink = { bold: asIs, dim: asIs, good: asIs, bad: asIs, warn: asIs };

export const COLOURED: Ink = { bold: code(1, 22), dim: code(2, 22), good: code(32, 39), bad: code(31, 39), warn: code(33, 39) };
