import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { notifiedByConfig, notifiedByUnit } from '../checks/kdump.ts';
import { difference, notifyUnit, otherPort, withControllers } from './kdump-config.ts';

const HAND = `# where dumps go
path /var/crash
core_collector makedumpfile -l --message-level 7 -d 31

#fence_kdump_nodes node1 node2
`;
const edited = (text: string, ...controllers: string[]): string => {
  const result = withControllers(text, controllers);
  if ('problem' in result) throw new Error(result.problem);
  return result.text;
};

describe('kdump.conf', () => {
  it('has the controllers at its end, and every line that was there', () => {
    expect(edited(HAND, '192.0.2.1', '192.0.2.2')).toBe(
      `${HAND}# nodefence node kdump-setup added: 192.0.2.1 192.0.2.2\nfence_kdump_nodes 192.0.2.1 192.0.2.2\n`,
    );
  });

  it('keeps the hosts that somebody else wrote, in their line, with what is said of them', () => {
    const text = `path /var/crash\nfence_kdump_nodes pcmk-1 192.0.2.1  # of pacemaker\ndefault reboot\n`;
    expect(edited(text, '192.0.2.1', '192.0.2.2')).toBe(
      'path /var/crash\n# nodefence node kdump-setup added: 192.0.2.2\nfence_kdump_nodes pcmk-1 192.0.2.1 192.0.2.2 # of pacemaker\ndefault reboot\n',
    );
  });

  it('loses controllers that are none any more, and no host of somebody else', () => {
    const first = edited('fence_kdump_nodes pcmk-1\n', '192.0.2.1', '192.0.2.2');
    expect(notifiedByConfig(edited(first, '192.0.2.3'))).toEqual(['pcmk-1', '192.0.2.3']);
  });

  it('stays as it is where the controllers stand there already, by whoever', () => {
    expect(edited('fence_kdump_nodes 192.0.2.2 192.0.2.1\n', '192.0.2.1')).toBe('fence_kdump_nodes 192.0.2.2 192.0.2.1\n');
  });

  it('without a line end gets one', () => {
    expect(edited('path /var/crash', '192.0.2.1')).toMatch(/^path \/var\/crash\n# .*\nfence_kdump_nodes 192\.0\.2\.1\n$/);
    expect(edited('', '192.0.2.1')).toMatch(/^# .*\nfence_kdump_nodes 192\.0\.2\.1\n$/);
  });

  it('that names hosts twice is for a person: kdump refuses it', () => {
    expect(withControllers('fence_kdump_nodes a\nfence_kdump_nodes b\n', ['c'])).toEqual({
      problem: 'fence_kdump_nodes stands there 2 times, which kdump refuses: leave one',
    });
  });

  it('is the same after a second time, notifies all, and has every other line, whatever it is', () => {
    const lines = fc.array(
      fc.constantFrom('path /var/crash', '#fence_kdump_nodes x', '', '  ', 'fence_kdump_args -p 7410', 'raw /dev/sda # it', 'ü'),
    );
    const hosts = fc.uniqueArray(fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', 'controller'), { minLength: 1 });
    const before = fc.tuple(lines, fc.option(hosts), lines).map(([above, named, below]) => ({
      text: [...above, ...(named === null ? [] : [`fence_kdump_nodes ${named.join(' ')}`]), ...below, ''].join('\n'),
      foreign: named ?? [],
    }));
    fc.assert(
      fc.property(before, hosts, hosts, ({ text, foreign }, controllers, later) => {
        const once = edited(text, ...controllers);
        expect(edited(once, ...controllers)).toBe(once);
        const twice = edited(once, ...later);
        expect(new Set(notifiedByConfig(twice))).toEqual(new Set([...foreign, ...later]));
        const others = (one: string): string[] => one.split('\n').filter((line) => !/^(?:fence_kdump_nodes|# nodefence node)/.test(line));
        expect(others(twice)).toEqual(others(text));
      }),
    );
  });

  it('that sends to another port is told', () => {
    expect([otherPort('fence_kdump_args -p 7411 -f auto\n'), otherPort('fence_kdump_args -p 7410\n'), otherPort('#fence_kdump_args -p 1\n')]).toEqual(
      ['7411', undefined, undefined],
    );
  });
});

it('the unit of Debian notifies whom the check of kdump finds there', () => {
  expect(notifiedByUnit(notifyUnit('/usr/sbin/fence_kdump_send', ['192.0.2.1', '2001:db8::1']))).toEqual(['192.0.2.1', '2001:db8::1']);
});

describe('a difference', () => {
  it('shows what goes and what comes', () => {
    expect(difference('/etc/x', 'a\nb\nc\nd\n', 'a\nb\nB\nd\n')).toBe('--- /etc/x\n+++ /etc/x\n b\n-c\n+B\n d\n');
    expect(difference('/etc/x', undefined, 'a\n')).toBe('--- /dev/null\n+++ /etc/x\n+a\n');
    expect(difference('/etc/x', 'a\n', 'a\n')).toBe('');
    expect(difference('/etc/x', 'a\na\n', 'a\n')).toBe('--- /etc/x\n+++ /etc/x\n a\n-a\n');
  });
});
