/** A list of very many entries, scrolled to its end and searched, as the browser feels it. */
import type { CDPSession, Page } from 'playwright-core'
import { eventually } from '#test/support/eventually'
import { type Task, tasksDuring } from './tasks.ts'

/** More by the clock is a long task. */
const LONG_MS = 50

interface Stretch {
  what: string
  /** The longest task by the clock, and what the page itself took of it. */
  longest: Task
  /** The most processor time of any task, in milliseconds. */
  most: number
  long: number
}

const stretch = async (
  session: CDPSession,
  what: string,
  act: () => Promise<void>,
): Promise<Stretch> => {
  const tasks = await tasksDuring(session, act)
  const [longest = { clock: 0, processor: 0 }] = tasks.toSorted((a, b) => b.clock - a.clock)
  return {
    what,
    longest,
    most: Math.max(0, ...tasks.map(({ processor }) => processor)),
    long: tasks.filter(({ clock }) => clock > LONG_MS).length,
  }
}

/** Bytes in use after a collection. */
const heapOf = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize
}

const SHOWN = `(() => {
  const list = document.querySelector('.list')
  return {
    rows: document.querySelectorAll('.list .row').length,
    elements: document.querySelectorAll('*').length,
    known: Number(document.querySelector('.list li[aria-setsize]')?.getAttribute('aria-setsize')),
    last: Number([...document.querySelectorAll('.list li[aria-posinset]')].at(-1)
      ?.getAttribute('aria-posinset')),
  }
})()`

interface Shown {
  rows: number
  elements: number
  /** Entries that the page has read. */
  known: number
  /** The place of the last one that is drawn. */
  last: number
}

const SCREENS = 4
const FRAMES = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`

const scrollTo = async (page: Page, top: string): Promise<Shown> => {
  await page.evaluate(`document.querySelector('.list').scrollTop = ${top}`)
  await page.evaluate(FRAMES)
  return page.evaluate<Shown>(SHOWN)
}

const most = (one: Shown, other: Shown): Shown => ({
  ...other,
  rows: Math.max(one.rows, other.rows),
  elements: Math.max(one.elements, other.elements),
})

/** To the end, a few screens at a time; the pages of the list are read on the way. */
const toEnd = async (page: Page, total: number): Promise<Shown> => {
  let all: Shown = { rows: 0, elements: 0, known: 0, last: 0 }
  const step = async (): Promise<Shown> => {
    const top = `document.querySelector('.list').scrollTop + ${SCREENS} * 700`
    all = most(all, await scrollTo(page, top))
    return all
  }
  await eventually(step, ({ last }) => last >= total, 600_000)
  return all
}

/** As one drags the bar: to places all over the list. */
const dragged = async (page: Page): Promise<void> => {
  for (const share of [0, 0.5, 0.1, 0.9, 0.3, 0.7, 0, 1])
    for (const shift of [0, 0.01, 0.02])
      await scrollTo(page, `document.querySelector('.list').scrollHeight * ${share + shift}`)
}

const searched = async (page: Page, words: string): Promise<void> => {
  const before = await page.locator('.inbox-list .page-head .soft').textContent()
  await page.getByLabel('Search what waits').fill('')
  await page.getByLabel('Search what waits').pressSequentially(words, { delay: 60 })
  await page.waitForURL(/[?&]q=/)
  await eventually(
    () => page.locator('.inbox-list .page-head .soft').textContent(),
    (text) => text !== before,
  )
  await page.evaluate(FRAMES)
}

export interface LongList {
  stretches: Stretch[]
  rows: number
  elements: number
  /** Megabytes: when the list opened, at its end, and after it was dragged up and down. */
  heap: [opened: number, atEnd: number, dragged: number]
}

const MEGABYTE = 1 << 20

/** `word`: of a few drafts alone. */
export const longList = async (page: Page, total: number, word: string): Promise<LongList> => {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.enable')
  const heap = async () => (await heapOf(session)) / MEGABYTE
  let shown: Shown | undefined
  const opened = await heap()
  const down = await stretch(session, 'scrolled to the end, page by page', async () => {
    shown = await toEnd(page, total)
  })
  const atEnd = await heap()
  const drag = await stretch(session, 'dragged up and down', () => dragged(page))
  const after = await heap()
  const search = await stretch(session, 'searched', () => searched(page, word))
  const whole = await stretch(session, 'all again', async () => {
    await page.getByLabel('Search what waits').fill('')
    await page.waitForURL((url) => !url.searchParams.has('q'))
    await page.evaluate(FRAMES)
    await page.locator(`.list li[aria-setsize]`).first().waitFor()
  })
  return {
    stretches: [down, drag, search, whole],
    rows: shown!.rows,
    elements: shown!.elements,
    heap: [opened, atEnd, after],
  }
}
