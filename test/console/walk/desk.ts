/** A person at a browser without a mouse: keys go in, and what the page shows comes out. */
import type { BrowserContext, Page } from 'playwright-core'
import { tabTo } from '#test/support/console/keyboard'
import { eventually } from '#test/support/eventually'

const PATIENCE_MS = 60_000

export interface Desk {
  /** The only address that is typed; everything else is reached from there. */
  open(address: string): Promise<void>
  press(...keys: string[]): Promise<void>
  type(text: string): Promise<void>
  /** Moves the focus by Tab to the control whose name begins so. */
  tabTo(name: string, key?: 'Tab' | 'Shift+Tab'): Promise<void>
  /** Tabs to a control and uses it. */
  use(name: string, key?: string): Promise<void>
  /** A place of the palette, by some of its letters. */
  goTo(words: string): Promise<void>
  sees(text: string | RegExp): Promise<void>
  seesNoMore(text: string): Promise<void>
  /** What a screen reader was told since the page was loaded, oldest first. */
  heard(): Promise<string[]>
  path(): string
  waitForPath(path: RegExp): Promise<void>
  /** The value of an expression in the page, once `done` accepts it. */
  read<T>(expression: string, done?: (value: T) => boolean): Promise<T>
  page: Pick<Page, 'route' | 'unroute' | 'screenshot'>
}

/** Keeps what a screen reader has been told, in `heard`. */
const LISTEN = `{
  window.heard = []
  const listen = () => {
    const line = document.querySelector('output[aria-live]')?.textContent
    if (line && window.heard.at(-1) !== line) window.heard.push(line)
  }
  addEventListener('DOMContentLoaded', () =>
    new MutationObserver(listen).observe(document, { childList: true, characterData: true, subtree: true }),
  )
}`

/** The page was left while it was looked at. */
const LEFT = Symbol('left')
const unlessLeft = (cause: Error): typeof LEFT => {
  if (/context was destroyed|navigat/i.test(cause.message)) return LEFT
  throw cause
}

export const sitDown = async (context: BrowserContext): Promise<Desk> => {
  await context.addInitScript(LISTEN)
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const { keyboard } = page
  const seen = (text: string | RegExp) => page.getByText(text).filter({ visible: true }).first()
  const desk: Desk = {
    page,
    open: async (address) => void (await page.goto(address)),
    async press(...keys) {
      for (const key of keys) await keyboard.press(key)
    },
    type: (text) => keyboard.type(text),
    tabTo: (name, key) => tabTo(page, name, key),
    async use(name, key = 'Enter') {
      await tabTo(page, name)
      await keyboard.press(key)
    },
    async goTo(words) {
      await keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').waitFor()
      await keyboard.type(words)
      await keyboard.press('Enter')
    },
    sees: (text) => seen(text).waitFor(),
    seesNoMore: (text) => seen(text).waitFor({ state: 'detached' }),
    heard: () => page.evaluate<string[]>('window.heard ?? []'),
    path: () => new URL(page.url()).pathname,
    waitForPath: (path) => page.waitForURL((url) => path.test(url.pathname)),
    read: <T>(expression: string, done: (value: T) => boolean = () => true) =>
      eventually(
        () => page.evaluate<T>(expression).catch(unlessLeft),
        (value) => value !== LEFT && done(value as T),
        PATIENCE_MS,
      ) as Promise<T>,
  }
  return desk
}
