import type { Act } from './page.ts';
import type { Answer, Site } from './site.ts';

type Command = Extract<Act, { kind: 'command' }>;

/** A command that goes on: `hour: terminal NAME WORD`, before it, says until which word. */
interface Terminal {
  name: string;
  word: string;
}

export interface Played {
  answers: readonly { act: Command; answer: Answer }[];
  /** The page with what was said this time, and how long it took. */
  inPage: (page: string) => string;
}

/** Up to this event the page is replayed by its test. */
export const REPLAYED = 'replayed';

/** Plays the acts in their order; `tell` hears of each. */
export async function played(site: Site, acts: readonly Act[], tell: (words: string) => void = () => undefined): Promise<Played> {
  const answers: { act: Command; answer: Answer }[] = [];
  let terminal: Terminal | undefined;
  for (const act of acts) {
    if (act.kind === 'file') site.write(act.name, act.text);
    else if (act.kind === 'event' && act.words[0] === 'terminal') terminal = { name: act.words[1] ?? '', word: act.words.slice(2).join(' ') };
    else if (act.kind === 'event' && act.words[0] === REPLAYED) continue;
    else if (act.kind === 'event') {
      tell(`-- ${act.words.join(' ')}`);
      await site.happen(act.words);
    } else {
      tell(`$ ${act.command}`);
      const answer = terminal === undefined ? await site.run(act.command) : await site.begin(terminal.name, act.command, terminal.word);
      terminal = undefined;
      tell(`${answer.said.trimEnd()}\n(exit ${answer.code}, ${(answer.ms / 1000).toFixed(1)} s)`);
      answers.push({ act, answer });
    }
  }
  return { answers, inPage: (page) => rewritten(page, answers) };
}

function rewritten(page: string, answers: Played['answers']): string {
  const lines = page.split('\n');
  for (const { act, answer } of [...answers].reverse()) {
    const length = act.said === '' ? 0 : act.said.split('\n').length;
    const said = answer.said.trimEnd();
    const command = `$ ${act.command}  # ${(answer.ms / 1000).toFixed(1)} s`;
    lines.splice(act.line, 1 + length, command, ...(said === '' ? [] : said.split('\n').map((line) => line.trimEnd())));
  }
  return lines.join('\n');
}
