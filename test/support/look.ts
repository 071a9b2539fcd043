/** Inspects pages in a real browser. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const SCRIPT = await Bun.file(join(import.meta.dir, 'look.browser.js')).text()

/** What is wrong with a page for people: no flaw, no sentence. */
export const flawsOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(SCRIPT)

/** The name of what has the focus: of a field its label, else its text. */
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate<string>("(document.activeElement?.labels?.[0]?.innerText ?? document.activeElement?.innerText ?? '').trim()")
