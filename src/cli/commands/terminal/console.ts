import { createInterface } from 'node:readline/promises';
import { COLOURED, PLAIN } from './ink.ts';
import type { Ink } from './ink.ts';
import { wrapped } from './text.ts';

/** Where a command writes to and asks. */
export interface Console {
  /** Results: stdout. Ends with a line break. */
  print(text: string): void;
  /** Progress, warnings, errors: stderr. */
  say(text: string): void;
  /** Exactly this text, for a screen that is redrawn. */
  draw(text: string): void;
  readonly ink: Ink;
  /** Results are read on a terminal. */
  readonly isTerminal: boolean;
  /** A person can be asked. */
  readonly canAsk: boolean;
  /** Cells of a line; undefined: whatever is needed. */
  readonly width: number | undefined;
  /** Lines of the screen; undefined without a terminal. */
  readonly height: number | undefined;
  /** The answer to a question; empty when there is none (end of input). */
  ask(question: string): Promise<string>;
}

const NARROWEST = 40;
const UNBROKEN = 10_000;

/** Prints a sentence, broken at the terminal's width. */
export function print(console: Console, text: string, paint: (text: string) => string = (plain) => plain): void {
  for (const line of wrapped(text, console.width ?? UNBROKEN, '  ').split('\n')) console.print(paint(line));
}

/** The process' own streams; colours only on a terminal and without NO_COLOR. */
export function processConsole(): Console {
  const { stdin, stdout, stderr, env } = process;
  const isColoured = stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return {
    print: (text) => void stdout.write(`${text}\n`),
    say: (text) => void stderr.write(`${text}\n`),
    draw: (text) => void stdout.write(text),
    ink: isColoured ? COLOURED : PLAIN,
    isTerminal: stdout.isTTY,
    canAsk: stdin.isTTY && stderr.isTTY,
    get width() {
      return stdout.isTTY ? Math.max(NARROWEST, stdout.columns || 80) : undefined;
    },
    get height() {
      return stdout.isTTY ? stdout.rows || 24 : undefined;
    },
    ask: async (question) => {
      const reader = createInterface({ input: stdin, output: stderr });
      const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
      try {
        return await Promise.race([reader.question(question), ended]);
      } finally {
        reader.close();
      }
    },
  };
}
