/**
 * The console as somebody at it feels it, in a real Chromium: `npm run bench:console`. 10,000
 * drafts wait. It measures the time from each of 100 keys to the frame that shows what the key did,
 * at full speed and on a processor a sixth as fast; then the whole list is scrolled to its end and
 * searched. Ends with 1 if a budget is exceeded, by the clock. The budgets hold on a quiet machine:
 * it prints how loaded it is, and how much of each time the page had a processor.
 */
import { cpus, loadavg } from 'node:os'
import type { Browser, Page } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { type TestApp, testApp } from '#test/support/app'
import { builtConsole } from '#test/support/console/built'
import { browserOf, openTab } from '#test/support/console/tab'
import { browserPath, launchBrowser } from '#test/support/http/browser'
import { signedInAs } from '#test/support/session'
import { withTemplate } from '../../faults/own-database.ts'
import { fillInbox } from '../sections/inbox.ts'
import { KEYS, type Painted, paintTimes } from './keys.ts'
import { type LongList, longList } from './long-list.ts'

const DRAFTS = Number(process.env.DRAFTS ?? 10_000)
const LONGEST_TASK_MS = 100
const MOST_ROWS = 60
/** Of what the list keeps in memory for an entry, and what dragging it about may add. */
const MOST_KB_AN_ENTRY = 8
const MOST_MB_OF_DRAGGING = 8
const SPEEDS = [
  { what: 'full speed', rate: 1, median: 50, p95: 100 },
  { what: 'six times slower', rate: 6, median: 200, p95: 400 },
] as const

interface Line {
  what: string
  found: number
  /** Milliseconds of processor time that the page took of it. */
  processor?: number
  most: number
  unit: string
}

const share = (sorted: readonly number[], of: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * of) - 1)]!

const slowest = (painted: readonly Painted[]): string =>
  painted
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, 5)
    .map(({ key, ms }) => `${key} ${ms.toFixed(0)}`)
    .join(', ')

const linesOfKeys = async (page: Page): Promise<Line[]> => {
  const session = await page.context().newCDPSession(page)
  const lines: Line[] = []
  for (const { what, rate, median, p95 } of SPEEDS) {
    await session.send('Emulation.setCPUThrottlingRate', { rate })
    const painted = await paintTimes(page, KEYS)
    const sorted = painted.map(({ ms }) => ms).sort((a, b) => a - b)
    const taken = painted.map(({ processor }) => processor).sort((a, b) => a - b)
    console.log(`${what}: the slowest keys took ${slowest(painted)} ms`)
    const name = `key to paint, ${painted.length} keys, ${what}`
    lines.push(
      ...[
        { which: 'median', of: 0.5, most: median },
        { which: 'p95', of: 0.95, most: p95 },
      ].map(({ which, of, most }) => ({
        what: `${name}: ${which}`,
        found: share(sorted, of),
        processor: share(taken, of),
        most,
        unit: 'ms',
      })),
    )
  }
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  return lines
}

const linesOfList = ({ stretches, rows, heap }: LongList): Line[] => {
  const [opened, atEnd, dragged] = heap
  for (const { what, most } of stretches)
    console.log(`${what}: no task took more than ${most.toFixed(0)} ms of processor time`)
  const among = `${DRAFTS.toLocaleString('en')} drafts`
  return [
    ...stretches.map(({ what, longest, long }) => ({
      what: `${among}, ${what}: the longest of ${long} tasks over 50 ms`,
      found: longest.clock,
      processor: longest.processor,
      most: LONGEST_TASK_MS,
      unit: 'ms',
    })),
    { what: `${among}: rows in the page at once`, found: rows, most: MOST_ROWS, unit: '' },
    {
      what: `${among}: memory for each`,
      found: ((atEnd - opened) * 1024) / DRAFTS,
      most: MOST_KB_AN_ENTRY,
      unit: 'kB',
    },
    {
      what: `${among}: memory that dragging the list about adds`,
      found: dragged - atEnd,
      most: MOST_MB_OF_DRAGGING,
      unit: 'MB',
    },
  ]
}

const openInbox = async (app: TestApp, browser: Browser): Promise<Page> => {
  const olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
  const context = await browserOf(browser, app, olga)
  const page = await openTab(context, app, '/console/inbox')
  await page.locator('.row').first().waitFor()
  return page
}

/** Every hour has a slot, so that all drafts can be approved for one. */
const addSlots = async ({ send }: TestApp): Promise<void> => {
  const { channels } = (await send('GET', 'channels')).body
  const { id } = channels.find(({ name }: { name: string }) => name === 'posts')
  const times = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:15`)
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  await send('PUT', `channels/${id}`, { body: { cadence: { days, times } } })
}

const measure = async (): Promise<Line[]> => {
  await using stack = new AsyncDisposableStack()
  const path = browserPath()
  if (!path) throw new Error('there is no Chromium; CHROMIUM may name one')
  const bundle: ConsoleState = (await builtConsole()).bundle
  const app = stack.use(await testApp({ overrides: { console: () => bundle, lanes: [] } }))
  await addSlots(app)
  const tenant = { id: app.tenantId, key: app.key }
  await fillInbox(app, tenant, { drafts: DRAFTS, calls: 0 })
  // Rows are told apart by how they begin.
  await app.owner`update item set body = substr(id::text, 25) || ' ' || body`
  const browser = await launchBrowser(path)
  stack.defer(() => browser.close())
  const first = await openInbox(app, browser)
  await first.keyboard.press('j')
  const lines = await linesOfKeys(first)
  await first.context().close()
  const { id } = (await app.send('POST', 'items', { body: { body: 'A needle in it.' } })).body.item
  // The list itself does not count more than a thousand.
  const [left] = await app.owner`select count(*)::int as drafts from item where status = 'drafted'`
  const second = await openInbox(app, browser)
  const list = await longList(second, left!.drafts, 'needle')
  await app.send('DELETE', `items/${id}`)
  return [...lines, ...linesOfList(list)]
}

const [load = 0] = loadavg()
console.log(`load before: ${load.toFixed(2)} on ${cpus().length} processors`)
const lines = await withTemplate(measure)
const shown = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0))
for (const { what, found, processor, most, unit } of lines) {
  const says = `${shown(found)}${unit && ` ${unit}`} of at most ${most}${unit && ` ${unit}`}`
  const taken = processor === undefined ? '' : `${shown(processor)} ms on a processor`
  console.log(`| ${what} | ${says} | ${taken} | ${found <= most ? 'ok' : 'MISSED'} |`)
}
const missed = lines.filter(({ found, most }) => found > most).length
console.log(`bench:console: ${lines.length} budgets, ${missed} missed, load ${load.toFixed(2)}`)
process.exit(missed === 0 ? 0 : 1)
