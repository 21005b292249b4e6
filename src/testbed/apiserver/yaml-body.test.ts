import { describe, expect, it } from 'vitest';
import { readYaml } from './yaml-body.ts';

/** Read by kubectl 1.32 and 1.36 (`kubectl annotate --local -o json`). */
const AS_KUBECTL: Readonly<Record<string, unknown>> = {
  on: true,
  Off: false,
  YES: true,
  n: false,
  y: true,
  oN: 'oN',
  '~': null,
  null: null,
  '017': 15,
  '0o17': 15,
  '0O17': 15,
  '-0o17': -15,
  '0b11': 3,
  '0B1': 1,
  '08': 8,
  '0x1F': 31,
  '0x_1': 1,
  '0o1_7': 15,
  '1_000': 1000,
  '1_0e+3': 10_000,
  '1_0.5': 10.5,
  '5.': 5,
  '.5': 0.5,
  '1e3': 1000,
  '+1': 1,
  _1: '_1',
  '1:30': '1:30',
  '2001-12-14': '2001-12-14',
  '2001-12-14t21:59:43.10-05:00': '2001-12-14t21:59:43.10-05:00',
  '=': '=',
  '10m': '10m',
  '1.2.3': '1.2.3',
  '-': '-',
  '18446744073709551616': 18_446_744_073_709_552_000,
  '"on"': 'on',
  "'017'": '017',
  '!!str on': 'on',
};

describe('a body of YAML', () => {
  it.each(Object.entries(AS_KUBECTL).filter(([text]) => text !== '-'))('%s is what kubectl reads', (text, value) => {
    expect(readYaml(`value: ${text}\nlist:\n  - ${text}\nflow: [${text}]\n`)).toEqual({ value, list: [value], flow: [value] });
  });

  it('has text for keys, whatever they look like', () => {
    expect(readYaml('on: 1\n017: 2\n1.5: 3\n"y": 4\n')).toEqual({ true: 1, 15: 2, 1.5: 3, y: 4 });
  });

  it('keeps text blocks, aliases, merges and what has no value', () => {
    expect(readYaml('a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n  z: 2\nd: |\n  on\ne:\nf: []\n')).toEqual({
      a: { x: 1 },
      b: { x: 1 },
      c: { x: 1, z: 2 },
      d: 'on\n',
      e: null,
      f: [],
    });
  });

  it.each(['a: .inf', 'a: .nan', '~: 1', '[a]: 1', 'a: [', 'a: !thing 1', 'a: 1\n---\nb: 1\n'])('%j is refused', (text) => {
    expect(() => readYaml(text)).toThrow();
  });
});
