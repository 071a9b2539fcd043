/** Inspects pages in a real browser. */
import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const SCRIPT = await Bun.file(join(import.meta.dir, 'look.browser.js')).text()

/** What is wrong with a page for people, as sentences; empty if nothing is. */
export const flawsOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(SCRIPT)

/** The name of the focused element: a field's label, otherwise its text. */
const focusedName = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "(document.activeElement?.labels?.[0]?.innerText ?? document.activeElement?.innerText ?? '').trim()",
  )

/** Where to save screenshots for people to look at. */
const pictures = process.env.SCREENSHOTS

/** The page has no flaw, narrow or wide, light or dark. */
export const expectNoFlaws = async (page: Page, name: string): Promise<void> => {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      expect([name, colorScheme, width, await flawsOf(page)]).toEqual([
        name,
        colorScheme,
        width,
        [],
      ])
      if (pictures)
        await page.screenshot({
          path: join(pictures, `${name}-${colorScheme}-${width}.png`),
          fullPage: true,
        })
    }
}

/** Presses Tab, as people without a mouse do, until the element with this name has the focus. */
export const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let steps = 0; steps < 30; steps++) {
    await page.keyboard.press('Tab')
    if ((await focusedName(page)) === name) return
  }
  throw new Error(`Tab does not reach ${name}`)
}
