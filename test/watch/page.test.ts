// The page of hca watch in a headless browser. The board runs as slowly as the page requests, in a separate
// process.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { HcaProcess } from '../helpers/hca_process.ts';
import { requireTool } from '../helpers/tools.ts';
import { Browser, browserTool } from './browser.ts';

const small = 'queuePairs=64&pageTableEntries=1024&memoryKeys=256';
/** Milliseconds: browser and board need a processor each. */
const timeLimit = 240_000;
/** Limit of the bytes that the page loads. */
const mostBytes = 100_000;

let hca: HcaProcess;
let browser: Browser | undefined;

const text = (selector: string) => `document.querySelector(${JSON.stringify(selector)}).innerText`;
const page = (): Browser => browser!;
const clock = (): Promise<string> => page().value<string>(text('#device'));

beforeAll(async () => {
  hca = new HcaProcess(['watch', '--device', `emu:?progress=stepped&${small}`], 'file');
  await hca.hasSaid('Ctrl+C');
}, timeLimit);

/** Reloads the page. */
beforeEach(async (context) => {
  requireTool(browserTool, context);
  browser ??= await Browser.start();
  await browser.screen(1440, 1200);
  await browser.open(/http:\S+/.exec(hca.out)![0]);
  await browser.until("document.querySelector('#status').dataset.state === 'live'");
  await browser.until("!document.querySelector('#slow').hidden"); // the page has received the facts of the board
}, timeLimit);

afterAll(async () => {
  await browser?.close();
});

describe('the page of hca watch', { timeout: timeLimit }, () => {
  it('shows commands in flight, latencies, functions and queue pairs', async () => {
    await page().until("document.querySelectorAll('[data-stage=virtual] .cells i').length === 256");
    await page().until("document.querySelectorAll('[data-stage=physical] .cells i').length === 72");
    await page().until("document.querySelector('[data-stage=physical] .cells i.on')");
    await page().until("document.querySelector('#latencies tbody tr:nth-child(2)')");
    await page().until(`Number(${text('#latencies tbody tr:nth-child(2) td:nth-child(2)')}) > 5`);
    expect(await page().value(text('#latencies tbody tr:nth-child(1)'))).toMatch(
      /^doorbell\s+\d+(\s+[\d.]+ (ns|µs)){4}$/,
    );
    expect(await page().value(text('#functions tbody'))).toMatch(/^0\s+0\s+0/);
    await page().until("document.querySelectorAll('#queue-pairs tbody tr').length === 4");
    expect(await page().value(text('#queue-pairs tbody tr'))).toMatch(/^0x\w+\s+1\s+low\s+RC\s+readyToSend/);
    expect(await page().value("document.querySelectorAll('#histogram canvas, #history canvas').length")).toBe(
      2,
    );
    expect(page().complaints).toEqual([]); // neither an exception nor a violation of its content security policy
  });

  it('loads less than 100 KB, all from its own server', async () => {
    const loaded = await page().value<{ name: string; decodedBodySize: number }[]>(
      "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(({ name, decodedBodySize }) => ({ name, decodedBodySize }))",
    );
    const address = /http:\S+/.exec(hca.out)![0];
    expect(loaded.length).toBeGreaterThan(7);
    expect(loaded.filter(({ name }) => !name.startsWith(address) && !name.startsWith('data:'))).toEqual([]);
    const bytes = loaded.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0);
    expect(bytes).toBeGreaterThan(60_000);
    expect(bytes).toBeLessThan(mostBytes);
  });

  it('steps, and changes the pace, by keyboard', async () => {
    await page().press('s', 'KeyS');
    await page().until(`${text('#pace-text')} === 'stands still'`);
    await page().until(`${text('#device')}.includes(' of its time')`);
    const stood = await clock();
    for (let step = 0; step < 30; step++) await page().press('s', 'KeyS');
    await page().until(`${text('#device')} !== ${JSON.stringify(stood)}`);
    await page().value("document.querySelector('#pace').focus()");
    await page().press('ArrowRight', 'ArrowRight', 39);
    await page().until(`${text('#pace-text')} === '1.0 steps/s'`);
    await page().value('document.activeElement.blur()');
    for (let press = 0; press < 6; press++) await page().press('+', 'Equal', 187);
    await page().until(`${text('#pace-text')} === '32 steps/s'`);
  });

  it('pauses and resumes', async () => {
    await page().press('p', 'KeyP');
    await page().until(`${text('#status')} === 'paused'`);
    expect(await page().value("document.querySelector('#pause').getAttribute('aria-pressed')")).toBe('true');
    // The board does not step while no page observes it.
    const stood = await clock();
    await page().click('#pause');
    await page().until(`${text('#status')} === 'live' && ${text('#device')} !== ${JSON.stringify(stood)}`);
  });

  it('explains why a queue pair waits, by mouse and keyboard', async () => {
    await page().until("document.querySelector('#queue-pairs button')");
    await page().click('#queue-pairs tbody tr:nth-child(2) td:nth-child(5)');
    await page().until(`/^Queue pair 0x\\w+:\\n+\\S/.test(${text('#why')})`);
    expect(await page().value("document.querySelectorAll('#why li').length")).toBeGreaterThan(0);
    await page().value("document.querySelector('#queue-pairs tbody tr[aria-selected] button').focus()");
    await page().press('Enter', 'Enter', 13);
    await page().until(`${text('#why')}.includes('No queue pair is chosen')`);
  });

  it('filters by function and by level', async () => {
    await page().until("document.querySelectorAll('#functions tbody th').length > 7");
    await page().value(
      "(() => { const select = document.querySelector('#function'); select.value = '3'; select.dispatchEvent(new Event('change')); })()",
    );
    await page().until(
      `!/^[012]\\s/m.test(${text('#functions tbody')}) && /^3\\s/.test(${text('#functions tbody')})`,
    );
    await page().until("document.querySelectorAll('#queue-pairs tbody tr').length === 1");
    await page().value(
      "(() => { const select = document.querySelector('#level'); select.value = '0'; select.dispatchEvent(new Event('change')); })()",
    );
    await page().until(`${text('#queue-pairs tbody')} === 'There are no queue pairs.'`);
  });

  it('follows the light or dark theme of the system, or the chosen one', async () => {
    const background = 'getComputedStyle(document.body).backgroundColor';
    const light = await page().value<string>(background);
    await page().screen(1440, 1200, 'dark');
    await page().until(`${background} !== ${JSON.stringify(light)}`);
    await page().press('t', 'KeyT');
    await page().until(`${background} === ${JSON.stringify(light)}`);
    expect(await page().value(text('#theme'))).toContain('light');
    expect(page().complaints).toEqual([]);
  });

  it.each([1280, 1920, 3840])('fits a screen %i pixels wide', async (width) => {
    await page().screen(width, 1000);
    await page().until(
      `document.querySelectorAll('#queue-pairs tbody tr').length === 4 && innerWidth === ${width}`,
    );
    await page().until("document.querySelector('#latencies tbody tr')");
    // Charts get their size after the next frame.
    await page().until(`document.documentElement.scrollWidth <= ${width}`);
    await page().until(
      "[...document.querySelectorAll('.tables section')].every((each) => each.scrollWidth <= each.clientWidth)",
    );
    const bottom = "document.querySelector('.charts').getBoundingClientRect().bottom";
    const legends = `[...document.querySelectorAll('.u-legend')].every((each) => each.getBoundingClientRect().bottom <= ${bottom} + 1)`;
    await page().until(legends);
  });

  it('names its tables for screen readers, and announces changes politely', async () => {
    await page().until("document.querySelectorAll('#queue-pairs tbody tr').length === 4");
    await page().until("document.querySelectorAll('#functions tbody tr').length >= 8");
    await page().until("document.querySelector('#latencies tbody tr')");
    const nodes = await page().accessibleNodes();
    const named = (wanted: string): string[] =>
      nodes.filter(({ role }) => role === wanted).map(({ name }) => name);
    expect(named('table').map((name) => name.replaceAll(/\s+/g, ' '))).toEqual([
      'Latency in the last 60 seconds',
      'Functions and their levels a second, and in use now',
      'Why commands wait last 10 seconds',
      'Queue pairs choose one to learn what it waits for',
    ]);
    expect(named('columnheader')).toEqual(
      expect.arrayContaining(['Execution credits', 'Waiting', 'Median', 'Meaning']),
    );
    expect(named('rowheader')).toEqual(expect.arrayContaining(['doorbell', '3']));
    expect(named('heading')).toEqual(
      expect.arrayContaining(['Way of a command', 'Latency', 'Why does it wait?']),
    );
    for (const name of [...named('button'), ...named('combobox'), ...named('slider')])
      expect(name).not.toBe('');
    const live =
      "[...document.querySelectorAll('[aria-live], [role=status]')].map((each) => each.id + ' ' + (each.ariaLive ?? 'status'))";
    expect(await page().value(live)).toEqual(['status status', 'why polite', 'events polite']);
  });

  it('reports the end of hca watch, which stops at once', async () => {
    hca.kill('SIGTERM');
    expect(await hca.ended).toMatchObject({ exitCode: 0, error: '' });
    await page().until(`${text('#status')} === 'hca watch has ended'`);
  });
});
