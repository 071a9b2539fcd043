/** From a key to the frame that shows what it did, as the page itself measures it. */
import type { CDPSession, Page } from 'playwright-core'
import { eventually } from '#test/support/eventually'

/** What a key changes on the screen: an expression of the page, whose value differs afterwards. */
const EFFECTS = {
  chosen: `document.querySelector('.row[aria-current]')?.textContent`,
  focus: `document.activeElement?.className`,
  text: `document.querySelector('.layer')?.textContent`,
  slot: `document.querySelector('.slot :checked')?.closest('label').textContent`,
  selected: `document.querySelectorAll('.row-select :checked').length`,
  reasons: `document.querySelectorAll('.reasons').length`,
  said: `document.querySelector('.toasts')?.textContent`,
} as const

interface Press {
  key: string
  changes: keyof typeof EFFECTS
}

const press = (key: string, changes: Press['changes']): Press => ({ key, changes })
const EDIT: readonly Press[] = [
  press('e', 'focus'),
  ...[...' Nobody asked.'].map((key) => press(key, 'text')),
  press('Backspace', 'text'),
  press('Escape', 'focus'),
]
/** 50 keys: of somebody who reads, edits, chooses and decides. */
const ROUND: readonly Press[] = [
  ...'jjjjjkkjjj'.split('').map((key) => press(key, 'chosen')),
  press('Space', 'selected'),
  press('Space', 'selected'),
  ...']][]['.split('').map((key) => press(key, 'slot')),
  press('s', 'chosen'),
  press('z', 'said'),
  ...EDIT,
  ...[']', ']', '['].map((key) => press(key, 'slot')),
  press('s', 'chosen'),
  press('x', 'reasons'),
  press('1', 'chosen'),
  press('z', 'said'),
  press('j', 'chosen'),
  press('x', 'reasons'),
  press('2', 'chosen'),
  ...'jkjjj'.split('').map((key) => press(key, 'chosen')),
]
export const KEYS: readonly Press[] = [...ROUND, ...ROUND]

/** People pause between keys; the page reads and saves meanwhile. */
const PAUSE_MS = 120

/** The next key acts only on a whole page: a post with free times, or what is selected. */
const IS_READY = `document.querySelector('.selected-list') !== null ||
  (document.querySelector('.post-text') !== null && document.querySelectorAll('.slot').length > 3)`

/**
 * Resolves with the milliseconds from the key's own time stamp to the end of the frame in which its
 * effect is first there; null if it has none within five seconds.
 */
const measuring = (effect: string): string => `void (globalThis.painted = new Promise((resolve) => {
  addEventListener('keydown', ({ timeStamp }) => {
    const state = () => ${effect}
    const before = state()
    const look = () => {
      if (performance.now() - timeStamp > 5_000) return resolve(null)
      if (state() === before) return requestAnimationFrame(look)
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(performance.now() - timeStamp)
      port2.postMessage(0)
    }
    requestAnimationFrame(look)
  }, { once: true, capture: true })
}))`

export interface Painted extends Press {
  ms: number
  /** Of it, the processor time of the page's main thread. */
  processor: number
}

/** Milliseconds of processor time that the page's main thread has had. */
const processorTime = async (session: CDPSession): Promise<number> => {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
}

/** Presses each key once, as fast as somebody who works. */
export const paintTimes = async (page: Page, keys: readonly Press[]): Promise<Painted[]> => {
  const painted: Painted[] = []
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  for (const one of keys) {
    await eventually(
      () => page.evaluate<boolean>(IS_READY),
      (isReady) => isReady,
    )
    await page.evaluate(measuring(EFFECTS[one.changes]))
    const begun = await processorTime(session)
    await page.keyboard.press(one.key)
    const ms = await page.evaluate<number | null>('painted')
    if (ms === null) throw new Error(`the key ${one.key} did nothing: ${one.changes}`)
    painted.push({ ...one, ms, processor: (await processorTime(session)) - begun })
    await Bun.sleep(PAUSE_MS)
  }
  await session.detach()
  return painted
}
