import { describe, expect, it } from 'vitest';
import { HOSTILE, KEPT } from './status.ts';

interface View {
  headline: { level: string; text: string };
  sections: { title: string; items?: string[]; rows?: { label: string; text: string; level?: string }[] }[];
}
interface Script {
  viewOf(answer: string): View;
  failureOf(error: unknown): string;
}

const script = (await import(new URL('../../cockpit/nodefence-node/view.js', import.meta.url).href)) as Script;

function viewOf(change: object): View {
  return script.viewOf(JSON.stringify({ ...KEPT, ...change }));
}

function textOf({ sections }: View, label: string): string | undefined {
  return sections.flatMap(({ rows = [] }) => rows).find((row) => row.label === label)?.text;
}

describe('what the page of a node says', () => {
  it.each([
    [{}, 'good', /^This node is kept up\.$/],
    [{ phase: 'off' }, 'neutral', /takes nothing down/],
    [{ phase: 'waiting' }, 'warning', /nobody has kept it up/],
    [{ phase: 'isolated' }, 'bad', /is cut off: it takes itself down unless/],
    [{ phase: 'stopping' }, 'bad', /stops its pods\. There is no way back/],
    [{ phase: 'down' }, 'bad', /goes down/],
    [{ phase: 'constructor' }, 'warning', /the phase constructor, which this page does not know/],
    [{ areGrantsEnded: true }, 'bad', /have ended the grants of this boot/],
    [{ problems: ['the attestation cannot be written'] }, 'warning', /kept up\. It has 1 problem\.$/],
    [{ checks: [{ name: 'storage', health: 'problem', sentence: 'no answer', secondsAgo: 1 }] }, 'warning', /It has 1 problem\.$/],
    [{ phase: 'down', problems: ['a', 'b'] }, 'bad', /goes down.* It has 2 problems\.$/],
  ])('of %j is %s', (change, level, text) => {
    const { headline } = viewOf(change);
    expect(headline.level).toBe(level);
    expect(headline.text).toMatch(text);
  });

  it('tells grants, peers, watchdog, checks and problems', () => {
    const view = viewOf({ keptForSeconds: -75, problems: ['the watchdog is held by another program'], refusedDatagrams: { forged: 3 } });
    expect(view.sections[0]).toEqual({ title: 'Problems', items: ['the watchdog is held by another program'] });
    const texts = ['Last grant', 'Kept up', 'Peers that may vouch', 'Refused', 'Resets the machine', 'storage', 'bmc'].map((label) =>
      textOf(view, label),
    );
    expect(texts).toEqual([
      '1 s ago',
      'not since 75 s ago',
      'worker-2 (rack-b); worker-3, not attested yet',
      '3 datagrams: forged',
      'when it was not fed for 10 s',
      '1 storage target answered (8 s ago)',
      'not checked: ipmitool is not installed (3 min ago)',
    ]);
  });

  it('tells orders of the controllers, and what became of its registrations', () => {
    const view = viewOf({
      orders: [{ action: 'restart-kubelet', state: 'done', words: 'it runs again' }],
      unfence: { state: 'waiting', detail: 'no permit yet' },
    });
    expect([textOf(view, 'Order'), textOf(view, 'Registrations')]).toEqual(['restart-kubelet: done: it runs again', 'waiting (no permit yet)']);
  });

  it('passes over fields that it does not know, and lacks what an older daemon does not say', () => {
    expect(viewOf({ somethingNew: [{ what: 'ever' }] })).toEqual(viewOf({}));
    const { headline, sections } = script.viewOf(JSON.stringify({ node: 'a', phase: 'kept', watchdog: { state: 'none' } }));
    expect(headline.level).toBe('good');
    expect(textOf({ headline, sections }, 'Attested')).toMatch(/^never/);
  });

  it('shows nothing that cannot be seen, and no end of anything', () => {
    const texts: string[] = [];
    JSON.stringify(viewOf(HOSTILE), (_key, value: unknown) => (typeof value === 'string' ? texts.push(value) : value));
    expect(texts.length).toBeGreaterThan(60);
    expect(texts.filter((text) => /[\p{Cc}\p{Bidi_Control}]/u.test(text))).toEqual([]);
    expect(viewOf(HOSTILE).sections[0]?.items).toHaveLength(51);
    expect(textOf(viewOf({ node: 'n'.repeat(5_000) }), 'Node')).toHaveLength(1_001);
  });

  it.each(['', 'null', '[]', '{}', '{"node":1,"phase":"kept","watchdog":{}}', '{"node":"a","phase":"kept"}', 'nodefence: what'])(
    'takes %j for no status',
    (answer) => {
      let words = '';
      try {
        script.viewOf(answer);
      } catch (error) {
        words = script.failureOf(error);
      }
      expect(words).toMatch(/^What answered is no status of a node daemon\./);
    },
  );
});

describe('what it says where there is no answer', () => {
  it.each([
    [{ problem: 'not-found' }, /was not found on this machine/],
    [{ problem: 'access-denied' }, /not permitted.*administrative access/],
    [{ problem: null, message: 'nodefence: /run/nodefence/node.sock: only the user of the daemon may ask it: try sudo' }, /not permitted/],
    [
      { problem: null, message: 'nodefence: /run/nodefence/node.sock: no node daemon runs here (systemctl status nodefence-node)' },
      /^No node daemon runs/,
    ],
    [{ problem: 'timeout' }, /did not answer in time/],
    [{ problem: 'disconnected' }, /connection to this machine was lost/],
    [{ problem: null, message: '' }, /could not be read: no reason was given$/],
    [undefined, /could not be read/],
  ])('%j', (error, words) => {
    expect(script.failureOf(error)).toMatch(words);
  });
});
