/** Tabs in which somebody types what is not saved, and whether any word of it was lost. */
import type { Page } from 'playwright-core'

export interface Typist {
  tab: string
  page: Page
  /** The field, once it is there: after a reload, somebody opens it again. */
  open(page: Page): Promise<void>
  field: string
  paceMs: number
  words: string[]
  /** Where the field was without a word that had been in it, in words. */
  lost: Set<string>
  /** Set while a scene has the tab. */
  isBusy: boolean
}

/** Words that are not in the field, although they were typed into it. */
const missingIn = ({ words }: Typist, text: string): string[] =>
  words.filter((word) => !text.includes(word))

const fieldText = async ({ page, field }: Typist): Promise<string> =>
  await page.locator(field).inputValue({ timeout: 10_000 })

/** Asks whether all that was typed is in the field. */
export const checkTyped = async (typist: Typist): Promise<void> => {
  const missing = missingIn(typist, await fieldText(typist))
  for (const word of missing) typist.lost.add(`${typist.tab} lost the word ${word}`)
}

const typeOne = async (typist: Typist): Promise<void> => {
  const { page, field, tab, words } = typist
  const word = `${tab}w${words.length}.`
  await checkTyped(typist)
  await page.locator(field).focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(` ${word}`)
  const text = await fieldText(typist)
  // A tab that begins anew takes no more keys.
  if (text.includes(word)) words.push(word)
}

/** Goes on until the signal; a tab that is in a scene waits. */
export const goOnTyping = async (
  typist: Typist,
  signal: AbortSignal,
  wrong: string[],
): Promise<void> => {
  while (!signal.aborted) {
    if (!typist.isBusy)
      await typeOne(typist).catch((cause) => {
        if (!typist.isBusy && !signal.aborted)
          wrong.push(`${typist.tab} could not be typed into: ${String(cause).slice(0, 300)}`)
      })
    await Bun.sleep(typist.paceMs)
  }
}

/** Waits for the word under way, then keeps the typist from typing while the scene lasts. */
export const withTab = async (typist: Typist, scene: () => Promise<void>): Promise<void> => {
  typist.isBusy = true
  await Bun.sleep(1_000)
  try {
    await scene()
  } finally {
    typist.isBusy = false
  }
}
