/** The console as people without a mouse use it. */
import type { Page } from 'playwright-core'

/** The name of the control that has the focus, as a screen reader begins it. */
const FOCUSED = `(() => {
  const one = document.activeElement
  return (one?.ariaLabel ?? one?.labels?.[0]?.innerText ?? one?.innerText ?? '').trim()
})()`

/** More than a page has controls. */
const STEPS = 80

/** Presses Tab, or Shift+Tab, until a control has the focus whose name begins so. */
export const tabTo = async (
  page: Page,
  name: string,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> => {
  const passed: string[] = []
  for (let steps = 0; steps < STEPS; steps++) {
    await page.keyboard.press(key)
    const focused = await page.evaluate<string>(FOCUSED)
    if (focused.startsWith(name)) return
    passed.push(focused.split('\n', 1)[0]!)
  }
  throw new Error(`${key} does not reach ${name}: ${[...new Set(passed)].join(' | ')}`)
}

export const press = async (page: Page, name: string, key = 'Enter'): Promise<void> => {
  await tabTo(page, name)
  await page.keyboard.press(key)
}
