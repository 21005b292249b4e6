import { describe, expect, it } from 'vitest';
import type { Console } from './console.ts';
import { PLAIN } from './ink.ts';
import { Screen } from './screen.ts';

function terminal(height: number): { console: Console; drawn: string[]; printed: string[] } {
  const drawn: string[] = [];
  const printed: string[] = [];
  const console: Console = {
    print: (text) => printed.push(text),
    say: () => undefined,
    draw: (text) => drawn.push(text),
    ink: PLAIN,
    isTerminal: true,
    canAsk: false,
    width: 20,
    height,
    ask: () => Promise.resolve(''),
  };
  return { console, drawn, printed };
}

describe('a page that is redrawn', () => {
  it('stands in a buffer of its own, and leaves the last page and the cursor behind', () => {
    const { console, drawn, printed } = terminal(10);
    const screen = new Screen(console);
    screen.show('first');
    screen.show('second\na line that is longer than the window');
    screen.leave();
    expect(drawn[0]).toBe('\u001b[?1049h\u001b[?25l');
    expect(drawn[2]).toBe('\u001b[Hsecond\u001b[K\r\na line that is long…\u001b[K\u001b[J');
    expect(drawn.at(-1)).toBe('\u001b[?25h\u001b[?1049l');
    expect(printed).toEqual(['second\na line that is longer than the window']);
  });

  it('never scrolls: what does not fit is counted', () => {
    const { console, drawn } = terminal(5);
    new Screen(console).show(['1', '2', '3', '4', '5', '6'].join('\n'));
    const lines = drawn[1]?.split('\r\n') ?? [];
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toMatch(/^… 3 more lines/u);
  });
});
