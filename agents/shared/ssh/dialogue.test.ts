import { Duplex, PassThrough } from 'node:stream';

import type { ClientChannel } from 'ssh2';
import { describe, expect, it } from 'vitest';

import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { Call } from '../call.ts';
import { Dialogue } from './dialogue.ts';
import { testTarget } from './testing/target.ts';
import { deviceMessage } from './words.ts';

/** A terminal that answers whatever is typed with one text, and then hangs up. */
function terminal(answer: (typed: string) => string): ClientChannel {
  const channel = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      channel.push(answer(chunk.toString().trim()));
      channel.push(null);
      done();
    },
    autoDestroy: true,
  });
  channel.once('end', () => channel.destroy());
  return Object.assign(channel, { stderr: new PassThrough() }) as unknown as ClientChannel;
}

describe('a dialogue with a terminal', () => {
  it('tells no second password that the device quotes before it hangs up', async () => {
    const call = new Call(new SystemClock(), testTarget(), 'enable');
    const dialogue = new Dialogue(
      terminal((typed) => `% Unknown command: ${typed}\r\n`),
      ['first'],
    );
    const error: unknown = await dialogue.answer(call, 'tr0ub4dor', /#$/).catch((reason: unknown) => reason);
    call.release();
    expect(String(error)).toContain('Unknown command: ***');
    expect(String(error)).not.toContain('tr0ub4dor');
  });

  it('strikes out a password with several blanks in it', () => {
    expect(deviceMessage('bad password: open  sesame !', ['open  sesame'])).toBe('bad password: *** !');
  });
});

describe('an answer at a prompt', () => {
  async function asked(answer: (typed: string) => string, before = ''): Promise<string> {
    const call = new Call(new SystemClock(), testTarget(), 'show');
    const channel = terminal(answer);
    const dialogue = new Dialogue(channel, []);
    try {
      if (before !== '') {
        (channel as unknown as Duplex).push(before);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const { lines } = await dialogue.ask(call, 'show port 7', /^switch#$/);
      return lines.join();
    } catch (error) {
      return String(error);
    } finally {
      call.release();
    }
  }

  it('is what follows the echo of the line', async () => {
    expect(await asked((typed) => `${typed}\r\nport 7 is down\r\nswitch#`)).toBe('port 7 is down');
  });

  it('that begins with the echo of another line belongs to something else, and is none', async () => {
    expect(await asked(() => 'show port 8\r\nport 8 is down\r\nswitch#')).toContain('its answer to show port 7 begins with show port 8');
  });

  it('is not asked for while the device still says something of its own accord', async () => {
    expect(await asked((typed) => `${typed}\r\nport 7 is down\r\nswitch#`, 'port 8 is down\r\n')).toContain('it said more after its prompt');
  });
});
