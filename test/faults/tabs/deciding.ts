/** People who decide drafts by keys in a tab, through everything that happens. */
import type { Page } from 'playwright-core'
import { eventually } from '#test/support/eventually'
import type { Passed } from './address.ts'
import { lacks, type Writing, writeDraft } from './commits.ts'

/** When decisions were answered at the address, by the path of the request. */
export type Answered = Map<string, number>

export const noteAnswers = (answered: Answered) => (passed: Passed) => {
  const { method, status, path, at } = passed
  if (method === 'POST' && status === 200) answered.set(path, at)
}

export interface Decider {
  name: string
  page: Page
  paceMs: number
  /** Decisions that the tab said it made, and those that it said had failed. */
  said: number
  failed: number
}

const KEYS = {
  approve: { keys: ['a'], status: 'approved', says: 'Approved without a time' },
  reject: { keys: ['x', '1'], status: 'rejected', says: 'Rejected' },
} as const

const SAID_MS = 60_000

/** Presses the keys on the draft until the tab says that it is decided. */
const decideOne = async (
  writing: Writing,
  decider: Decider,
  { how, answered }: { how: keyof typeof KEYS; answered: Answered },
): Promise<void> => {
  const { page } = decider
  const { id, mark, last } = await writeDraft(writing)
  // Each tab is to show the draft before it goes.
  await eventually(() => writing.watch.hasEverybody(last!), Boolean, SAID_MS)
  const { keys, status, says } = KEYS[how]
  const row = page.locator('.row', { hasText: new RegExp(`\\b${mark} `) })
  const toast = page.locator('.toast', { hasText: new RegExp(`\\b${mark} `) }).last()
  for (;;) {
    await row.click({ timeout: SAID_MS })
    await page.locator('.pane-body .post').waitFor()
    for (const key of keys) await page.keyboard.press(key)
    await toast.waitFor({ timeout: SAID_MS })
    if ((await toast.innerText()).includes(says)) break
    decider.failed++
    await toast.getByRole('button', { name: 'Dismiss' }).click()
  }
  decider.said++
  writing.decided.set(id, status)
  const at = answered.get(`/api/v1/growth/items/${id}/${how}`)
  if (at === undefined) throw new Error(`${decider.name} said ${says}, but no server did`)
  const what = `${decider.name} ${status} ${mark}`
  writing.watch.add({ what, sent: at, answered: at, isShown: lacks(mark) })
}

export const goOnDeciding = async (
  writing: Writing,
  decider: Decider,
  { signal, answered }: { signal: AbortSignal; answered: Answered },
): Promise<void> => {
  for (let nth = 0; !signal.aborted; nth++) {
    const how = nth % 2 === 0 ? 'approve' : 'reject'
    await decideOne(writing, decider, { how, answered }).catch((cause) => {
      writing.wrong.push(`${decider.name} could not decide: ${String(cause).slice(0, 300)}`)
    })
    await Bun.sleep(decider.paceMs)
  }
}
