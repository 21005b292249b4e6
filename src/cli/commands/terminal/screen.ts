import type { Console } from './console.ts';
import { clippedLine } from './text.ts';

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const REST_OF_LINE = '\u001b[K';
const REST_OF_SCREEN = '\u001b[J';

/** A page that is drawn anew in place, in the terminal's second buffer: what stood there before comes back when it is left. */
export class Screen {
  readonly #console: Console;
  #page = '';

  constructor(console: Console) {
    this.#console = console;
    console.draw(ENTER);
  }

  show(page: string): void {
    this.#page = page;
    const { width = 80, height = 24 } = this.#console;
    const lines = page.split('\n');
    const room = height - 1;
    const fits = lines.length <= room;
    const shown = fits ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines: make the window higher, or leave out -w`];
    this.#console.draw(HOME + shown.map((line) => clippedLine(line, width) + REST_OF_LINE).join('\r\n') + REST_OF_SCREEN);
  }

  /** Leaves the last page behind. */
  leave(): void {
    this.#console.draw(LEAVE);
    if (this.#page !== '') this.#console.print(this.#page);
  }
}
