// A terminal as an SVG picture: `tmux capture-pane -e -p -J` on stdin, the picture on stdout. How docs/images/drill.svg was made:
//   tmux capture-pane -e -p -J | node test/bench/picture/main.ts --omit '^· (delays|watch)' > docs/images/drill.svg
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { pictureOf } from './picture.ts';
import { linesOf } from './terminal.ts';

const { values } = parseArgs({ options: { omit: { type: 'string' }, columns: { type: 'string', default: '124' } } });
const omitted = values.omit === undefined ? undefined : new RegExp(values.omit);
const lines = linesOf(await text(process.stdin), Number(values.columns), (line) => omitted?.test(line) === true);
process.stdout.write(pictureOf(lines, Number(values.columns)));
