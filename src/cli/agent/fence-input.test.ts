import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { fromArguments, fromStdin } from './fence-input.ts';
import type { FenceOption } from './fence-options.ts';
import { anyText } from '../../../test/any-text.ts';

const option = (name: string, changes: Partial<FenceOption> = {}): FenceOption => ({
  name,
  aliases: [],
  type: 'string',
  required: false,
  description: name,
  ...changes,
});
const OPTIONS = [
  option('ip', { aliases: ['ipaddr'], letter: 'a' }),
  option('ipport', { letter: 'u' }),
  option('password', { aliases: ['passwd'], letter: 'p' }),
  option('power_timeout'),
  option('power_wait'),
  option('ssl_insecure', { type: 'boolean' }),
  option('verbose', { type: 'boolean', letter: 'v' }),
  option('quiet', { type: 'boolean', letter: 'q' }),
  option('action', { letter: 'o' }),
];
const stdin = (text: string): Record<string, string> => Object.fromEntries(fromStdin(text, OPTIONS).values);
const argv = (...words: string[]): Record<string, string> => Object.fromEntries(fromArguments(words, OPTIONS).values);

describe('options on stdin', () => {
  it.each([
    ['ip=a\nip=b', { ip: 'b' }],
    ['  ip=a  \n\n#ip=b\n', { ip: 'a' }],
    ['ipaddr=a', { ip: 'a' }],
    ['power-timeout=5', { power_timeout: '5' }],
    ['password="quoted"', { password: 'quoted' }],
    ['password=""quoted""', { password: '"quoted"' }],
    ['password="', { password: '"' }],
    ['password= a=b #c', { password: ' a=b #c' }],
    ['password=', { password: '' }],
    ['ssl_insecure=0', { ssl_insecure: 'no' }],
    ['ssl-insecure=TRUE', { ssl_insecure: 'yes' }],
    ['ip = a', {}],
  ])('%j', (text, values) => {
    expect(stdin(text)).toEqual(values);
  });

  it('that are unknown are named without their value, but for those that a fencer always sends', () => {
    expect(fromStdin('passwort=h1dden\nnodename=a\nport=a\nverbose=loud\nrubbish', OPTIONS).warnings).toEqual([
      "Parse error: Ignoring unknown option 'passwort'",
      "Parse error: Ignoring option 'verbose' because it does not have value",
      'Parse error: Ignoring a line that names no option',
    ]);
  });

  it('never show a further line of a key or of a password of two lines', () => {
    const lines = ['password=one', 'tw0secret', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'Zm9vYmFyYg==', 'a b=c'];
    const { warnings } = fromStdin(lines.join('\n'), OPTIONS);
    expect(new Set(warnings)).toEqual(new Set(['Parse error: Ignoring a line that names no option']));
  });

  it('never take the place of one another, whatever is written', () => {
    fc.assert(
      fc.property(anyText(), (value) => {
        const line = value.replaceAll(/[\n\r]/g, '');
        const { values } = fromStdin(`action=status\npassword=${line}\nip=a`, OPTIONS);
        expect([values.get('action'), values.get('ip')]).toEqual(['status', 'a']);
      }),
    );
  });
});

describe('options on the command line', () => {
  it.each([
    [['-a', 'x', '-o', 'off'], { ip: 'x', action: 'off' }],
    [['-ax', '-vqooff'], { ip: 'x', verbose: 'yes', quiet: 'yes', action: 'off' }],
    [['--ip=x', '--action', 'off'], { ip: 'x', action: 'off' }],
    [['--ipaddr', 'x'], { ip: 'x' }],
    [['--pass=a=b'], { password: 'a=b' }],
    [['--power_timeout=5', '--ssl-insecure'], { power_timeout: '5', ssl_insecure: 'yes' }],
    [['stray', '-o', 'on'], { action: 'on' }],
    [['-o', 'on', '-o', 'off'], { action: 'off' }],
    [['-o', 'on', '--', '-o', 'off'], { action: 'on' }],
    [['-p', '-v'], { password: '-v' }],
  ])('%j', (words, values) => {
    expect(argv(...words)).toEqual(values);
    expect(fromArguments(words, OPTIONS).failure).toBeUndefined();
  });

  it.each([
    [['-x'], 'Parse error: option -x not recognized'],
    [['--absent=secret'], 'Parse error: option --absent not recognized'],
    [['--power=5'], 'Parse error: option --power not a unique prefix'],
    [['--ssl-insecure=no'], 'Parse error: option --ssl-insecure must not have an argument'],
    [['-o'], 'Parse error: option -o requires argument'],
    [['--=x'], 'Parse error: option -- not recognized'],
  ])('%j fails', (words, failure) => {
    expect(fromArguments(words, OPTIONS).failure).toBe(failure);
  });
});
