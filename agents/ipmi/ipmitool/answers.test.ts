import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { controlAnswer, guidAnswer, linesOf, quoted, rawAnswer, statusAnswer } from './answers.ts';

/** Control characters, escapes, pieces of the real words: what a bad line or a bad BMC may put together. */
const piece = fc.constantFrom(
  ' 00 00 00',
  ' 00',
  ' 01',
  'Chassis Power is off',
  '\r',
  '\n',
  '\u001b[?2004h',
  '\u001b',
  ' ',
  'Error: ',
  'ipmitool> ',
  'raw 0 1',
  '\u0007',
);
const text = fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 12 }).map((pieces) => pieces.join(''));

function failed(completion: string, words: string): string {
  return `Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x1 rsp=${completion}): ${words}`;
}

describe('the lines of a terminal', () => {
  it('lose escape sequences and carriage returns at their ends, nothing else', () => {
    expect(linesOf('\u001b[?2004la\r\n\r\r\nb c\r\n\u001b[1;31md\u001b[0m')).toEqual(['a', '', 'b c', 'd']);
    expect(linesOf('x\rChassis Power is off\r\n')).toEqual(['x\rChassis Power is off', '']);
    expect(linesOf('\u001bChassis Power is off')).toEqual(['Chassis Power is off']);
  });
});

describe('the answer to a status', () => {
  it.each([
    [' 01 00 00', 'on', 'Chassis Power is on'],
    [' 61 10 40 70', 'on', 'Chassis Power is on'],
    [' 60 00 00', 'off', 'Chassis Power is off'],
    [' 18 00 00', 'off', 'Chassis Power is off (power fault, power control fault)'],
    [' 01 00', 'unknown', 'Get Chassis Status answered with 2 bytes of 3'],
    [' 00 00 00 00 00', 'unknown', 'Get Chassis Status answered with 5 bytes of 3'],
    [failed('0xff', 'Unspecified error'), 'unknown', 'Get Chassis Power Status failed: Unspecified error (0xff)'],
    [failed('0xd4', 'Insufficient privilege level'), 'unknown', 'Get Chassis Power Status failed: Insufficient privilege level (0xd4)'],
    [failed('0x83', 'Unknown (0x83)'), 'unknown', 'Get Chassis Power Status failed: completion code (0x83)'],
  ])('%j is %s', (line, state, detail) => {
    expect(statusAnswer([line])).toMatchObject({ kind: 'state', state, detail });
  });

  it('is unknown where it is empty, which ipmitool itself takes for off', () => {
    expect(statusAnswer([''])).toMatchObject({ kind: 'state', state: 'unknown', isOdd: true });
  });

  it('is found among the lines that ipmitool adds to any answer', () => {
    const lines = ['Get HPM.x Capabilities request failed, compcode = d4', 'Unable to Get Channel Cipher Suites', '', ' 00 00 00'];
    expect(statusAnswer(lines)).toMatchObject({ kind: 'state', state: 'off' });
  });

  it('is silence when the BMC did not answer', () => {
    expect(statusAnswer(['Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x1)']).kind).toBe('silence');
  });

  it.each([
    [[' 00 00 00', ' 00 00 00']],
    [[' 00 00 00', ' 01 00 00']],
    [[' 00 00 00 ']],
    [['00 00 00']],
    [[' 00 00 0']],
    [[' 00 00 0g']],
    [['Error: 00 00 00']],
    [['Chassis Power is off']],
    [[' 00 00 00', 'Get HPM.x Capabilities request failed, compcode = d4x']],
    [[failed('0xff', '')]],
  ])('is odd for %j', (lines) => {
    expect(statusAnswer(lines).kind).toBe('odd');
  });

  it('is off for one whole line only, whatever a terminal shows', () => {
    fc.assert(
      fc.property(text, (shown) => {
        const lines = linesOf(shown);
        const answer = statusAnswer(lines);
        const isOff = answer.kind === 'state' && answer.state === 'off';
        expect(isOff).toBe(/^ [0-9a-f][02468ace](?: [0-9a-f]{2}){2,3}$/.test(lines.filter((line) => line !== '').join('\n')));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the answer to a set', () => {
  it.each([
    ['off', 'Chassis Power Control: Down/Off', 'accepted'],
    ['on', 'Chassis Power Control: Up/On', 'accepted'],
    ['off', 'Chassis Power Control: Up/On', 'unclear'],
    ['on', 'Chassis Power Control: Down/Off', 'unclear'],
    ['off', 'Chassis Power Control: Soft', 'unclear'],
    ['off', 'Set Chassis Power Control to Down/Off failed: Insufficient privilege level', 'refused'],
    ['on', 'Set Chassis Power Control to Up/On failed: Command not supported in present state', 'refused'],
    ['off', 'Set Chassis Power Control to Down/Off failed: Invalid data field in request', 'refused'],
    ['off', 'Set Chassis Power Control to Up/On failed: Insufficient privilege level', 'unclear'],
    ['off', 'Set Chassis Power Control to Down/Off failed: Node busy', 'unclear'],
    ['off', 'Set Chassis Power Control to Down/Off failed: Unspecified error', 'unclear'],
    ['off', 'Set Chassis Power Control to Down/Off failed: Command response could not be provided', 'unclear'],
    ['off', 'Unable to set Chassis Power Control to Down/Off', 'unclear'],
    ['off', '', 'unclear'],
  ] as const)('to %s: %j is %s', (wanted, line, kind) => {
    expect(controlAnswer([line], wanted).kind).toBe(kind);
  });

  it('is unclear when a refusal does not stand alone', () => {
    const refusal = 'Set Chassis Power Control to Down/Off failed: Insufficient privilege level';
    expect(controlAnswer([refusal, 'Chassis Power Control: Down/Off'], 'off').kind).toBe('unclear');
  });
});

describe('the answer to Get System GUID', () => {
  it('is 16 bytes on one line', () => {
    expect(guidAnswer([' a1 23 45 67 89 ab cd ef a1 23 45 67 89 00 00 01'])).toMatchObject({
      kind: 'guid',
      hexadecimal: 'a123456789abcdefa123456789000001',
    });
  });

  it.each([
    [' a1 23', 'odd'],
    [' a1 23 45 67 89 ab cd ef a1 23 45 67 89 00 00 01 02', 'odd'],
    ['Unable to send RAW command (channel=0x0 netfn=0x6 lun=0x0 cmd=0x37 rsp=0xc1): Invalid command', 'none'],
    ['Unable to send RAW command (channel=0x0 netfn=0x6 lun=0x0 cmd=0x37)', 'silence'],
    ['', 'odd'],
  ])('%j is %s', (line, kind) => {
    expect(guidAnswer([line]).kind).toBe(kind);
  });
});

describe('the answer to any raw command', () => {
  it('is what all its lines say together', () => {
    const line = ' 02 00 01 00 02 5b 5c 6d 65 20 00 04 13 02 6f 00';
    expect(rawAnswer([line, ' ff ff'])).toEqual({ kind: 'raw', completion: 0, data: Buffer.from(`${line} ff ff`.replaceAll(' ', ''), 'hex') });
    expect(rawAnswer([' ff ff', line]).kind).toBe('odd');
    expect(rawAnswer([failed('0xcb', 'Requested sensor, data, or record not found')])).toEqual({
      kind: 'raw',
      completion: 0xcb,
      data: Buffer.alloc(0),
    });
  });
});

describe('quoting', () => {
  it('keeps messages short and printable', () => {
    expect(quoted(['a\u0007b', '', 'c'])).toBe('a?b / c');
    expect(quoted([])).toBe('nothing');
    expect(quoted(['x'.repeat(1_000)])).toBe(`${'x'.repeat(200)}...`);
  });
});
