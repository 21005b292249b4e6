import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StatusSocket } from '../../src/node/shell/status-socket.ts';
import { until } from '../scenarios/waiting.ts';
import { Browser } from './browser.ts';
import type { Page } from './browser.ts';
import { Cockpit, cockpitProblem } from './cockpit.ts';
import { HOSTILE, KEPT } from './status.ts';

const unheard = (error: Error): void => {
  throw error;
};
const TIMEOUT_MS = 120_000;
const SHOWN_MS = 40_000;
const problem = cockpitProblem();

describe.skipIf(problem !== undefined)(
  `the page of a node in Debian’s Cockpit${problem === undefined ? '' : ` (${problem})`}`,
  { timeout: TIMEOUT_MS },
  () => {
    let cockpit: Cockpit;
    let browser: Browser;
    let page: Page;
    let daemon: StatusSocket | undefined;
    let said: object = KEPT;

    beforeAll(async () => {
      cockpit = await Cockpit.start();
      browser = await Browser.start();
      mkdirSync(dirname(cockpit.socket));
      daemon = await StatusSocket.listen(cockpit.socket, () => said, unheard);
      page = await browser.open(cockpit.url);
    }, TIMEOUT_MS);

    afterAll(async () => {
      await browser.close();
      await daemon?.close();
      await cockpit.close();
    });

    const textOf = (id: string): Promise<string> =>
      page.evaluate<string>(`(() => { const place = document.getElementById('${id}'); return place.hidden ? '' : place.innerText; })()`);

    /** Asks at once and again until the page says it: what is under way may have been asked before. */
    async function says(id: string, words: RegExp): Promise<void> {
      let text = '';
      const isSo = async (): Promise<true | undefined> => {
        text = await page
          .evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
          .then(async () => textOf(id))
          .catch((error: unknown) => `not loaded yet: ${String(error)}`);
        return words.test(text) || undefined;
      };
      await until(String(words), isSo, SHOWN_MS).catch(() => undefined);
      expect(text).toMatch(words);
    }

    it('shows what nodefence node status knows, by a policy that lets no inline script or style run', async () => {
      await says('headline', /^This node is kept up\.$/);
      await says('values', /worker-1[^]*192\.0\.2\.1:7411, 192\.0\.2\.2:7411[^]*armed[^]*1 storage target answered \(8 s ago\)/);
      expect(page.complaints).toEqual([]);
      const policy = (await fetch(cockpit.url)).headers.get('content-security-policy');
      expect(policy).toMatch(/script-src 'self'/);
      expect(policy).not.toContain('unsafe');
      await page.evaluate(`document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.taken = 1' }))`);
      expect(await page.evaluate('typeof window.taken')).toBe('undefined');
      expect(page.complaints.join()).toContain('Content Security Policy');
    });

    it('follows it: a node that is cut off', async () => {
      said = { ...KEPT, phase: 'isolated', keptForSeconds: -9, problems: ['no controller is heard'] };
      await says('headline', /^This node is cut off.* It has 1 problem\.$/);
      await says('values', /^Problems\s+no controller is heard/);
    });

    it('shows what a node says as text, whatever it is, and in any width', async () => {
      said = HOSTILE;
      await says('headline', /which this page does not know/);
      await says('values', /<img src=x onerror="window\.taken=1"><script>/);
      expect(await page.evaluate(`document.querySelectorAll('main img, main script, main b').length`)).toBe(0);
      expect(await page.evaluate('typeof window.taken')).toBe('undefined');
      for (const width of [320, 1_280]) {
        await page.picture(width, 800, 'light');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    });

    it('is dark or light as Cockpit is', async () => {
      const background = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      await page.picture(800, 600, 'dark');
      expect(await background()).toBe('rgb(21, 21, 21)');
      await page.evaluate(`(localStorage.setItem('shell:style', 'light'), dispatchEvent(new Event('cockpit-style')))`);
      expect(await background()).toBe('rgb(245, 245, 245)');
    });

    it('says that no daemon runs, keeps what was known, and says when that is old', async () => {
      said = KEPT;
      await says('headline', /^This node is kept up/);
      await daemon?.close();
      daemon = undefined;
      await says('failure', /^No node daemon runs on this machine\. If it should: systemctl status nodefence-node/);
      expect(await textOf('values')).toContain('worker-1');
      expect(await textOf('headline')).toBe('Before: This node is kept up.');
      expect(await textOf('age')).toMatch(/^Old: all of this is from \d+ s ago/);
      await page.evaluate(`{ const now = performance.now.bind(performance); performance.now = () => now() + 60_000; }`);
      await says('age', /^Old: all of this is from (6\d|7\d|8\d) s ago, and may have changed\.$/);
      daemon = await StatusSocket.listen(cockpit.socket, () => said, unheard);
      await says('age', /^This page asks every 5 seconds\.$/);
      expect(await textOf('failure')).toBe('');
    });

    it.each([
      ['echo "nodefence: /run/nodefence/node.sock: only the user of the daemon may ask it: try sudo" >&2; exit 1', /^You are not permitted/],
      ['echo "<b>Error</b>: something else" >&2; exit 1', /^The status could not be read: <b>Error<\/b>: something else/],
      ['echo "no JSON"', /^What answered is no status of a node daemon\./],
      ['exec sleep 60', /^The node daemon did not answer in time\./],
    ])('says why there is no answer: %s', async (line, words) => {
      cockpit.useScript(line);
      await says('failure', words);
    });

    it('says that the program is missing, and nothing of a node of which it knows nothing', async () => {
      cockpit.removeProgram();
      page = await browser.open(cockpit.url);
      await says('failure', /^The program nodefence was not found on this machine\./);
      expect([await textOf('headline'), await textOf('values'), await textOf('age')]).toEqual(['Nothing is known of this node.', '', '']);
    });
  },
);
